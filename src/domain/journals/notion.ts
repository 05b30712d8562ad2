/**
 * Notion: the export as Markdown and CSV or as HTML, one file per page, `Title <32 hex digits>.md`. A page of a
 * database has properties; their dates are on the clock of the user who exported, without a zone.
 */
import {
  type JournalEntry,
  type JournalReader,
  type SourceFile,
  distinctTitle,
  fileName,
  isHidden,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { attributeOf, findElements, hasClass, replaceElements, textOf } from './markup.ts';
import { plainMarkdown } from './plain-markdown.ts';
import { findDate, resolveDates, type WrittenDate } from './written-dates.ts';

const ID = /[ _-]?[\da-f]{32}$/i;
const isPage = (file: SourceFile): boolean =>
  /\.(?:md|html)$/i.test(file.path) && ID.test(fileName(file)) && !isHidden(file);

export const notion: JournalReader = {
  program: 'Notion',
  async detect(files, peek) {
    const pages = files.filter(isPage);
    // A name of nothing but 32 digits is a note of Joplin.
    const named = pages.filter((file) => fileName(file).length > 32).length;
    if (named > 0) return files.filter(({ path }) => /\.(?:md|html)$/i.test(path)).length <= named * 2 ? 0.9 : 0.5;
    const html = files.length === 1 ? files.find(({ path }) => /\.html$/i.test(path)) : undefined;
    return html && /<article id="[\da-f-]{36}" class="page/.test(await peek(html)) ? 0.9 : 0;
  },
  owns: () => (file) => /\.csv$/i.test(file.path) && ID.test(fileName(file).replace(/_all$/, '')),
  async *read(files, context) {
    const pages = files.length === 1 ? files : files.filter(isPage);
    const databases = new Set(files.flatMap((file) => (/\.csv$/i.test(file.path) ? [databaseOf(file)] : [])));
    const dates: WrittenDate[] = [];
    const open: { entry: Omit<JournalEntry, 'day'>; date: WrittenDate }[] = [];
    yield* readEachFile(pages, context, function* (file, text) {
      const isRow = databases.has(folderName(file));
      const { date, ...entry } = /\.html$/i.test(file.path) ? readHtml(file, text) : readMarkdown(file, text, isRow);
      if (!date) return yield skip(file.path, 'noDate');
      dates.push(date);
      const [alone] = resolveDates([date], false);
      if ('day' in alone!) yield { ...entry, day: alone.day };
      else if (alone!.reason === 'invalidDate') yield skip(file.path, alone!.reason);
      else open.push({ entry, date });
    });
    // A date such as `03/04/2024` is ambiguous alone: the dates of all pages decide the order of day and month.
    const resolved = resolveDates([...open.map(({ date }) => date), ...dates], false);
    for (const [index, { entry }] of open.entries()) {
      const at = resolved[index]!;
      yield 'day' in at ? { ...entry, day: at.day } : skip(entry.source, at.reason);
    }
  },
};

const withoutId = (name: string): string => name.replace(ID, '').trim();
const databaseOf = (file: SourceFile): string => withoutId(fileName(file).replace(/_all$/, ''));
const folderName = ({ path }: SourceFile): string => withoutId(path.split('/').at(-2) ?? '');

type Page = Omit<JournalEntry, 'day'> & { date: WrittenDate | null };
type Property = { name: string; value: string; isCreation: boolean };

const DATE_NAME =
  /^(?:date|day|entry date|journal date|datum|tag|fecha|data|día|dia|jour|päivä|dato|дата|日付|日期|날짜)$/i;
const CREATION_NAME =
  /^(?:created(?: ?(?:time|at|on|date))?|(?:date|time) created|creation (?:date|time)|erstellt.*|créé.*|date de création|creado.*|criado.*|creato.*|aangemaakt.*|作成日時?|创建时间|생성 일시|생성일)$/i;
/** Dates of something else: when a page was changed, or when its task is due. */
const OTHER_NAME = /edited|updated|modified|bearbeitet|modifi|due|deadline|reminder|birthday/i;

const dateIn = (value: string): WrittenDate | null => {
  const [start = ''] = value.replace(/^@/, '').split('→');
  const date = findDate(start);
  return date?.rest === '' ? date : null;
};

/** In this order: a title that is a date, a property named as a date, the creation, any date but `OTHER_NAME`. */
function dateOf(title: string, properties: readonly Property[]): WrittenDate | null {
  const dated = properties.flatMap((property) => {
    const date = dateIn(property.value);
    return date ? [{ ...property, date }] : [];
  });
  const chosen =
    dated.find(({ name }) => DATE_NAME.test(name)) ??
    dated.find(({ name, isCreation }) => isCreation || CREATION_NAME.test(name)) ??
    dated.find(({ name }) => !OTHER_NAME.test(name));
  const inTitle = dateIn(title);
  if (!inTitle) return chosen?.date ?? null;
  const isSameDay =
    chosen && [...inTitle.readings.values()].some((day) => [...chosen.date.readings.values()].includes(day));
  return { ...inTitle, time: inTitle.time ?? (isSameDay ? chosen.date.time : null) };
}

function pageOf(
  file: SourceFile,
  title: string,
  properties: readonly Property[],
  body: JournalEntry['body'],
  pictures: number,
): Page {
  const date = dateOf(title, properties);
  const shown = date && dateIn(title) ? null : title;
  return {
    kind: 'entry',
    date,
    time: date?.time ?? null,
    title: distinctTitle(shown, body.text),
    body,
    source: file.path,
    pictures,
  };
}

function readMarkdown(file: SourceFile, text: string, isRow: boolean): Page {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
  const heading = /^# (.*)$/.exec(lines[0] ?? '');
  const title = heading ? heading[1]!.trim() : withoutId(fileName(file));
  let at = heading ? 1 : 0;
  while (at < lines.length && lines[at]!.trim() === '') at += 1;
  const properties: Property[] = [];
  /** Further lines of a property's text. */
  const others: string[] = [];
  let end = at;
  for (; end < lines.length && lines[end]!.trim() !== ''; end += 1) {
    const [, name, value = ''] = /^([^:\n]{1,80}):(?: (.*))?$/.exec(lines[end]!) ?? [];
    if (name === undefined) others.push(lines[end]!);
    else properties.push({ name: name.trim(), value: value.trim(), isCreation: false });
  }
  // `Note: call Bob` below the title is a property only in a row of a database, or beside one whose value is a date.
  const isBlock =
    /^[^:\n]{1,80}:(?: |$)/.test(lines[at] ?? '') && (isRow || properties.some(({ value }) => dateIn(value) !== null));
  const body = isBlock ? [...others, ...lines.slice(end)].join('\n') : lines.slice(at).join('\n');
  const plain = plainMarkdown(
    body
      .replace(/^[ \t]*<\/?(?:aside|details)>[ \t]*$/gm, '')
      .replace(/^([ \t]*)<summary>(.*?)<\/summary>[ \t]*$/gm, '$1**$2**\n')
      .replace(/\[([^[\]\n]*)\]\(https:\/\/(?:www\.)?notion\.so\/[^()\s]*[\da-f]{32}[^()\s]*\)/g, '$1'),
  );
  return pageOf(
    file,
    title,
    isBlock ? properties : [],
    { format: 'markdown', text: plain.text.trim() },
    plain.pictures,
  );
}

function readHtml(file: SourceFile, html: string): Page {
  const first = (name: string, className: string): string =>
    findElements(html, name, (attributes) => hasClass(attributes, className))[0]?.inner ?? '';
  const rows = findElements(first('table', 'properties'), 'tr').map(({ attributes, inner }): Property => {
    const [value] = findElements(inner, 'td');
    const [time] = findElements(value?.inner ?? '', 'time');
    return {
      name: textOf(findElements(inner, 'th')[0]?.inner ?? ''),
      value: textOf(time?.inner ?? value?.inner ?? ''),
      isCreation: hasClass(attributes, 'property-row-created_time'),
    };
  });
  const { text, pictures } = bodyOf(first('div', 'page-body'));
  return pageOf(file, textOf(first('h1', 'page-title')), rows, { format: 'html', text }, pictures);
}

const isLocal = (attributes: string): boolean =>
  !/^(?:https?:|mailto:|tel:)/i.test(attributeOf(attributes, 'href') ?? '');

/** The body as HTML that means the same without Notion's style sheet and files. */
function bodyOf(source: string): { text: string; pictures: number } {
  let pictures = 0;
  const leaveOut = (): string => {
    pictures += 1;
    return '';
  };
  const always = (): boolean => true;
  let html = replaceElements(source, 'style', always, () => '');
  html = replaceElements(
    html,
    'span',
    (attributes) => hasClass(attributes, 'katex') || hasClass(attributes, 'notion-text-equation-token'),
    ({ inner }) => findElements(inner, 'annotation')[0]?.inner ?? inner,
  );
  html = replaceElements(html, 'figure', (attributes) => hasClass(attributes, 'image'), leaveOut);
  html = replaceElements(
    html,
    'div',
    (attributes) => hasClass(attributes, 'source'),
    ({ inner }) => (/<a\b[^>]*href="https?:/i.test(inner) ? inner : leaveOut()),
  );
  html = replaceElements(
    html,
    'div',
    (attributes) => hasClass(attributes, 'checkbox'),
    ({ attributes }) => (hasClass(attributes, 'checkbox-on') ? '[x] ' : '[ ] '),
  );
  html = replaceElements(html, 'a', isLocal, ({ inner }) => inner);
  html = html
    // The icon of a callout has a box of its own beside the text: it moves into the box of the text.
    .replace(/<div style="font-size:1\.5em"><span class="icon">([^<>]*)<\/span><\/div>((?:<div\b[^<>]*>)+)/g, '$2$1 ')
    .replace(/<img\b([^<>]*)>/gi, (_, attributes: string) => (/class="[^"]*icon/i.test(attributes) ? '' : leaveOut()))
    .replace(/<(\/?)summary\b[^<>]*>/gi, (_, end: string) => (end === '' ? '<p><strong>' : '</strong></p>'))
    .replace(/<\/?details\b[^<>]*>/gi, '');
  return { text: html.trim(), pictures };
}
