/** Converts Org mode to Markdown. A journal is a date tree (`*** 2024-05-01 Wednesday`) or a file per day. */

const BLOCK = /^[ \t]*#\+begin_(\w+)/i;
const BLOCK_END = /^[ \t]*#\+end_(\w+)/i;
const DRAWER = /^[ \t]*:[\w-]+:[ \t]*$/;
const DRAWER_END = /^[ \t]*:end:[ \t]*$/i;
const TASK = /^(\*+) +(?:(TODO|NEXT|WAITING|STARTED|DONE|CANCELLED|CANCELED) +)?(?:\[#[A-Z]\] +)?/;

/**
 * Leaves out drawers, comments, settings and the tags of headings, which Org mode hides or shows apart from the text.
 * `isOutline`: headings are the blocks of Logseq, and become list items.
 */
export function markdownOfOrg(org: string, { isOutline = false } = {}): string {
  const output: string[] = [];
  let indent = '';
  const write = (line: string): unknown => output.push(line === '' ? line : indent + line);
  let block: string | null = null;
  let isInDrawer = false;
  for (const line of withoutIndents(org.replace(/^\uFEFF/, '')).split(/\r\n?|\n/)) {
    const opened = BLOCK.exec(line)?.[1]?.toLowerCase();
    const closed = BLOCK_END.exec(line)?.[1]?.toLowerCase();
    const isCode = block !== null && /^(?:src|example)$/.test(block);
    if (block !== null && closed === block) {
      if (isCode) write('```');
      block = null;
    } else if (block === null && opened !== undefined) {
      block = opened;
      if (/^(?:src|example)$/.test(opened)) write('```');
    } else if (isCode) write(line.replace(/^,(?=[*#])/, ''));
    else if (block === 'comment' || block === 'query') continue;
    else if (isInDrawer) isInDrawer = !DRAWER_END.test(line);
    else if (DRAWER.test(line)) isInDrawer = !DRAWER_END.test(line);
    else if (isOutline && /^\*+ /.test(line)) {
      const level = line.indexOf(' ');
      output.push(lineOf(line).replace(/^#+/, `${'  '.repeat(level - 1)}-`));
      indent = '  '.repeat(level);
    } else if (!/^[ \t]*#(?:\+\w+:|[ \t]|$)/.test(line)) write((block === 'quote' ? '> ' : '') + lineOf(line));
  }
  return output.join('\n');
}

/** Removes the indentation that all lines below a heading share: Markdown would read four spaces as code. */
const withoutIndents = (org: string): string =>
  org
    .split(/^(?=\*+ )/m)
    .map((section) => {
      const indents = section.match(/^(?!\*)[ \t]*(?=\S)/gm) ?? [''];
      const shared = indents.reduce((least, { length }) => Math.min(least, length), Infinity);
      return shared === 0 ? section : section.replace(new RegExp(`^[ \\t]{1,${shared}}`, 'gm'), '');
    })
    .join('');

function lineOf(line: string): string {
  const heading = TASK.exec(line);
  if (!heading) return inlineOf(line.replace(/^([ \t]*(?:[-+]|\d+[.)]) +)\[X\]/, '$1[x]'));
  const [all, stars = '', word] = heading;
  const box = word === undefined ? '' : word === 'DONE' ? '[x] ' : word.startsWith('CANCEL') ? 'Canceled: ' : '[ ] ';
  const text = line
    .slice(all.length)
    .replace(/(?<![ \t])[ \t]+:[\w@:]+:[ \t]*$/, '')
    .replace(/[<[](\d{4}-\d{2}-\d{2})(?: [^\d\s\]>]{1,12})?( \d{1,2}:\d{2})?[^\]>\n]{0,40}[\]>]/g, '$1$2');
  return `${'#'.repeat(Math.min(stars.length, 6))} ${box}${inlineOf(text)}`;
}

/** A mark of Org mode stands at the edges of words. */
const mark = (sign: string): RegExp =>
  new RegExp(
    String.raw`(?<![\p{L}\p{N}${sign}])[${sign}](?=\S)([^${sign}\n]+)(?<=\S)[${sign}](?![\p{L}\p{N}${sign}])`,
    'gu',
  );
const MARKS: readonly (readonly [RegExp, string])[] = [
  [mark('*'), '**$1**'],
  [mark('/'), '*$1*'],
  [mark('='), '`$1`'],
  [mark('~'), '`$1`'],
  [mark('+'), '~~$1~~'],
];

function inlineOf(text: string): string {
  const links: string[] = [];
  const keep = (link: string): string => `\uE001${links.push(link) - 1}\uE001`;
  const outside = text
    .replaceAll('\uE001', '')
    .replace(/\[\[([^[\]\n]+)\]\[([^[\]\n]+)\]\]/g, (_, target: string, label: string) =>
      keep(/^(?:https?|mailto):/.test(target) ? `[${label}](${target})` : label),
    )
    .replace(/\[\[([^[\]\n]+)\]\]/g, (_, target: string) => keep(target.replace(/^(?:file|id):/, '')))
    .replace(/https?:\/\/\S+/g, keep);
  return MARKS.reduce((marked, [pattern, markdown]) => marked.replace(pattern, markdown), outside).replace(
    /\uE001(\d+)\uE001/g,
    (_, index: string) => links[Number(index)]!,
  );
}
