/**
 * The HTML document around the sandbox's pages, and their index. Styles are linked, because the content security policy
 * forbids inline styles.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const SANDBOX_STYLES = readFileSync(join(import.meta.dirname, 'sandbox.css'), 'utf8');

const FONTS = ['instrument-sans', 'newsreader', 'jetbrains-mono'];

/** Returns one of the product's fonts by its name in sandbox.css, or null for an unknown name. */
export function readFont(name: string): Buffer<ArrayBuffer> | null {
  if (!FONTS.includes(name)) return null;
  const file = `@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`;
  return readFileSync(createRequire(import.meta.url).resolve(file));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

/** @param body HTML in which all untrusted text is already escaped */
export const renderSandboxPage = (title: string, body: string): string => `<!doctype html>
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

export const renderIndexPage = (): string =>
  renderSandboxPage(
    'Sandbox',
    `<p>The sandbox simulates external services. Nothing leaves this machine. Here you see what the services received.</p>
<ul class="places">
<li><a href="/sandbox/mail">Mail</a><span>Every message the journal has sent, with its links and codes; reply to a reminder</span></li>
<li><a href="/sandbox/push">Notifications</a><span>Every push message the journal has sent, decrypted as by a browser</span></li>
<li><a href="/sandbox/sms">Texts</a><span>Every text message the journal has sent, with its code</span></li>
<li><a href="/sandbox/payments">Payments</a><span>Every order at PayPal, with actions for the payer and the bank</span></li>
<li><a href="/login">Google and GitHub</a><span>Simulated accounts to choose from when you sign in</span></li>
<li><a href="/login">Single sign-on</a><span>A simulated company: sign in with any address at sso.example</span></li>
<li><a href="/login">Wallets</a><span>A simulated Ethereum wallet and a Solana wallet to sign in with</span></li>
<li><a href="/sandbox/slack">Slack</a><span>Two people who can send slash commands, such as /hustle Shipped it</span></li>
<li><a href="/sandbox/ai-model">Coach</a><span>Every request to the AI service and its answer</span></li>
</ul>`,
  );
