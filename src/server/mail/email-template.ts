/** Renders an email as plain text and as HTML from the same blocks. */
import type { SecuringAdvice } from '#domain/account/securing-advice.ts';
import { escapeHtml } from '../escape-html.ts';

export type EmailBlock =
  | string
  | { link: string; label: string }
  | { code: string }
  /** A two-column table: label and value. */
  | { rows: readonly (readonly [string, string])[] };

export function renderEmail(to: string, subject: string, parts: readonly EmailBlock[]): MailMessage {
  return {
    to,
    subject,
    text: `${[...parts.map(asText), 'Hustle Forge'].join('\n\n')}\n`,
    html: renderPage(subject, parts.map(asHtml).join('\n')),
  };
}

/** A code gets a line of its own, so people and password managers find it. */
function asText(part: EmailBlock): string {
  if (typeof part === 'string') return part;
  if ('rows' in part) return part.rows.map(([name, value]) => `${name}: ${value}`).join('\n');
  return 'link' in part ? part.link : part.code;
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
  const style =
    'display:inline-block;padding:12px 20px;border-radius:6px;background:#b8390e;color:#fffdf9;text-decoration:none';
  return `<p style="margin:0 0 16px"><a href="${escapeHtml(part.link)}" style="${style}">${escapeHtml(part.label)}</a></p>`;
}

const row = (name: string, value: string): string =>
  `<tr><td style="padding:2px 24px 2px 0;color:#6b6257">${name}</td><td style="padding:2px 0">${value}</td></tr>`;

/** Mail clients ignore style sheets and CSS variables, so all styles are inline. */
const renderPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:32px 24px;background:#faf7f1;color:#1d1a16;font:17px/1.6 'Instrument Sans',Helvetica,Arial,sans-serif">
<div style="max-width:520px;margin:0 auto">
<h1 style="margin:0 0 24px;font:400 28px/1.25 Georgia,serif">${escapeHtml(title)}</h1>
${body}
<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid #ddd5c7;font-size:14px">Hustle Forge</p>
</div>
</body>
</html>
`;

export type MailMessage = { to: string; subject: string; text: string; html: string };

/** The advice for an owner who did not make the change, with the URL of the page on which to follow it. */
export type Securing = Omit<SecuringAdvice, 'page'> & {
  page: { link: string; label: string };
  /** No other notice is sent to this address for up to an hour. */
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
