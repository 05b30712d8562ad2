/**
 * The fields of a JSON object that is still being written: texts (the last one as far as it has come) and numbers that
 * have ended. Lists are passed over, and what is nested deeper ends the reading. This is for showing words while they
 * arrive and no more: what a reply is, its whole text decides.
 */
import { parseJson } from '#server/parse-json.ts';

/** Without its end. An escape of which the rest is missing is not yet part of it. */
const TEXT = String.raw`"([^"\\\0-\x1f]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\\0-\x1f]*)*)`;
/** `1` may be the beginning of `10` as long as nothing follows it. */
const NUMBER = String.raw`(-?[\d.]+)(?=[\s,}])`;
const FIELD = String.raw`(?:^\s*\{|\s*,)\s*${TEXT}"\s*:\s*(?:${TEXT}"?|${NUMBER}|\[[^[\]{}]*\]|true|false|null)`;

export function fieldsSoFar(text: string): ReadonlyMap<unknown, unknown> {
  const fields = new Map<unknown, unknown>();
  for (const [, name, words, number] of text.matchAll(new RegExp(FIELD, 'gy'))) {
    const value = number === undefined ? words && parseJson(`"${words}"`) : Number(number);
    fields.set(parseJson(`"${name}"`), value);
  }
  return fields;
}
