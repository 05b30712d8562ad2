/**
 * A page that the server serves itself. It works without script and is not part of the client's build, so its style
 * is inline and allowed by hash in the Content-Security-Policy.
 */
import { ROUTES } from '#domain/routes.ts';
import { createHash } from 'node:crypto';

/** The style that the pages share which the server writes itself: fonts, colours, text and heading of the app. */
export const PAGE_STYLE = `
@font-face {
  font-family: 'Instrument Sans';
  font-weight: 400 700;
  font-display: swap;
  src: url('/fonts/instrument-sans.woff2') format('woff2');
}
@font-face {
  font-family: Newsreader;
  font-weight: 200 800;
  font-display: swap;
  src: url('/fonts/newsreader.woff2') format('woff2');
}
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbf8f2, #171411);
  --line: light-dark(#e6dfd3, #352e29);
  --ink: light-dark(#1d1a17, #ece4d8);
  --quiet: light-dark(#645c52, #aea498);
}
* { box-sizing: border-box; margin: 0; }
html {
  font: 106.25%/1.55 'Instrument Sans', system-ui, sans-serif;
  background: var(--paper);
  color: var(--ink);
  text-size-adjust: 100%;
}
body { overflow-wrap: anywhere; }
h1 {
  font: 500 clamp(2.07rem, 7vw, 2.5rem)/1.15 Newsreader, Georgia, serif;
  letter-spacing: -0.018em;
  text-wrap: balance;
}
`;

/** The source that allows an inline style in a Content-Security-Policy. */
export const styleSource = (style: string): string => `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

type PageDocument = {
  /** A constant text of ours, which is not escaped. */
  title: string;
  /** HTML below the heading, with every value escaped. */
  content: string;
  /**
   * A scheme to which the form's response may redirect. Chromium checks every redirect after a form submission against
   * `form-action`, including redirects of the target's own server. Without the scheme the click would end on this page
   * with the token consumed.
   */
  formTarget?: string;
};

/** @returns the document and its required response headers */
export function pageDocument({ title, content, formTarget }: PageDocument) {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – Hustle Forge</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<header><a href="${ROUTES.landing.path}">Hustle Forge<span aria-hidden="true">.</span></a></header>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
  return { body, headers: pageHeaders(formTarget) };
}

const pageHeaders = (formTarget: string | undefined): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    "img-src 'self'",
    "font-src 'self'",
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  // The URL contains the token. `no-referrer` would make the form send `Origin: null`, which isCrossSiteRequest
  // rejects.
  'Referrer-Policy': 'strict-origin',
});

const STYLE = `${PAGE_STYLE}:root {
  --ember: light-dark(#b0380a, #ff8d55);
  --ember-strong: light-dark(#932c05, #ffa375);
  --on-ember: light-dark(#fffaf5, #22100a);
}
header { display: flex; align-items: center; min-height: 4.5rem; padding-inline: clamp(1rem, 4vw, 3rem); }
header a {
  display: inline-flex;
  align-items: center;
  min-height: 2.6rem;
  color: inherit;
  font: 600 1.2rem/1 Newsreader, Georgia, serif;
  text-decoration: none;
}
header span { color: var(--ember); }
main { width: min(25rem, 100%); margin-inline: auto; padding: clamp(1.5rem, 9dvh, 6rem) 1rem 4.5rem; }
p { margin-top: 0.75rem; color: var(--quiet); text-wrap: pretty; }
strong { color: var(--ink); font-weight: 600; }
button, .button {
  display: flex;
  align-items: center;
  justify-content: center;
  width: 100%;
  min-height: 3rem;
  margin-top: 2rem;
  padding: 0.5rem 1.5rem;
  border: 1px solid var(--ember);
  border-radius: 6px;
  background: var(--ember);
  color: var(--on-ember);
  font: 600 1em/1.25 'Instrument Sans', system-ui, sans-serif;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button:hover, .button:hover { background: var(--ember-strong); border-color: var(--ember-strong); }
:focus-visible { outline: 2px solid var(--ember); outline-offset: 2px; border-radius: 6px; }
main p a { color: inherit; }
.note { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 0.853rem; }
`;
const STYLE_SOURCE = styleSource(STYLE);
