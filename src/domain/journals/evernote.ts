/**
 * Evernote: `.enex`, an XML file of many notes whose texts are XHTML. Timestamps are in UTC, and no zone is stored.
 * Attachments are Base64 within a note, so a file of a gigabyte may hold a few megabytes of text. The reader therefore
 * cuts the notes out of the bytes one by one, without their attachments.
 */
import {
  type JournalEntry,
  type JournalReader,
  type ReadContext,
  type Skipped,
  type SourceFile,
  distinctTitle,
  isHidden,
  skip,
} from './journal-reader.ts';
import { attributeOf, contentOf, findElements, replaceElements, tagsOf } from './markup.ts';
import { dayOfNote } from './timestamps.ts';

const isEnex = (file: SourceFile): boolean => /\.enex$/i.test(file.path) && !isHidden(file);

export const evernote: JournalReader = {
  program: 'Evernote',
  async detect(files, peek) {
    const enex = files.find(isEnex) ?? (files.length === 1 ? files[0] : undefined);
    return enex && (await peek(enex)).includes('<en-export') ? 0.95 : 0;
  },
  async *read(files, context) {
    for (const file of files.length === 1 ? files : files.filter(isEnex))
      try {
        yield* readEnex(file, await file.read(), context);
      } catch {
        yield skip(file.path, 'broken');
      }
  },
};

const bytesOf = (ascii: string): Uint8Array => Uint8Array.from(ascii, (sign) => sign.charCodeAt(0));
const NOTE_START = bytesOf('<note>');
const NOTE_END = bytesOf('</note>');
const RESOURCE_START = bytesOf('<resource>');
const RESOURCE_END = bytesOf('</resource>');

function findBytes(bytes: Uint8Array, wanted: Uint8Array, from: number, to = bytes.length): number {
  for (
    let at = bytes.indexOf(wanted[0]!, from);
    at >= 0 && at + wanted.length <= to;
    at = bytes.indexOf(wanted[0]!, at + 1)
  )
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  return -1;
}

async function* readEnex(
  file: SourceFile,
  bytes: Uint8Array,
  context: ReadContext,
): AsyncGenerator<JournalEntry | Skipped> {
  let count = 0;
  for (let start = findBytes(bytes, NOTE_START, 0); start >= 0;) {
    count += 1;
    const end = findBytes(bytes, NOTE_END, start);
    const source = `${file.path}, note ${count}`;
    if (end < 0) {
      yield skip(source, 'broken');
      return;
    }
    const { parts, attachments } = cutResources(bytes, start + NOTE_START.length, end);
    try {
      let xml = '';
      // Each part can be decoded alone: the cuts between tags split no character of UTF-8.
      for (const part of parts) xml += await context.decode({ ...file, size: part.length, read: async () => part });
      yield* readNote(xml, attachments, source, context.zone);
    } catch {
      yield skip(source, 'broken');
    }
    start = findBytes(bytes, NOTE_START, end);
  }
  if (count === 0) yield skip(file.path, 'empty');
}

function cutResources(bytes: Uint8Array, from: number, to: number): { parts: Uint8Array[]; attachments: number } {
  const parts: Uint8Array[] = [];
  let attachments = 0;
  let at = from;
  for (;;) {
    const start = findBytes(bytes, RESOURCE_START, at, to);
    const end = start < 0 ? -1 : findBytes(bytes, RESOURCE_END, start, to);
    if (end < 0) break;
    attachments += 1;
    parts.push(bytes.subarray(at, start));
    at = end + RESOURCE_END.length;
  }
  parts.push(bytes.subarray(at, to));
  return { parts: parts.filter(({ length }) => length > 0), attachments };
}

const field = (xml: string, name: string): string => findElements(xml, name)[0]?.inner.trim() ?? '';

