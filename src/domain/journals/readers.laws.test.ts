/** Laws of the readers: what a program wrote comes back, whatever the machine's zone, and nothing makes a reader throw. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { appleJournal } from './apple-journal.ts';
import { dailyTxt } from './dailytxt.ts';
import { dayOne } from './day-one.ts';
import { diarium } from './diarium.ts';
import { diaro } from './diaro.ts';
import { evernote } from './evernote.ts';
import { googleKeep } from './google-keep.ts';
import { joplin } from './joplin.ts';
import type { JournalReader } from './journal-reader.ts';
import { journey } from './journey.ts';
import { jrnl } from './jrnl.ts';
import { logseq } from './logseq.ts';
import { markdownFiles } from './markdown-files.ts';
import { memos } from './memos.ts';
import { miniDiary } from './mini-diary.ts';
import { notion } from './notion.ts';
import { redNotebook } from './rednotebook.ts';
import { simplenote } from './simplenote.ts';
import { standardNotes } from './standard-notes.ts';
import { storyPad } from './storypad.ts';

/** Zones whose offset never changed since 1990, in minutes. The oracle needs no calendar of clock changes. */
const ZONES = {
  UTC: 0,
  'Pacific/Kiritimati': 840,
  'Pacific/Pago_Pago': -660,
  'Asia/Kolkata': 330,
  'Asia/Kathmandu': 345,
  'America/Phoenix': -420,
} as const;
type Zone = keyof typeof ZONES;

/** An entry on its own clock. */
type Written = { day: string; time: string; zone: Zone; title: string; text: string };

// Kiritimati moved over the date line at the end of 1994.
const moments = fc.integer({ min: Date.UTC(1996, 0, 2) / 1000, max: Date.UTC(2026, 9, 1) / 1000 });
/** Words that mean the same in every format: no marks of Markdown or HTML, and no dates. */
const words = fc
  .array(fc.constantFrom('Shipped', 'the', 'invoice', 'Café', 'über', '日本', 'naïve', 'call', 'team', 'done', '🎉'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(' '));
const written: fc.Arbitrary<Written> = fc
  .tuple(moments, fc.constantFrom(...(Object.keys(ZONES) as Zone[])), words, words)
  .map(([seconds, zone, title, text]) => {
    const [day, time] = new Date(seconds * 1000).toISOString().slice(0, 19).split('T') as [string, string];
    return { day, time, zone, title: `Title ${title}`, text: `Text ${text}` };
  });

const instantOf = ({ day, time, zone }: Written): number => Date.parse(`${day}T${time}Z`) - ZONES[zone] * 60_000;
const isoOf = (entry: Written): string => new Date(instantOf(entry)).toISOString().replace('.000', '');
const offsetOf = (minutes: number): string => {
  const size = Math.abs(minutes);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
};
const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

type Program = {
  reader: JournalReader;
  /** Stores the zone or the local time. Otherwise the user's zone tells the day. */
  keepsZone: boolean;
  keepsTitle?: boolean;
  /** `HH:MM:SS` to what the format keeps of it; null if nothing. */
  timeOf?: (time: string) => string | null;
  write: (entries: readonly Written[]) => Record<string, string>;
};

const minutes = (time: string): string => time.slice(0, 5);
const perEntry = (entries: readonly Written[], write: (entry: Written, index: number) => [string, string]) =>
  Object.fromEntries(entries.map(write));

const MONTH_NAMES = 'January February March April May June July August September October November December'.split(' ');
const inEnglish = ({ day, time }: Written): string => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const hour = Number(time.slice(0, 2));
  return `${MONTH_NAMES[month - 1]} ${date}, ${year} at ${hour % 12 || 12}${time.slice(2)} ${hour < 12 ? 'AM' : 'PM'} PST`;
};

/** `1 May 2024`. */
const dateOf = (day: string): string => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return `${date} ${MONTH_NAMES[month - 1]} ${year}`;
};

