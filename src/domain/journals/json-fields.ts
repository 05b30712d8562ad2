/** Fields of JSON that another program wrote: a value of another type counts as absent. */
import { normalizeText } from '../log/text-to-log.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** With `\n` as the only line end: Day One writes U+2028 within a paragraph. */
export const stringOf = (value: unknown): string => (typeof value === 'string' ? normalizeText(value) : '');
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A title on one line; null if it is empty. */
export const titleOf = (value: unknown): string | null =>
  stringOf(value)
    .trim()
    .replace(/(?<!\s)\s*[\r\n]+\s*/g, ' ') || null;

export const isHtml = (text: string): boolean =>
  /^\s*<(?:p|div|h[1-6]|ul|ol|blockquote|span|strong|b|em|i|u|br|pre)(?:\s[^<>]*)?\/?>/i.test(text);
