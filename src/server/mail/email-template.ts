/** Renders an email as plain text and as HTML from the same blocks. */
import type { SecuringAdvice } from '#domain/account/securing-advice.ts';
import { escapeHtml } from '../escape-html.ts';

export type EmailBlock =
  | string
  | { link: string; label: string }
  | { code: string }
  /** A two-column table: label and value. */
  | { rows: readonly (readonly [string, string])[] }
  /** A small heading over what follows. */
  | { heading: string }
  /** Lines of a user, in any language and direction. */
  | { items: readonly string[]; isNumbered?: boolean }
  /** Links of equal weight, one below the other. */
  | { choices: readonly { link: string; label: string }[] }
  /** Small print. */
  | { note: string; link: string; label: string };

type EmailOptions = { replyTo?: string; headers?: Readonly<Record<string, string>> };

/** The last line of every mail. `inbound/reply-text.ts` finds the end of a quoted mail by it. */
export const MAIL_END = 'Hustle Forge';

export function renderEmail(
  to: string,
  subject: string,
  parts: readonly EmailBlock[],
  options: EmailOptions = {},
): MailMessage {
  return {
    ...options,
    to,
    subject,
    text: `${[...parts.map(asText), MAIL_END].join('\n\n')}\n`,
    html: renderPage(subject.replace(/^Re: /, ''), parts.map(asHtml).join('\n')),
  };
}

/** A code gets a line of its own, so people and password managers find it. */
function asText(part: EmailBlock): string {
  if (typeof part === 'string') return part;
  if ('rows' in part) return part.rows.map(([name, value]) => `${name}: ${value}`).join('\n');
  if ('heading' in part) return part.heading;
  if ('items' in part)
    return part.items.map((item, index) => `${part.isNumbered ? `${index + 1}.` : '-'} ${item}`).join('\n');
  if ('choices' in part) return part.choices.map(({ label, link }) => `${label}:\n${link}`).join('\n\n');
  if ('note' in part) return `${part.note} ${part.label}:\n${part.link}`;
  return 'link' in part ? `${part.label}:\n${part.link}` : part.code;
}

function asHtml(part: EmailBlock): string {
  if (typeof part === 'string') return `<p style="margin:0 0 16px">${escapeHtml(part)}</p>`;
  if ('rows' in part) {
    const rows = part.rows.map(([name, value]) => row(escapeHtml(name), escapeHtml(value)));
    return `<table role="presentation" style="margin:0 0 16px;border-collapse:collapse">${rows.join('')}</table>`;
  }
  if ('code' in part) {
    return `<p style="margin:0 0 16px;font:600 26px/1.4 monospace;letter-spacing:4px">${escapeHtml(part.code)}</p>`;
  }
  if ('heading' in part) {
    return `<h2 style="margin:24px 0 8px;font-size:17px;font-weight:600">${escapeHtml(part.heading)}</h2>`;
  }
  if ('items' in part) {
    const tag = part.isNumbered ? 'ol' : 'ul';
    const items = part.items.map((item) => `<li dir="auto" style="margin:0 0 6px">${escapeHtml(item)}</li>`);
    return `<${tag} style="margin:0 0 16px;padding:0 24px">${items.join('')}</${tag}>`;
  }
  if ('choices' in part) {
    const links = part.choices.map(
      ({ link, label }) =>
        `<tr><td class="line" style="border-bottom-width:1px;border-bottom-style:solid"><a href="${escapeHtml(link)}" class="quietlink" style="display:block;padding:12px 0;text-decoration:none">${escapeHtml(label)}</a></td></tr>`,
    );
    return `<table role="presentation" style="margin:0 0 24px;border-collapse:collapse;width:100%">${links.join('')}</table>`;
  }
  if ('note' in part) {
    const link = `<a href="${escapeHtml(part.link)}" class="quiet">${escapeHtml(part.label)}</a>`;
    return `<p class="quiet" style="margin:0 0 12px;font-size:14px">${escapeHtml(part.note)} ${link}</p>`;
  }
  const style = 'display:inline-block;padding:12px 20px;border-radius:6px;text-decoration:none';
  return `<p style="margin:0 0 16px"><a href="${escapeHtml(part.link)}" class="button" style="${style}">${escapeHtml(part.label)}</a></p>`;
}

const row = (name: string, value: string): string =>
  `<tr><td class="quiet" style="padding:2px 24px 2px 0;vertical-align:top">${name}</td><td style="padding:2px 0">${value}</td></tr>`;

/**
 * The colours of both themes. All other styles are inline, because some mail clients drop style sheets; in those the
 * mail has the client's own colours, which are readable in any theme.
 */
const COLOURS = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{background:#faf7f1;color:#1d1a16}
a{color:#b0380a}.quiet{color:#645c52}.quietlink{color:#1d1a16}.line{border-color:#ddd5c7}
.button{background:#b0380a;color:#fffaf5}
@media (prefers-color-scheme:dark){
body{background:#171411;color:#ece4d8}
a{color:#ff8d55}.quiet{color:#aea498}.quietlink{color:#ece4d8}.line{border-color:#352e29}
.button{background:#ff8d55;color:#22100a}
}
`;

const renderPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title>
<style>${COLOURS}</style></head>
<body style="margin:0;padding:32px 20px;font:17px/1.6 'Instrument Sans',Helvetica,Arial,sans-serif">
<div style="max-width:520px;margin:0 auto;overflow-wrap:anywhere">
<h1 style="margin:0 0 24px;font:400 28px/1.25 Georgia,serif">${escapeHtml(title)}</h1>
${body}
<p class="line" style="margin:32px 0 0;padding-top:16px;border-top-width:1px;border-top-style:solid;font-size:14px">${MAIL_END}</p>
</div>
</body>
</html>
`;

export type MailMessage = { to: string; subject: string; text: string; html: string } & EmailOptions;

/** The advice for an owner who did not make the change, with the URL of the page on which to follow it. */
export type Securing = Omit<SecuringAdvice, 'page'> & {
  page: { link: string; label: string };
  /** The mail limit allows no further notice of this kind to this address for up to an hour. */
  isLast?: boolean;
};

/** @param condition the beginning of the sentence, such as "If it was not you," */
export const securingBlocks = (
  { words, page, services, isLast }: Securing,
  condition = 'If it was not you,',
): readonly EmailBlock[] => [
  `${condition} ${words}:`,
  page,
  ...(services === null ? [] : [services]),
  ...(isLast ? [LAST_NOTICE] : []),
];

const LAST_NOTICE = 'This is the last notice for up to an hour. Your profile shows the changes that follow.';