const PROGRAMS: Record<string, Program> = {
  'Day One, JSON': {
    reader: dayOne,
    keepsZone: true,
    write: (entries) => ({
      'Journal.json': JSON.stringify({
        metadata: { version: '1.0' },
        entries: entries.map((entry, index) => ({
          uuid: String(index),
          creationDate: isoOf(entry),
          timeZone: entry.zone,
          isAllDay: false,
          text: `# ${entry.title}\n\n${entry.text}\\.`,
        })),
      }),
    }),
  },
  'Day One Classic': {
    reader: dayOne,
    keepsZone: true,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `Journal.dayone/entries/${index}.doentry`,
        `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n\t<key>Creation Date</key>\n\t<date>${isoOf(entry)}</date>\n\t<key>Creator</key>\n\t<dict>\n\t\t<key>Generation Date</key>\n\t\t<date>2001-01-01T00:00:00Z</date>\n\t</dict>\n\t<key>Entry Text</key>\n\t<string>${escapeXml(`${entry.title}\n\n${entry.text}`)}</string>\n\t<key>Starred</key>\n\t<false/>\n\t<key>Time Zone</key>\n\t<string>${entry.zone}</string>\n</dict>\n</plist>\n`,
      ]),
  },
  'Day One, text': {
    reader: dayOne,
    keepsZone: true,
    write: (entries) => ({
      'Journal.txt': entries
        .map(
          (entry) => `\tDate:\t${inEnglish(entry)}\n\tWeather:\t12°C Cloudy\n\n${entry.title}\n\n${entry.text}\n\n\n`,
        )
        .join(''),
    }),
  },
  'jrnl, JSON': {
    reader: jrnl,
    keepsZone: true,
    keepsTitle: true,
    timeOf: minutes,
    write: (entries) => ({
      'journal.json': JSON.stringify({
        tags: { '@work': 2 },
        entries: entries.map(({ day, time, title, text }) => ({ title, body: text, date: day, time: minutes(time) })),
      }),
    }),
  },
  'jrnl, text': {
    reader: jrnl,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'journal.txt': entries.map(({ day, time, title, text }) => `[${day} ${time}] ${title}\n${text}\n\n`).join(''),
    }),
  },
  Journey: {
    reader: journey,
    keepsZone: true,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `${instantOf(entry)}-${index}.json`,
        JSON.stringify({
          id: String(index),
          date_modified: 1,
          date_journal: instantOf(entry),
          timezone: entry.zone,
          text: `<p dir="auto">${entry.title}</p><p dir="auto">${entry.text}</p>`,
          type: 'html',
        }),
      ]),
  },
  Diaro: {
    reader: diaro,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'DiaroBackup.xml': `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<data version="2"><table name="diaro_folders"><r><uid>1</uid><title>Work</title></r></table><table name="diaro_entries">${entries
        .map(
          (entry, index) =>
            `<r><uid>${index}</uid><date>${instantOf(entry)}</date><tz_offset>${offsetOf(ZONES[entry.zone])}</tz_offset><title>${escapeXml(entry.title)}</title><text>${escapeXml(entry.text)}</text></r>`,
        )
        .join('')}</table></data>\n`,
    }),
  },
  'Mini Diary': {
    reader: miniDiary,
    keepsZone: true,
    keepsTitle: true,
    timeOf: () => null,
    write: (entries) => ({
      'export.json': JSON.stringify({
        metadata: { application: 'Mini Diary', version: 'v3.3.0' },
        entries: Object.fromEntries(entries.map(({ day, title, text }) => [day, { title, text }])),
      }),
    }),
  },
  'DailyTxT, months': {
    reader: dailyTxt,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) => {
      const months = new Map<string, { day: number; text: string }[]>();
      for (const { day, title, text } of entries) {
        const path = `${day.slice(0, 4)}/${day.slice(5, 7)}.json`;
        months.set(path, [...(months.get(path) ?? []), { day: Number(day.slice(8)), text: `${title}\n${text}` }]);
      }
      return Object.fromEntries([...months].map(([path, days]) => [path, JSON.stringify({ days })]));
    },
  },
  'DailyTxT, HTML': {
    reader: dailyTxt,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) => ({
      'DailyTxT_export.html': `<html><head><title>DailyTxT Export</title></head><body>${[...entries]
        .sort((a, b) => (a.day < b.day ? -1 : 1))
        .map(({ day, title, text }) => {
          const weekday = new Date(`${day}T00:00:00Z`).toLocaleDateString('de', { weekday: 'long', timeZone: 'UTC' });
          return `<div class="entry">\n<div class="entry-date">${weekday}, ${day.split('-').toReversed().join('.')}</div>\n<div class="entry-content">\n<div class="entry-text"><p>${title}</p><p>${text}</p></div>\n</div>\n</div>`;
        })
        .join('\n')}</body></html>`,
    }),
  },
  StoryPad: {
    reader: storyPad,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'backup.json': JSON.stringify({
        tables: {
          stories: entries.map(({ day, time, title, text }, index) => {
            const [year, month, date] = day.split('-').map(Number);
            const [hour, minute, second] = time.split(':').map(Number);
            const rich_pages = [{ title, body: [{ insert: text }, { insert: '\n' }] }];
            return {
              id: index,
              type: 'docs',
              year,
              month,
              day: date,
              hour,
              minute,
              second,
              latest_content: { title, rich_pages },
            };
          }),
        },
      }),
    }),
  },
  'Diarium, JSON': {
    reader: diarium,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'diarium.json': JSON.stringify(
        entries.map(({ day, time, title, text }) => ({
          date: `${day}T${time}.48828`,
          heading: title,
          html: `<p>${text}</p>`,
        })),
      ),
    }),
  },
  'Google Keep': {
    reader: googleKeep,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `Takeout/Keep/${index}.json`,
        JSON.stringify({
          isTrashed: false,
          textContent: entry.text,
          title: entry.title,
          userEditedTimestampUsec: 1,
          createdTimestampUsec: instantOf(entry) * 1000,
        }),
      ]),
  },
  Simplenote: {
    reader: simplenote,
    keepsZone: false,
    write: (entries) => ({
      'source/notes.json': JSON.stringify({
        activeNotes: entries.map((entry, index) => ({
          id: String(index),
          content: `${entry.title}\r\n${entry.text}`,
          creationDate: isoOf(entry).replace('Z', '.123Z'),
        })),
        trashedNotes: [],
      }),
      'A note.txt': 'A copy of a note',
    }),
  },
  'Standard Notes': {
    reader: standardNotes,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) => ({
      'Standard Notes Backup and Import File.txt': JSON.stringify({
        version: '004',
        items: entries.map((entry, index) => ({
          uuid: String(index),
          content_type: 'Note',
          content: { title: entry.title, text: entry.text, noteType: 'plain-text' },
          created_at: isoOf(entry).replace('Z', '.000Z'),
        })),
      }),
      'Items/Note/a.txt': 'A copy of a note',
    }),
  },
  'Apple Journal': {
    reader: appleJournal,
    keepsZone: true,
    keepsTitle: true,
    timeOf: () => null,
    write: (entries) =>
      perEntry(entries, ({ day, title, text }, index) => [
        `AppleJournalEntries/Entries/${index}.html`,
        `<html><body><p class="p1"><span class="s1"><div class='pageContainer'><div class="pageHeader">${dateOf(day)}</div><div class='title'>${title}</div><div class='bodyText'></span></p><p class="p2">${text}</p><p class="p1"><span class="s1"></div></div></span></p></body></html>`,
      ]),
  },
  Evernote: {
    reader: evernote,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) => ({
      'Notes.enex': `<?xml version="1.0"?><en-export>${entries
        .map(
          (entry) =>
            `<note><title>${entry.title}</title><created>${isoOf(entry).replace(/[-:]/g, '')}</created><content><![CDATA[<en-note><div>${entry.text}</div></en-note>]]></content></note>`,
        )
        .join('')}</en-export>`,
    }),
  },
  'Joplin, RAW': {
    reader: joplin,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `RAW/${String(index).padStart(32, '0')}.md`,
        `${entry.title}\n\n${entry.text}\n\nid: ${index}\nuser_created_time: ${isoOf(entry)}\nencryption_applied: 0\ntype_: 1`,
      ]),
  },
  'Joplin, Markdown': {
    reader: joplin,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `Notebook/${index}.md`,
        `---\ntitle: ${entry.title}\nupdated: ${isoOf(entry).replace('T', ' ')}\ncreated: ${isoOf(entry).replace('T', ' ')}\n---\n\n${entry.text}`,
      ]),
  },
  Logseq: {
    reader: logseq,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) =>
      perEntry(entries, ({ day, title, text }) => [
        `graph/journals/${day.replaceAll('-', '_')}.md`,
        `- DONE ${title}\n  collapsed:: true\n\t- ${text}`,
      ]),
  },
  memos: {
    reader: memos,
    keepsZone: false,
    write: (entries) => ({
      'memos.json': JSON.stringify({
        memos: entries.map((entry, index) => ({
          name: `memos/${index}`,
          state: 'NORMAL',
          createTime: isoOf(entry),
          content: `${entry.title}\n\n${entry.text}`,
        })),
      }),
    }),
  },
  'Notion, Markdown': {
    reader: notion,
    keepsZone: true,
    keepsTitle: true,
    timeOf: (time) => `${minutes(time)}:00`,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `Export/Journal/${entry.title} ${String(index).padStart(32, 'a')}.md`,
        `# ${entry.title}\n\nTags: a, b\nCreated: ${dateOf(entry.day)} ${minutes(entry.time)}\n\n${entry.text}\n`,
      ]),
  },
  'Notion, HTML': {
    reader: notion,
    keepsZone: true,
    keepsTitle: true,
    timeOf: (time) => `${minutes(time)}:00`,
    write: (entries) =>
      perEntry(entries, (entry, index) => [
        `Export/Journal/${entry.title} ${String(index).padStart(32, 'a')}.html`,
        `<html><body><article class="page sans"><header><h1 class="page-title">${entry.title}</h1><table class="properties"><tbody><tr class="property-row property-row-created_time"><th>Created</th><td><time>@${dateOf(entry.day)} ${minutes(entry.time)}</time></td></tr></tbody></table></header><div class="page-body"><p>${entry.text}</p></div></article></body></html>`,
      ]),
  },
  RedNotebook: {
    reader: redNotebook,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) => {
      const months: Record<string, string> = {};
      for (const { day, title, text } of entries) {
        const path = `data/${day.slice(0, 7)}.txt`;
        months[path] =
          `${months[path] ?? ''}${Number(day.slice(8))}: {text: ${JSON.stringify(`${title}\n\n${text}`)}}\n`;
      }
      return months;
    },
  },
  'Markdown by day': {
    reader: markdownFiles,
    keepsZone: true,
    keepsTitle: true,
    timeOf: () => null,
    write: (entries) =>
      perEntry(entries, ({ day, title, text }) => [
        `Daily/${day} ${title}.md`,
        `---\ntags: [a]\n---\n# ${day}\n\n${text} ^a1b2c3`,
      ]),
  },
  'Markdown with dated headings': {
    reader: markdownFiles,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'journal.md': entries
        .map(({ day, time, title, text }) => `## ${dateOf(day)} ${time} — ${title}\n\n${text}\n`)
        .join('\n'),
    }),
  },
};

