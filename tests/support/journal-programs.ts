/** Writes entries as each program exports them, for the laws of the readers and of the import. */
import fc from 'fast-check';
import { appleJournal } from '#domain/journals/apple-journal.ts';
import { datedRows } from '#domain/journals/dated-rows.ts';
import { dailyTxt } from '#domain/journals/dailytxt.ts';
import { dayOne } from '#domain/journals/day-one.ts';
import { diarium } from '#domain/journals/diarium.ts';
import { diaro } from '#domain/journals/diaro.ts';
import { evernote } from '#domain/journals/evernote.ts';
import { googleKeep } from '#domain/journals/google-keep.ts';
import { joplin } from '#domain/journals/joplin.ts';
import type { JournalReader } from '#domain/journals/journal-reader.ts';
import { journey } from '#domain/journals/journey.ts';
import { jrnl } from '#domain/journals/jrnl.ts';
import { logseq } from '#domain/journals/logseq.ts';
import { markdownFiles } from '#domain/journals/markdown-files.ts';
import { memos } from '#domain/journals/memos.ts';
import { miniDiary } from '#domain/journals/mini-diary.ts';
import { notion } from '#domain/journals/notion.ts';
import { redNotebook } from '#domain/journals/rednotebook.ts';
import { roam } from '#domain/journals/roam.ts';
import { simplenote } from '#domain/journals/simplenote.ts';
import { standardNotes } from '#domain/journals/standard-notes.ts';
import { storyPad } from '#domain/journals/storypad.ts';

/** Zones and their offsets in minutes, constant since 1995. The oracle needs no calendar of clock changes. */
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
export type Written = { day: string; time: string; zone: Zone; title: string; text: string };

// Kiritimati moved over the date line at the end of 1994.
const moments = fc.integer({ min: Date.UTC(1996, 0, 2) / 1000, max: Date.UTC(2026, 9, 1) / 1000 });
/** Words that mean the same in every format: no marks of Markdown or HTML, and no dates. */
const words = fc
  .array(fc.constantFrom('Shipped', 'the', 'invoice', 'Café', 'über', '日本', 'naïve', 'call', 'team', 'done', '🎉'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(' '));
export const written: fc.Arbitrary<Written> = fc
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

export type Program = {
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
const inEnglish = ({ day, time }: Pick<Written, 'day' | 'time'>): string => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const hour = Number(time.slice(0, 2));
  return `${MONTH_NAMES[month - 1]} ${date}, ${year} at ${hour % 12 || 12}${time.slice(2)} ${hour < 12 ? 'AM' : 'PM'} PST`;
};

/** `1 May 2024`. */
const dateOf = (day: string): string => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return `${date} ${MONTH_NAMES[month - 1]} ${year}`;
};

export const PROGRAMS: Record<string, Program> = {
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
    timeOf: (time) => `${minutes(time)}:00`,
    write: (entries) => ({
      'journal.json': JSON.stringify({
        tags: { '@work': 2 },
        entries: entries.map(({ day, time, title, text }) => ({ title, body: text, date: day, time: minutes(time) })),
      }),
    }),
  },
  'jrnl, JSON with slashes': {
    reader: jrnl,
    keepsZone: true,
    keepsTitle: true,
    write: (entries) => ({
      'journal.json': JSON.stringify({
        tags: {},
        entries: entries.map(({ day, time, title, text }) => ({
          title,
          body: text,
          date: day.replaceAll('-', '/'),
          time: inEnglish({ day, time }).replace(/^.* at | PST$/g, ''),
        })),
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
  'CSV table': {
    reader: datedRows,
    keepsZone: true,
    keepsTitle: true,
    timeOf: (time) => `${minutes(time)}:00`,
    write: (entries) => ({
      'export.csv': [
        'full_date,date,weekday,time,mood,activities,note_title,note',
        ...entries.map(
          ({ day, time, title, text }) =>
            `${day},${dateOf(day).slice(0, -5)},x,${minutes(time)},good,"a | b","${title}","${text}"`,
        ),
      ].join('\n'),
    }),
  },
  'JSON list': {
    reader: datedRows,
    keepsZone: false,
    keepsTitle: true,
    write: (entries) => ({
      'export.json': JSON.stringify(
        entries.map((entry) => ({
          id: 1,
          createdAt: isoOf(entry).replace('Z', '.123Z'),
          title: entry.title,
          content: entry.text,
        })),
      ),
    }),
  },
  'Roam Research': {
    reader: roam,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) => ({
      'graph.json': JSON.stringify(
        entries.map(({ day, title, text }) => ({
          title: dateOf(day),
          children: [{ string: title, uid: 'a', children: [{ string: text, uid: 'b' }] }],
        })),
      ),
    }),
  },
  'Org mode': {
    reader: markdownFiles,
    keepsZone: true,
    timeOf: () => null,
    write: (entries) => ({
      'journal.org': entries.map(({ day, title, text }) => `* ${day}\n** ${title}\n${text}\n`).join(''),
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
