/** Reads a JSON body and gives out its fields by type. Whatever is sent, the outcome is a value or an AuthError. */
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { readText } from '#server/http/requests/limit-body.ts';
import { hasMoreValues } from '#server/parse-json.ts';
import { AuthError } from './errors.ts';

/** Deeper than any form, and shallow enough for every JSON reader behind us. */
const MAX_DEPTH = 32;
/** User metadata has 8 KB at most, so no body that can be accepted holds as many. Guests send these bodies too. */
const MAX_VALUES = 5_000;

export class Body {
  readonly #fields: JsonObject;

  constructor(fields: JsonObject) {
    this.#fields = fields;
  }

  /** Missing and null count as empty, as the clients send them (docs/specification/wire.md 2). */
  text(name: string): string {
    const value = this.#fields[name] ?? '';
    if (typeof value !== 'string') throw new AuthError('bad_json', `${name} must be a string`);
    return value;
  }

  /** Null when missing. */
  object(name: string): JsonObject | null {
    const value = this.#fields[name] ?? null;
    if (value === null) return null;
    if (!isObject(value)) throw new AuthError('bad_json', `${name} must be an object`);
    return value;
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }
}

/** Throws `bad_json`, or `validation_failed` for text that PostgreSQL cannot store. */
export async function readBody(context: Context<AppEnv>): Promise<Body> {
  let parsed: unknown;
  try {
    const text = await readText(context);
    if (hasMoreValues(text, MAX_VALUES)) throw new AuthError('body_too_many_values');
    parsed = JSON.parse(text);
  } catch (error) {
    // Too large a body is noticed while it is read, and is told by its own error.
    if (!(error instanceof SyntaxError)) throw error;
    throw new AuthError('bad_json', 'invalid JSON');
  }
  if (!isObject(parsed)) throw new AuthError('bad_json', 'expected an object');
  checkStorable(parsed);
  return new Body(parsed);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without recursion: the depth of the input is not ours to choose, the depth of our stack is. */
function checkStorable(root: unknown): void {
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') checkStorableText(value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) throw new AuthError('body_too_deep');
    for (const [name, part] of Object.entries(value)) {
      checkStorableText(name);
      pending.push({ value: part, depth: depth + 1 });
    }
  }
}

function checkStorableText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed()) throw new AuthError('unstorable_text');
}
