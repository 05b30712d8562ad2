/** Writes a reply as mail programs write it: their quotation, their attribution line, their MIME parts. */
import { randomUUID } from 'node:crypto';
import { escapeHtml } from '../page.ts';

export type Original = { from: string; subject: string; text: string; html: string; messageId: string };

export type Reply = {
  /** The address of the user. */
  from: string;
  /** The Reply-To of the original. */
  to: string;
  /** The words of the user, lines ended by `\n`. */
  words: string;
  original: Original;
};

type Body = { text: string | null; html: string | null; headers?: readonly string[]; flowed?: boolean };

const htmlLines = (words: string): string =>
  words
    .split('\n')
    .map((line) => `<div>${line === '' ? '<br>' : escapeHtml(line)}</div>`)
    .join('');
const quote = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
const addressOf = (from: string): string => /<(.+)>/.exec(from)?.[1] ?? from;
const nameOf = (from: string): string => from.replace(/\s*<.+>/, '');
/** The body of a mail as another mail quotes it. */
const inner = (html: string): string => /<body[^>]*>([\s\S]*)<\/body>/.exec(html)?.[1] ?? html;

/** Gmail breaks its plain text after 72 letters. */
const wrap = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replaceAll(/(.{1,72})(?: |$)/g, '$1\n').trimEnd())
    .join('\n');

const outlookHead = ({ from, original }: Reply): string[] => [
  `From: ${original.from}`,
  'Sent: Saturday, November 28, 2026 6:00 PM',
  `To: ${from} <${from}>`,
  `Subject: ${original.subject}`,
];