function* readNote(xml: string, attachments: number, label: string, zone: string): Generator<JournalEntry | Skipped> {
  const title = contentOf(field(xml, 'title')).replace(/\s+/g, ' ').trim();
  const source = title === '' ? label : `${label} (${title})`;
  const [content] = findElements(xml, 'content');
  if (content && attributeOf(content.attributes, 'encoding') !== null) {
    yield skip(source, 'encrypted');
    return;
  }
  const [note] = findElements(contentOf(content?.inner ?? ''), 'en-note');
  const dated = dayOfNote(title, [field(xml, 'created'), field(xml, 'updated')], zone);
  if ('reason' in dated) {
    yield skip(source, dated.reason);
    return;
  }
  const encrypted = findElements(note?.inner ?? '', 'en-crypt').length;
  if (encrypted > 0) yield skip(source, 'encrypted');
  const media = [...tagsOf(note?.inner ?? '')].filter(({ name, kind }) => name === 'en-media' && kind !== 'end').length;
  const text = htmlOf(note?.inner ?? '', tasksOf(xml));
  yield {
    kind: 'entry',
    ...dated,
    title: distinctTitle(dated.title, text),
    body: { format: 'html', text },
    source,
    pictures: Math.max(attachments, media),
  };
}

type Task = { group: string; html: string };

function tasksOf(xml: string): Task[] {
  return findElements(xml, 'task').map(({ inner }) => {
    const box = field(inner, 'taskstatus') === 'completed' ? '[x]' : '[ ]';
    return { group: field(inner, 'taskgroupnotelevelid'), html: `<li>${box} ${field(inner, 'title')}</li>` };
  });
}

const VOID = new Set(['area', 'base', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);

/** Converts ENML to HTML: check boxes become text, code blocks `<pre>`; media and ciphertext are left out. */
function htmlOf(enml: string, tasks: readonly Task[]): string {
  let html = '';
  let from = 0;
  for (const { name, kind, attributes, start, end } of tagsOf(enml)) {
    const tag = enml.slice(start, end);
    let replaced = tag;
    if (name === 'en-todo')
      replaced = kind === 'end' ? '' : attributeOf(attributes, 'checked') === 'true' ? '[x] ' : '[ ] ';
    else if (name === 'en-media') replaced = '';
    else if (name === 'li' && kind === 'start') {
      const checked = /--en-checked\s*:\s*(true|false)/.exec(attributes)?.[1];
      // Drops the style: `html-to-log` would write a second box for it.
      if (checked !== undefined) replaced = checked === 'true' ? '<li>[x] ' : '<li>[ ] ';
      // HTML knows no `<div/>`: it would open an element.
    } else if (kind === 'empty' && !VOID.has(name)) replaced = `${tag.slice(0, -2)}></${name}>`;
    html += enml.slice(from, start) + replaced;
    from = end;
  }
  html += enml.slice(from);
  html = replaceElements(
    html,
    'en-crypt',
    () => true,
    () => '',
  );
  html = replaceElements(
    html,
    'div',
    (attributes) => /-en-codeblock\s*:\s*true/.test(attributes),
    ({ inner }) => codeBlock(inner),
  );
  // `evernote:` links to other notes open only in Evernote, so their text alone stays.
  html = replaceElements(
    html,
    'a',
    (attributes) => /\bhref\s*=\s*["']evernote:/i.test(attributes),
    ({ inner }) => inner,
  );
  html = withBoxesInside(html);
  const placed = new Set<string>();
  html = replaceElements(
    html,
    'div',
    (attributes) => /--en-task-group\s*:\s*true/.test(attributes),
    ({ attributes }) => {
      const group = /--en-id\s*:\s*([\w-]+)/.exec(attributes)?.[1] ?? '';
      placed.add(group);
      return list(tasks.filter((task) => task.group === group));
    },
  );
  return html + list(tasks.filter(({ group }) => !placed.has(group)));
}

const list = (tasks: readonly Task[]): string =>
  tasks.length > 0 ? `<ul>${tasks.map(({ html }) => html).join('')}</ul>` : '';

/** Moves each box into the block behind it: `[x] <div>text</div>` would become two lines. */
const withBoxesInside = (html: string): string =>
  html.replace(/(\[[ x]\] )\s*((?:<(?:div|p|span)\b[^<>]*>\s*)+)/g, '$2$1');

function codeBlock(inner: string): string {
  const lines = inner
    .replace(/<div\b[^<>]*>\s*<br\b[^<>]*>\s*<\/div>/gi, '<div></div>')
    .replace(/<\/div>\s*(?=<div\b)/gi, '\n')
    .replace(/<br\b[^<>]*>/gi, '\n');
  let text = '';
  let from = 0;
  for (const { start, end } of tagsOf(lines)) {
    text += lines.slice(from, start);
    from = end;
  }
  return `<pre><code>${text + lines.slice(from)}</code></pre>`;
}
