/** The formats that are offered. What writes each is loaded when it is chosen. */
import type { Day } from '#domain/day/day.ts';
import type { FormatWriter } from '#domain/export/exported-entry.ts';

export type Format = {
  id: string;
  label: string;
  what: string;
  extension: string;
  type: string;
  writer: (today: Day) => Promise<FormatWriter>;
};

export const FORMATS: readonly [Format, ...Format[]] = [
  {
    id: 'text',
    label: 'Plain text',
    what: 'Opens everywhere, today and in thirty years.',
    extension: 'txt',
    type: 'text/plain;charset=utf-8',
    writer: async () => (await import('#domain/export/formats/text-format.ts')).textWriter(),
  },
  {
    id: 'markdown',
    label: 'Markdown',
    what: 'For your notes app: headings, lists and bold stay.',
    extension: 'md',
    type: 'text/markdown;charset=utf-8',
    writer: async () => (await import('#domain/export/formats/markdown-format.ts')).markdownWriter(),
  },
  {
    id: 'html',
    label: 'HTML',
    what: 'One page to read, print or put on the shelf.',
    extension: 'html',
    type: 'text/html;charset=utf-8',
    writer: async (today) => (await import('#domain/export/formats/html-format.ts')).htmlWriter({ today }),
  },
  {
    id: 'json',
    label: 'JSON',
    what: 'Everything, scores and feedback too. Comes back exactly as it was.',
    extension: 'json',
    type: 'application/json',
    writer: async () => (await import('#domain/export/formats/json-format.ts')).jsonWriter({ exportedAt: new Date() }),
  },
];

export const fileName = (format: Format, today: Day): string => `hustle-forge-${today}.${format.extension}`;