/** How each mail program writes a reply. */
export const MAIL_CLIENTS: Readonly<Record<string, (reply: Reply) => Body>> = {
  Gmail: ({ words, original }) => {
    const attribution = `On Sat, Nov 28, 2026 at 6:00 PM ${original.from} wrote:`;
    return {
      text: `${wrap(words)}\n\n${wrap(attribution)}\n\n${quote(original.text)}\n`,
      html: `<div dir="ltr">${htmlLines(words)}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Sat, Nov 28, 2026 at 6:00&#8239;PM ${escapeHtml(nameOf(original.from))} &lt;<a href="mailto:${addressOf(original.from)}">${addressOf(original.from)}</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">${inner(original.html)}</blockquote></div>\r\n`,
    };
  },
  'Apple Mail': ({ words, original }) => ({
    text: `${words}\n\n> On 28. Nov 2026, at 18:00, ${original.from} wrote:\n> \n${quote(original.text)}\n`,
    html: `<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"></head><body style="overflow-wrap: break-word; -webkit-nbsp-mode: space;">${htmlLines(words)}<div><br><blockquote type="cite"><div>On 28. Nov 2026, at 18:00, ${escapeHtml(original.from)} wrote:</div><br class="Apple-interchange-newline"><div>${inner(original.html)}</div></blockquote></div><br></body></html>`,
  }),
  'iPhone Mail': ({ words, original }) => ({
    text: `${words}\n\nSent from my iPhone\n\n> On 28 Nov 2026, at 18:00, ${original.from} wrote:\n> \n> ﻿\n${quote(original.text)}\n`,
    html: `<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"></head><body dir="auto">${htmlLines(words)}<br id="lineBreakAtBeginningOfSignature"><div dir="ltr">Sent from my iPhone</div><div dir="ltr"><br><blockquote type="cite">On 28 Nov 2026, at 18:00, ${escapeHtml(original.from)} wrote:<br><br></blockquote></div><blockquote type="cite"><div dir="ltr">﻿${inner(original.html)}</div></blockquote></body></html>`,
  }),
  'Outlook for Windows': (reply) => {
    const head = outlookHead(reply);
    const { words, original } = reply;
    const lines = words
      .split('\n')
      .map((line) => `<p class=MsoNormal>${line === '' ? '&nbsp;' : escapeHtml(line)}<o:p></o:p></p>`);
    return {
      text: `${words}\n\n${head.join('\n')}\n\n${original.text}`,
      html: `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!-- p.MsoNormal {margin:0in;} --></style></head><body lang=EN-US><div class=WordSection1>${lines.join('\n')}<p class=MsoNormal><o:p>&nbsp;</o:p></p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in'><p class=MsoNormal>${head.map((line) => `<b>${line.split(':')[0]}:</b>${escapeHtml(line.slice(line.indexOf(':') + 1))}`).join('<br>')}<o:p></o:p></p></div></div><p class=MsoNormal><o:p>&nbsp;</o:p></p>${inner(original.html)}</div></body></html>`,
    };
  },
  'Outlook for iOS': (reply) => {
    const { words, original } = reply;
    const head = outlookHead(reply);
    return {
      text: `${words}\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n${head.join('\n')}\n\n${original.text}`,
      html: `<html><body><div style="font-family:Aptos">${htmlLines(words)}</div><div><br></div><div id="ms-outlook-mobile-signature">Get <a href="https://aka.ms/o0ukef">Outlook for iOS</a></div><div id="ms-outlook-mobile-body-separator-line"><hr></div><div id="divRplyFwdMsg" dir="ltr">${head.map(escapeHtml).join('<br>')}</div>${inner(original.html)}</body></html>`,
    };
  },
  Foxmail: (reply) => {
    const { from, words, original } = reply;
    const head = [
      ['发件人', nameOf(original.from)],
      ['发送时间', '2026-11-28 18:00'],
      ['收件人', from],
      ['主题', original.subject],
    ];
    return {
      text: `${words}\n\n\n\n${from}\n \n${head.map(([name, value]) => `${name}： ${value}`).join('\n')}\n${original.text}`,
      html: `<html><head><style>blockquote { margin-top: 0px; }</style></head><body>${htmlLines(words)}<div><br></div><hr style="width: 210px; height: 1px;" color="#b5c4df" size="1" align="left"><div><span><div style="MARGIN: 10px"><div>Ada Lovelace</div><div>${from}</div></div></span></div><blockquote style="margin-Top: 0px; margin-Left: 0.5em"><div>&nbsp;</div><div style="border-top:solid #B5C4DF 1.0pt"><div style="BACKGROUND: #efefef">${head.map(([name, value]) => `<div><b>${name}：</b>&nbsp;${escapeHtml(value!)}</div>`).join('')}</div></div><div><div class="FoxDiv20261128180000000">${inner(original.html)}</div></div></blockquote></body></html>`,
    };
  },
  Thunderbird: ({ words, original }) => ({
    text: `On 28.11.26 18:00, ${nameOf(original.from)} wrote:\n${quote(original.text)}\n\n${words}\n\n-- \nAda Lovelace\nAnalytical Engines Ltd\n`,
    html: null,
    flowed: true,
  }),
  Yahoo: ({ words, original }) => ({
    text: `${words}\n\n\n    On Saturday, November 28, 2026 at 06:00:00 PM GMT+1, ${original.from} wrote:  \n \n ${original.text}  `,
    html: `<html><body><div class="ydp1yahoo-style-wrap">${htmlLines(words)}</div><div id="ydp2yahoo_quoted_123" class="ydp2yahoo_quoted"><div>On Saturday, November 28, 2026 at 06:00:00 PM GMT+1, ${escapeHtml(original.from)} wrote: </div><div>${inner(original.html)}</div></div></body></html>`,
  }),
};

const base64 = (text: string): string =>
  Buffer.from(text.replaceAll('\n', '\r\n')).toString('base64').replaceAll(/.{76}/g, '$&\r\n');

/** The raw mail without signatures. */
export function writeReply(client: string, reply: Reply): string {
  const { text, html, flowed = false } = MAIL_CLIENTS[client]!(reply);
  const boundary = `=_${randomUUID()}`;
  const parts = [
    ...(text === null ? [] : [[`text/plain; charset=utf-8${flowed ? '; format=flowed' : ''}`, text]]),
    ...(html === null ? [] : [['text/html; charset=utf-8', html]]),
  ].map(([type, body]) => `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(body!)}\r\n`);
  const subject = /^re:/i.test(reply.original.subject) ? reply.original.subject : `Re: ${reply.original.subject}`;
  const head = [
    `From: ${reply.from}`,
    `To: ${reply.to}`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${randomUUID()}@${reply.from.slice(reply.from.lastIndexOf('@') + 1)}>`,
    ...(reply.original.messageId === ''
      ? []
      : [`In-Reply-To: ${reply.original.messageId}`, `References: ${reply.original.messageId}`]),
    'MIME-Version: 1.0',
  ].join('\r\n');
  if (parts.length === 1) return `${head}\r\n${parts[0]}`;
  const body = parts.map((part) => `--${boundary}\r\n${part}`).join('');
  return `${head}\r\nContent-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n${body}--${boundary}--\r\n`;
}
