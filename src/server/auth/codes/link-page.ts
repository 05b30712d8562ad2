/**
 * The confirmation page between a mail's link and a third-party app: it states what the link does and waits for a
 * click. The token is not looked up: the page does not reveal whether the token is valid, and it names no account.
 */
import { escapeHtml } from '#server/escape-html.ts';
import { isWebProtocol } from '#server/config/redirect-patterns.ts';
import { pageDocument } from '../http/page-document.ts';

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
  const content = `<p>${describe(site)}</p>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="type" value="${escapeHtml(type)}">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<button>Continue to ${escapeHtml(name)}</button>
</form>
<p class="note">The link works once. If you did not ask for it, close this page and nothing happens.</p>`;
  return pageDocument({ title, content, formTarget: url.protocol });
}

/**
 * Threat: spoofing. With an app's scheme, the scheme alone decides which app opens, and the host part may be any name.
 * The page therefore names the scheme of such a target, not its host.
 */
const siteName = (url: URL): string => (isWebProtocol(url) ? url.host : url.protocol.slice(0, -1));