/** Formats with one entry a day. */
const onePerDay = (entries: readonly Written[]): Written[] => [
  ...new Map(entries.map((entry) => [entry.day, entry])).values(),
];
const key = (day: string, time: string | null, title: string | null): string => `${day} ${time} ${title}`;

describe.each(['America/Los_Angeles', 'Pacific/Kiritimati'])('with the clock of %s', (machineZone) => {
  test.each(Object.entries(PROGRAMS))('the entries of %s come back on their own days', async (_, program) => {
    vi.stubEnv('TZ', machineZone);
    const timeOf = program.timeOf ?? ((time: string) => time);
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 8 }), async (list) => {
        const zone = list[0]!.zone;
        const entries = onePerDay(program.keepsZone ? list : list.map((entry) => ({ ...entry, zone })));
        const files = sourceFiles(program.write(entries));
        expect(await detectProgram(files)).toBe(program.reader.program);
        const read = await readFiles(program.reader, files, program.keepsZone ? 'Europe/London' : zone);
        expect(read.skipped).toEqual([]);
        expect(read.entries.map(({ day, time, title }) => key(day, time, title)).toSorted()).toEqual(
          entries.map(({ day, time, title }) => key(day, timeOf(time), program.keepsTitle ? title : null)).toSorted(),
        );
        for (const { day, title, text } of entries) {
          const body = read.entries.find((entry) => entry.day === day)!.body.text;
          expect(body).toContain(text);
          if (!program.keepsTitle) expect(body).toContain(title);
        }
      }),
      { numRuns: fuzzBudget(15) },
    );
  });
});

