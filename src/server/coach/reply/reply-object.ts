/**
 * Parses the top-level fields of an incomplete JSON object, for display while it streams; the final parse validates the
 * complete reply. Supports strings (the last one may be truncated) and terminated numbers. Arrays of plain values
 * are skipped, and parsing stops at any other nesting.
 */
import { parseJson } from '#server/parse-json.ts';

/** A string without its closing quote. Excludes an incomplete escape sequence at the end. */
const STRING_PREFIX = String.raw`"([^"\\\0-\x1f]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\\0-\x1f]*)*)`;
/** Requires a terminator: without one, `1` could become `10`. */
const NUMBER = String.raw`(-?[\d.]+)(?=[\s,}])`;
const FIELD = String.raw`(?:^\s*\{|\s*,)\s*${STRING_PREFIX}"\s*:\s*(?:${STRING_PREFIX}"?|${NUMBER}|\[[^[\]{}]*\]|true|false|null)`;

export function parsePartialJson(text: string): ReadonlyMap<unknown, unknown> {
  const fields = new Map<unknown, unknown>();
  for (const [, name, string, number] of text.matchAll(new RegExp(FIELD, 'gy'))) {
    const value = number === undefined ? string && parseJson(`"${string}"`) : Number(number);
    fields.set(parseJson(`"${name}"`), value);
  }
  return fields;
}
