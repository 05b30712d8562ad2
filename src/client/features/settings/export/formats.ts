/** The export formats. Each writer is loaded when its format is used. */
import type { Day } from '#domain/day/day.ts';
import type { FormatWriter } from '#domain/export/exported-entry.ts';

export type Format = {
  id: string;
  label: string;
  hint: string;
  extension: string;
  type: string;
  writer: (today: Day) => Promise<FormatWriter>;
};

export const FORMATS: readonly [Format, ...Format[]] = [
  {
    id: 'text',
    label: 'Plain text',
    hint: 'Opens in every app.',
    extension: 'txt',
    type: 'text/plain;charset=utf-8',
    writer: async () => (await import('#domain/export/formats/text-format.ts')).textWriter(),
  },
  {
    id: 'markdown',
    label: 'Markdown',
    hint: 'For notes apps. Keeps headings, lists and bold text.',
    extension: 'md',
    type: 'text/markdown;charset=utf-8',
    writer: async () => (await import('#domain/markdown/write-markdown.ts')).markdownWriter(),
  },
  {
    id: 'html',
    label: 'HTML',
    hint: 'One page to read or print.',
    extension: 'html',
    type: 'text/html;charset=utf-8',
    writer: async (today) => (await import('#domain/export/formats/html-format.ts')).htmlWriter({ today }),
  },
  {
    id: 'json',
    label: 'JSON',
    hint: 'Includes scores and feedback. Can be imported again without loss.',
    extension: 'json',
    type: 'application/json',
    writer: async () => (await import('#domain/export/formats/json-format.ts')).jsonWriter({ exportedAt: new Date() }),
  },
];

export const fileName = (format: Format, today: Day): string => `hustle-forge-${today}.${format.extension}`;
