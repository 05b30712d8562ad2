/**
 * DailyTxT: a JSON file per month (`2024/05.json`, decrypted), and the HTML export of version 2. Texts are Markdown in
 * which every line end is a hard break. The data folder and the backup are encrypted.
 */
import { isDay } from '../day/day.ts';
import { fieldsOf, listOf, stringOf } from './json-fields.ts';
import {
  type JournalEntry,
  type JournalReader,
  type Skipped,
  type SourceFile,
  readEachFile,
  skip,
} from './journal-reader.ts';
import { decodeEntities, findElements, hasClass, textOf } from './markup.ts';
import { findDate, resolveDates } from './written-dates.ts';

const MONTH = /(?:^|\/)(\d{4})\/(\d{1,2})\.json$/;
const isMonth = ({ path }: SourceFile): boolean => MONTH.test(path);
const isPage = ({ path }: SourceFile): boolean => /\.html?$/i.test(path) && !/(?:^|\/)files\//.test(path);

export const dailyTxt: JournalReader = {
  program: 'DailyTxT',
  async detect(files, peek) {
    const [month] = files.filter(isMonth);
    if (month && /"days"\s*:\s*\[/.test(await peek(month))) return 0.9;
    const page = files.find((file) => isPage(file) && /(?:^|\/)DailyTxT_[^/]*$/i.test(file.path));
    if (page) return 0.95;
    const [other] = files.filter(isPage);
    return other && /<title>DailyTxT/i.test(await peek(other)) ? 0.9 : 0;
  },
  async *read(files, context) {
    yield* readEachFile(files.filter(isMonth), context, readMonth);
    yield* readEachFile(files.filter(isPage), context, readPage);
  },
};

/** Fernet tokens (version 1) begin like this; version 2 stores base64 without a space. */
const isEncrypted = (text: string): boolean => /^gAAAAA[\w-]+=*$/.test(text) || /^[\w+/-]{38,}={0,2}$/.test(text);

function* readMonth({ path }: SourceFile, json: string): Generator<JournalEntry | Skipped> {
  const [, year = '', month = ''] = MONTH.exec(path) ?? [];
  const { days } = fieldsOf(JSON.parse(json));
  if (!Array.isArray(days)) yield skip(path, 'broken');
  for (const item of listOf(days)) {
    const { day: number, text, date_written: written, files } = fieldsOf(item);
    const source = `${path}, day ${String(number)}`;
    const day = `${year}-${month.padStart(2, '0')}-${String(number).padStart(2, '0')}`;
    const pictures = listOf(files).length;
    const body = stringOf(text);
    if (!isDay(day)) yield skip(source, typeof number === 'number' ? 'invalidDate' : 'noDate');
    else if (isEncrypted(body) || isEncrypted(stringOf(written))) yield skip(source, 'encrypted');
    else if (body.trim() === '' && pictures === 0) yield skip(source, 'empty');
    else
      yield {
        kind: 'entry',
        day,
        time: null,
        title: null,
        body: { format: 'markdown', text: decodeEntities(body) },
        source,
        pictures,
      };
  }
}

/** The language of the account decides how dates are written, so all dates of a page are read together. */
function* readPage({ path }: SourceFile, html: string): Generator<JournalEntry | Skipped> {
  const blocks = findElements(html, 'div', (attributes) => hasClass(attributes, 'entry')).map(({ inner }) => {
    const child = (name: string): string =>
      findElements(inner, 'div', (attributes) => hasClass(attributes, name))[0]?.inner ?? '';
    const heading = textOf(child('entry-date'));
    const files = findElements(child('entry-files'), 'li').length;
    return {
      heading,
      date: findDate(heading),
      text: child('entry-text'),
      pictures: Math.max(files, findElements(child('entry-images'), 'img').length),
    };
  });
  if (blocks.length === 0) yield skip(path, 'empty');
  const dated = blocks.flatMap(({ date, ...block }) => (date ? [{ ...block, date }] : []));
  for (const { heading, date } of blocks) if (!date) yield skip(`${path}, ${heading || 'an entry'}`, 'noDate');
  const days = resolveDates(
    dated.map(({ date }) => date),
    true,
  );
  for (const [index, { heading, text, pictures }] of dated.entries()) {
    const source = `${path}, ${heading}`;
    const resolved = days[index]!;
    if ('reason' in resolved) yield skip(source, resolved.reason);
    else if (text.trim() === '' && pictures === 0) yield skip(source, 'empty');
    else
      yield {
        kind: 'entry',
        day: resolved.day,
        time: null,
        title: null,
        body: { format: 'html', text },
        source,
        pictures,
      };
  }
}
