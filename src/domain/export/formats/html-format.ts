/** The HTML export: one self-contained page without scripts or external requests. */
import { dateLabel, dayLabel, type Day } from '#domain/day/day.ts';
import { isCleanLog, withoutDateHeader, escapeHtml } from '#domain/log/entry-html.ts';
import { entryText } from '#domain/log/entry-text.ts';
import { LINK_REL, linkTexts } from '#domain/log/links.ts';
import type { ExportedEntry, FormatWriter } from '../../exported-entry.ts';

const STYLE = `
:root{color-scheme:light dark;--paper:#fbf8f2;--ink:#1d1a17;--quiet:#645c52;--line:#e6dfd3;--wash:#f3eee4}
@media(prefers-color-scheme:dark){:root{--paper:#171411;--ink:#ece4d8;--quiet:#aea498;--line:#352e29;--wash:#27211d}}
*{box-sizing:border-box}
body{max-width:40rem;margin:0 auto;padding:3rem 1.25rem 6rem;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
h1,h2,h3,h4,h5{font-family:Georgia,serif;font-weight:500;line-height:1.25}
header p{color:var(--quiet)}
article{margin-top:2.5rem;padding-top:1.5rem;border-top:1px solid var(--line)}
article>h2{margin:0 0 1rem}
.log p,.log h3,.log h4,.log h5,.log pre,.log blockquote,.log ol,.log ul{margin-block:.5em;unicode-bidi:plaintext}
.log ol,.log ul{padding:0}.log li{margin-inline-start:2.2em}.log p:empty{min-height:1.6em}
.log,.log p,.log li{white-space:break-spaces}
pre{padding:.75rem 1rem;background:var(--wash);white-space:pre-wrap}
code{font:.88em ui-monospace,monospace;background:var(--wash)}
a{color:inherit;text-underline-offset:.15em}
blockquote{padding-inline-start:1rem;border-inline-start:2px solid var(--line);color:var(--quiet)}
.coach{color:var(--quiet);font-size:.88em;white-space:pre-line}
@media print{:root{--paper:#fff;--ink:#000;--quiet:#333;--line:#bbb}body{max-width:none;padding:0;font-size:11pt}article>h2{break-after:avoid}li,p{break-inside:avoid}}
`;

export function htmlWriter({ today }: { today: Day }): FormatWriter {
  return {
    begin: () =>
      `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Hustle Forge: all logs, ${dateLabel(today)}</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>Hustle Forge</h1><p>All logs, oldest first. Exported on <time datetime="${today}">${dateLabel(today)}</time>.</p></header>
<main>
`,
    entry: (entry) =>
      `<article><h2><time datetime="${entry.date}">${dayLabel(entry.date)}</time></h2>\n<div class="log" dir="auto">${bodyOf(entry)}</div>${coachOf(entry)}</article>\n`,
    end: () => '</main>\n</body>\n</html>\n',
  };
}

/**
 * Demotes the log's headings below the day's. Threat: content that is not clean could contain scripts, so only its text
 * is shown.
 */
function bodyOf({ content }: ExportedEntry): string {
  const log = withoutDateHeader(content);
  if (isCleanLog(log))
    return withLinks(log)
      .replace(/<(\/?)h([123])>/g, (_tag, slash: string, level: string) => `<${slash}h${Number(level) + 2}>`)
      .replace(/<(li|blockquote)>/g, '<$1 dir="auto">');
  return entryText(content)
    .split('\n')
    .map((line) => `<p>${escapeHtml(line)}</p>`)
    .join('');
}

const MARK_TAG = /^<\/?(?:strong|em|u|s|code)>$/;
const REFERENCES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00A0',
  '&amp;': '&',
};

/** Makes links of the addresses in a clean log. An address may cross inline marks, but not blocks. */
function withLinks(log: string): string {
  const pieces = log.split(/(<[^<>]*>)/);
  let block: number[] = [];
  const linkBlock = (): void => {
    const texts = block.map((index) => pieces[index]!.replace(/&[a-z#0-9]+;/g, (name) => REFERENCES[name] ?? name));
    linkTexts(texts)?.forEach((parts, index) => {
      const html = parts.map(({ text, href }) =>
        href === null ? escapeHtml(text) : `<a href="${escapeHtml(href)}" rel="${LINK_REL}">${escapeHtml(text)}</a>`,
      );
      pieces[block[index]!] = html.join('');
    });
    block = [];
  };
  for (let index = 0; index < pieces.length; index += 1) {
    if (index % 2 === 0) block.push(index);
    else if (!MARK_TAG.test(pieces[index]!)) linkBlock();
  }
  linkBlock();
  return pieces.join('');
}

function coachOf({ hustleScore, feedback }: ExportedEntry): string {
  if (hustleScore === null && feedback === null) return '';
  const score = hustleScore === null ? '' : `HustleScore: ${hustleScore}/10\n`;
  return `\n<p class="coach">${escapeHtml(score + (feedback ?? ''))}</p>`;
}