const samples: readonly Written[] = [
  { day: '2024-02-29', time: '23:59:00', zone: 'America/Phoenix', title: 'One', text: 'First text' },
  { day: '2024-03-01', time: '00:01:00', zone: 'Asia/Kathmandu', title: 'Two', text: 'Second text' },
];

test.each(Object.entries(PROGRAMS))('%s that is cut anywhere ends no reader', async (_, { reader, write }) => {
  const whole = Object.entries(write(samples));
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (at) => {
      const files = sourceFiles(
        Object.fromEntries(whole.map(([path, text]) => [path, text.slice(0, at % text.length)])),
      );
      const { entries, skipped } = await readFiles(reader, files);
      for (const { day } of entries) expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      for (const { source } of skipped) expect(files.some(({ path }) => source.startsWith(path))).toBe(true);
    }),
    { numRuns: fuzzBudget(40) },
  );
});

/** The same JSON with one value of it replaced. */
function replaceValue(value: unknown, at: { left: number }, by: unknown): unknown {
  at.left -= 1;
  if (at.left < 0) {
    at.left = Infinity;
    return by;
  }
  if (Array.isArray(value)) return value.map((item) => replaceValue(item, at, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceValue(item, at, by)]));
}

const JSON_PROGRAMS = Object.entries(PROGRAMS).filter(([, { write }]) =>
  Object.values(write(samples)).some((text) => /^[[{]"/.test(text)),
);

test.each(JSON_PROGRAMS)('%s with a value of another type ends no reader', async (_, { reader, write }) => {
  const whole = Object.entries(write(samples));
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.jsonValue(), async (at, by) => {
      const replaced = whole.map(([path, text]) => [
        path,
        /^[[{]"/.test(text) ? JSON.stringify(replaceValue(JSON.parse(text), { left: at }, by)) : text,
      ]);
      const { entries } = await readFiles(reader, sourceFiles(Object.fromEntries(replaced)));
      for (const { day, body, title } of entries) {
        expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(typeof body.text).toBe('string');
        expect(title === null || title.trim() !== '').toBe(true);
      }
    }),
    { numRuns: fuzzBudget(60) },
  );
});
