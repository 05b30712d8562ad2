/** The style that the pages share which the server writes itself: fonts, colours, text and heading of the app. */
import { createHash } from 'node:crypto';

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
