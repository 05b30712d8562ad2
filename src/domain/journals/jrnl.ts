/** jrnl's JSON export (`jrnl --format json`): `{ "tags", "entries": [{ "title", "body", "date", "time" }] }`. */
import { isDay } from '../day/day.ts';
import type { JournalEntry, JournalReader, SourceFile, Skipped } from './journal-reader.ts';

const isJson = ({ path }: SourceFile): boolean => /\.json$/i.test(path);
/** Both formats that jrnl's configuration commonly has for the time of day. */
const TIME = /^\d{2}:\d{2}(?::\d{2})?$/;

export const jrnl: JournalReader = {
  program: 'jrnl',
  async detect(files, peek) {
    const json = files.filter(isJson);
    if (json.length !== 1) return 0;
    return /^\s*\{\s*"tags"\s*:\s*\{[^{}]*\}\s*,\s*"entries"\s*:\s*\[/.test(await peek(json[0]!)) ? 0.9 : 0;
  },
  async *read(files, { decode }) {
    for (const file of files.filter(isJson)) {
      const entries = entriesOf(await decode(file).catch(() => ''));
      if (entries)
        for (const [index, entry] of entries.entries()) yield readEntry(entry, `${file.path}, entry ${index + 1}`);
      else yield { kind: 'skipped', source: file.path, reason: 'broken' };
    }
  },
};

function entriesOf(text: string): unknown[] | null {
  try {
    const { entries } = JSON.parse(text) as { entries?: unknown };
    return Array.isArray(entries) ? entries : null;
  } catch {
    return null;
  }
}

function readEntry(entry: unknown, source: string): JournalEntry | Skipped {
  const { date, time, title, body } = Object(entry) as Record<string, unknown>;
  if (typeof date !== 'string') return { kind: 'skipped', source, reason: 'noDate' };
  if (!isDay(date)) return { kind: 'skipped', source, reason: 'invalidDate' };
  return {
    kind: 'entry',
    day: date,
    time: typeof time === 'string' && TIME.test(time) ? time : null,
    title: typeof title === 'string' && title.trim() !== '' ? title.trim() : null,
    body: { format: 'markdown', text: typeof body === 'string' ? body : '' },
    source,
    pictures: 0,
  };
}
