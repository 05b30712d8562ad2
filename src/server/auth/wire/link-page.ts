/**
 * The confirmation page between a mail's link and a third-party app: it states what the link does and waits for a
 * click.
 *
 * The page is not part of the client's build, so its style is inline and allowed by hash in the
 * Content-Security-Policy. The token is not looked up: the page does not reveal whether the token is valid, and it
 * names no account.
 */
import { createHash } from 'node:crypto';
import { ROUTES } from '#domain/routes.ts';
import { escapeHtml } from '#server/escape-html.ts';
import { isWebProtocol } from '#server/config/redirect-patterns.ts';

export type LinkPage = { type: string; token: string; target: string; isOwnSite: boolean };

type PageText = { title: string; describe: (site: string) => string };

const CONFIRM_TEXT: PageText = {
  title: 'Confirm your email address',
  describe: (site) => `The button confirms your email address and signs you in to ${site}.`,
};
const RECOVERY_TEXT: PageText = {
  title: 'Choose a new password',
  describe: (site) => `The button signs you in to ${site}, where you can choose a new password.`,
};
const ADDRESS_CHANGE_TEXT: PageText = {
  title: 'Confirm your new address',
  describe: (site) =>
    `We sent a link to both of your addresses. Once you have confirmed both, the button signs you in to ${site}.`,
};
const INVITATION_TEXT: PageText = {
  title: 'Accept your invitation',
  describe: (site) => `The button confirms your email address and signs you in to ${site}.`,
};
const SIGN_IN_TEXT: PageText = { title: 'Sign in', describe: (site) => `The button signs you in to ${site}.` };

const TEXTS: ReadonlyMap<string, PageText> = new Map([
  ['signup', CONFIRM_TEXT],
  ['email', CONFIRM_TEXT],
  ['invite', INVITATION_TEXT],
  ['recovery', RECOVERY_TEXT],
  ['email_change', ADDRESS_CHANGE_TEXT],
]);

/** @returns the document and its required response headers */
export function linkPage({ type, token, target, isOwnSite }: LinkPage) {
  const { title, describe } = TEXTS.get(type) ?? SIGN_IN_TEXT;
  const url = new URL(target);
  const name = isOwnSite ? 'Hustle Forge' : siteName(url);
  const site = `<strong>${escapeHtml(name)}</strong>`;
  const action = `/auth/v1/verify/continue?${new URLSearchParams({ redirect_to: target }).toString()}`;
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
<p>${describe(site)}</p>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="type" value="${escapeHtml(type)}">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<button>Continue to ${escapeHtml(name)}</button>
</form>
<p class="note">The link works once. If you did not ask for it, close this page and nothing happens.</p>
</main>
</body>
</html>
`;
  return { body, headers: pageHeaders(url) };
}

/**
 * Threat: spoofing. With an app's scheme, the scheme alone decides which app opens, and the host part may be any name.
 * The page therefore names the scheme of such a target, not its host.
 */
const siteName = (url: URL): string => (isWebProtocol(url) ? url.host : url.protocol.slice(0, -1));

/**
 * Chromium checks every redirect after a form submission against `form-action`, including redirects of the target's own
 * server. The policy therefore allows the whole scheme; otherwise the click would end on this page with the token consumed.
 */
const pageHeaders = (target: URL): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src '${STYLE_HASH}'`,
    "img-src 'self'",
    `form-action 'self' ${target.protocol}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  // The URL contains the token. `no-referrer` would make the form send `Origin: null`, which isCrossSiteRequest rejects.
  'Referrer-Policy': 'strict-origin',
});

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbf8f2, #171411);
  --line: light-dark(#e6dfd3, #352e29);
  --ink: light-dark(#1d1a17, #ece4d8);
  --quiet: light-dark(#645c52, #aea498);
  --ember: light-dark(#b0380a, #ff8d55);
  --ember-strong: light-dark(#932c05, #ffa375);
  --on-ember: light-dark(#fffaf5, #22100a);
}
* { box-sizing: border-box; margin: 0; }
html {
  font: 106.25%/1.55 'Instrument Sans', system-ui, sans-serif;
  background: var(--paper);
  color: var(--ink);
  text-size-adjust: 100%;
}
body { overflow-wrap: anywhere; }
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
h1 {
  font: 500 clamp(2.07rem, 7vw, 2.5rem)/1.15 Newsreader, Georgia, serif;
  letter-spacing: -0.018em;
  text-wrap: balance;
}
p { margin-top: 0.75rem; color: var(--quiet); text-wrap: pretty; }
strong { color: var(--ink); font-weight: 600; }
button {
  width: 100%;
  min-height: 3rem;
  margin-top: 2rem;
  padding: 0.5rem 1.5rem;
  border: 1px solid var(--ember);
  border-radius: 6px;
  background: var(--ember);
  color: var(--on-ember);
  font: 600 1em/1.25 'Instrument Sans', system-ui, sans-serif;
  cursor: pointer;
}
button:hover { background: var(--ember-strong); border-color: var(--ember-strong); }
:focus-visible { outline: 2px solid var(--ember); outline-offset: 2px; border-radius: 6px; }
.note { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 0.853rem; }
`;
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
