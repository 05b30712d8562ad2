/** Extracts logs from a prompt of unknown format: JSON days with labelled or numbered items, or else plain lines. */
import type { Json } from '../protocols/protocol.ts';

/**
 * `ref`: cites the item. The prompt's label, or the item's position if it has none; null if the prompt's label is null.
 */
export type Item = { readonly ref: string | null; readonly text: string };
export type LogDay = { readonly date: string | null; readonly items: readonly Item[] };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMBERED = /^\s*(?:\[(\d{1,3})\]|(\d{1,3})[.):])\s+(.*)$/u;
const FENCE = /^\s*(?:[-=~`<>#*_]{3,}.*|<\/?[\w-]+[^>]*>)\s*$/;
const HEADING = /^#{1,3} /;
const REF = /^(?:ref|id|label|number|no)$/i;
/** Bounds the work on a prompt with many opening brackets. */
const MAX_JSON_CANDIDATES = 60;

/** Oldest first. The last day is the one to give feedback on. */
export function parseDays(prompt: string): LogDay[] {
  const days = findJson(prompt).flatMap(collectDays);
  if (days.length > 0) return days.sort((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
  const items = parseLines(prompt.split('\n').filter((line) => !FENCE.test(line)));
  return items.length === 0 ? [] : [{ date: null, items }];
}

export type MonthSummary = { readonly month: string; readonly summary: string };

/** The summaries of months that a long review is made of; empty in a prompt with logs. */
export function parseMonths(prompt: string): MonthSummary[] {
  const isSummary = (value: Json): value is MonthSummary =>
    typeof value?.month === 'string' && typeof value.summary === 'string';
  return findJson(prompt).flatMap((value) => (Array.isArray(value?.months) ? value.months.filter(isSummary) : []));
}

/** Returns the outermost complete JSON values. JSON inside their strings is data and is not parsed. */
function findJson(prompt: string): Json[] {
  const found: Json[] = [];
  const opening = /[{[]/g;
  for (let candidates = 0; candidates < MAX_JSON_CANDIDATES; candidates += 1) {
    const start = opening.exec(prompt)?.index;
    if (start === undefined) break;
    const end = findClosingBracket(prompt, start);
    if (end === null) continue;
    try {
      found.push(JSON.parse(prompt.slice(start, end)));
      opening.lastIndex = end;
    } catch {
      // Not JSON: a bracket in a sentence.
    }
  }
  return found;
}

function findClosingBracket(text: string, start: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

function collectDays(value: Json): LogDay[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(collectDays);
  const date = [value.date, value.day].find((field) => typeof field === 'string' && DAY.test(field));
  if (date === undefined) return Object.values(value).flatMap(collectDays);
  const given = Object.entries(value).find(
    ([name, field]) =>
      !['date', 'day', 'weekday'].includes(name) && (typeof field === 'string' || Array.isArray(field)),
  )?.[1];
  const items = typeof given === 'string' ? parseLines(given.split('\n')) : parseItemList((given ?? []) as Json[]);
  return [{ date, items }];
}

const parseItemList = (list: Json[]): Item[] =>
  typeof list[0] === 'string'
    ? parseLines(list)
    : list.flatMap((item, at) => {
        if (item.heading === true) return [];
        const fields = Object.entries<Json>(item);
        const [, ref = at + 1] = fields.find(([name]) => REF.test(name)) ?? [];
        const texts = fields.flatMap(([name, field]) => (typeof field === 'string' && !REF.test(name) ? [field] : []));
        return [{ ref: ref === null ? null : String(ref), text: texts[0] ?? '' }];
      });

/**
 * Returns only the numbered lines if their numbers run from 1. Otherwise numbers all lines but blank ones and headings.
 */
function parseLines(lines: readonly string[]): Item[] {
  const contentLines = lines.map((line) => line.trim()).filter((line) => line !== '' && !HEADING.test(line));
  const numbered = contentLines.flatMap((line) => {
    const match = NUMBERED.exec(line);
    return match ? [{ ref: match[1] ?? match[2]!, text: match[3]! }] : [];
  });
  if (numbered.length > 0 && numbered.every(({ ref }, at) => ref === String(at + 1))) return numbered;
  return contentLines.map((text, at) => ({ ref: String(at + 1), text }));
}
