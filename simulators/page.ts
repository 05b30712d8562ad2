/** The sandbox's pages: one plain document in the product's look, with a linked style sheet because the policy allows no other. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const SANDBOX_STYLES = readFileSync(join(import.meta.dirname, 'sandbox.css'), 'utf8');

const FONTS = ['instrument-sans', 'newsreader', 'jetbrains-mono'];

/** The product's own fonts, by the names that sandbox.css gives them; null for any other name. */
export function fontFile(name: string): Buffer<ArrayBuffer> | null {
  if (!FONTS.includes(name)) return null;
  const file = `@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`;
  return readFileSync(createRequire(import.meta.url).resolve(file));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

/** @param body HTML in which every outside text has been escaped */
export const sandboxDocument = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Sandbox</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sandbox/style.css">
</head>
<body>
<header><a href="/sandbox">Sandbox</a> <a href="/">Back to the journal</a></header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;

export const indexPage = (): string =>
  sandboxDocument(
    'Sandbox',
    `<p>Nothing here leaves this machine. Services that need an account elsewhere are played by stand-ins,
and this is where you see what they received.</p>
<ul class="places">
<li><a href="/sandbox/mail">Mail</a><span>Every message the journal has sent, with its links and codes</span></li>
<li><a href="/sandbox/payments">Payments</a><span>Every order at PayPal, and what the payer and the bank do next</span></li>
<li><a href="/sandbox/ai-model">Coach</a><span>Every question to the AI service, word for word, and its answer</span></li>
</ul>`,
  );
