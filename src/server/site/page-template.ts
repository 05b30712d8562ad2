/** Fills runtime values into the built HTML. All values are escaped; none is a script. */
import type { Config } from '../config/config.ts';
import { escapeHtml } from '../escape-html.ts';
import { clientConfig } from './client-config.ts';

const link = (href: string, text: string): string => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`;

/** The value of each `<!--slot:NAME-->`; empty if the operator has not set it. */
export function templateValues(config: Config): Record<string, string> {
  const { contact } = config;
  const social = contact.social.map(({ label, url }) => `<li>${link(url, label)}</li>`).join('');
  return {
    config: `<meta name="hustle-forge-config" content="${escapeHtml(JSON.stringify(clientConfig(config)))}">`,
    sandbox:
      config.sandbox.url === null
        ? ''
        : '<aside aria-label="Sandbox"><a class="sandbox-badge" href="/sandbox">Sandbox</a></aside>' +
          // The script simulates the wallets that a visitor may have as extensions of the browser.
          '<script src="/sandbox/page.js" type="module"></script>',
    contact: contact.email === undefined ? '' : link(`mailto:${contact.email}`, contact.email),
    // An address that is set for contact and for support is shown once.
    support:
      contact.supportEmail === undefined || contact.supportEmail === contact.email
        ? ''
        : link(`mailto:${contact.supportEmail}`, contact.supportEmail),
    social: social === '' ? '' : `<ul class="social-links">${social}</ul>`,
    operator: [contact.operator, contact.address]
      .filter((part) => part !== undefined)
      .map(escapeHtml)
      .join(', '),
  };
}

/** The names of the `<!--when:NAME-->…<!--/when-->` sections that this server shows. */
export const visibleSections = ({ coach, auth }: Pick<Config, 'coach' | 'auth'>): ReadonlySet<string> =>
  new Set([coach === null ? 'nocoach' : 'coach', auth.signups ? 'signups' : 'nosignups']);

/** A section without a section in it. */
const INNER_SECTION = /<!--when:(\w+)-->((?:(?!<!--when:)[^])*?)<!--\/when-->/g;

export function renderConditionals(html: string, shown: ReadonlySet<string>): string {
  const rendered = html.replace(INNER_SECTION, (_whole, name: string, part: string) => (shown.has(name) ? part : ''));
  return rendered === html ? html : renderConditionals(rendered, shown);
}

export const fillSlots = (html: string, slots: Record<string, string>): string =>
  html.replace(/<!--\s*slot:([a-z]+)\s*-->/g, (_comment, name: string) => slots[name] ?? '');
