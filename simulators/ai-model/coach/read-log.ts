/** Finds the log in a prompt without knowing who wrote the prompt: days with named or numbered items, or else plain lines. */
import type { Json } from '../wires/wire.ts';

/** `ref`: what the prompt calls it, which is how it is cited; null where it is only to be read. */
export type Item = { readonly ref: string | null; readonly text: string };
export type LogDay = { readonly date: string | null; readonly items: readonly Item[] };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMBERED = /^\s*(?:\[(\d{1,3})\]|(\d{1,3})[.):])\s+(.*)$/u;
const FENCE = /^\s*(?:[-=~`<>#*_]{3,}.*|<\/?[\w-]+[^>]*>)\s*$/;
const HEADING = /^#{1,3} /;
const REF = /^(?:ref|id|label|number|no)$/i;
/** A prompt with more open brackets than that is not worth a longer look. */
const MOST_TRIES = 60;

/** Oldest first; the last one is the day that is asked about. */
export function daysIn(prompt: string): LogDay[] {
  const days = jsonIn(prompt).flatMap(datedIn);
  if (days.length > 0) return days.sort((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
  const items = itemsOf(prompt.split('\n').filter((line) => !FENCE.test(line)));
  return items.length === 0 ? [] : [{ date: null, items }];
}

/** The outermost values that are whole: what stands inside a text of theirs is data and stays there. */
function jsonIn(prompt: string): Json[] {
  const found: Json[] = [];
  const opening = /[{[]/g;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const start = opening.exec(prompt)?.index;
    if (start === undefined) break;
    const end = closingOf(prompt, start);
    if (end === null) continue;
    try {
      found.push(JSON.parse(prompt.slice(start, end)));
      opening.lastIndex = end;
    } catch {
      // A bracket in a sentence.
    }
  }
  return found;
}

function closingOf(text: string, start: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

function datedIn(value: Json): LogDay[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(datedIn);
  const date = [value.date, value.day].find((field) => typeof field === 'string' && DAY.test(field));
  if (date === undefined) return Object.values(value).flatMap(datedIn);
  const given = Object.entries(value).find(
    ([name, field]) =>
      !['date', 'day', 'weekday'].includes(name) && (typeof field === 'string' || Array.isArray(field)),
  )?.[1];
  const items = typeof given === 'string' ? itemsOf(given.split('\n')) : itemsOfList((given ?? []) as Json[]);
  return [{ date, items }];
}

const itemsOfList = (list: Json[]): Item[] =>
  typeof list[0] === 'string'
    ? itemsOf(list)
    : list.flatMap((item, at) => {
        if (item.heading === true) return [];
        const fields = Object.entries<Json>(item);
        const [, ref = at + 1] = fields.find(([name]) => REF.test(name)) ?? [];
        const texts = fields.flatMap(([name, field]) => (typeof field === 'string' && !REF.test(name) ? [field] : []));
        return [{ ref: ref === null ? null : String(ref), text: texts[0] ?? '' }];
      });

/** Their own numbers count where they run from 1; else the lines are counted, without the blank ones. */
function itemsOf(lines: readonly string[]): Item[] {
  const told = lines.map((line) => line.trim()).filter((line) => line !== '' && !HEADING.test(line));
  const numbered = told.flatMap((line) => {
    const match = NUMBERED.exec(line);
    return match ? [{ ref: match[1] ?? match[2]!, text: match[3]! }] : [];
  });
  if (numbered.length > 0 && numbered.every(({ ref }, at) => ref === String(at + 1))) return numbered;
  return told.map((text, at) => ({ ref: String(at + 1), text }));
}
