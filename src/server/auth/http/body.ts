/**
 * Reads a JSON body and its fields by type, or a form. Invalid input throws an AuthError, too large a body a
 * BodyTooLargeError.
 */
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { readBytes, readText } from '#server/http/limit-body.ts';
import { hasMoreValues, isObject } from '#server/parse-json.ts';
import { AuthError, invalidRequest } from './errors.ts';

/** Deep enough for the requests of clients, and shallow enough for PostgreSQL and recursive JSON code. */
const MAX_DEPTH = 32;
/**
 * Far more than clients send: user metadata is limited to 8 KB. Threat: a client without a session sends a megabyte of
 * values, and parsing them blocks the event loop.
 */
const MAX_VALUES = 5_000;

export class Body {
  readonly #fields: JsonObject;

  constructor(fields: JsonObject) {
    this.#fields = fields;
  }

  /** A missing or null field counts as an empty text (docs/specification/api.md 2). */
  text(name: string): string {
    const value = this.#fields[name] ?? '';
    if (typeof value !== 'string') throw new AuthError('bad_json', `${name} must be a string`);
    return value;
  }

  /** Returns null if the field is missing or null. */
  number(name: string): number | null {
    const value = this.#fields[name] ?? null;
    if (value !== null && typeof value !== 'number') throw new AuthError('bad_json', `${name} must be a number`);
    return value;
  }

  /** Returns null if the field is missing or null. */
  object(name: string): JsonObject | null {
    const value = this.#fields[name] ?? null;
    if (value === null) return null;
    if (!isObject(value)) throw new AuthError('bad_json', `${name} must be an object`);
    return value;
  }

  /** A missing or null field counts as `fallback`. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.#fields[name] ?? fallback;
    if (typeof value !== 'boolean') throw new AuthError('bad_json', `${name} must be a boolean`);
    return value;
  }

  /** Returns null if the field is missing or null. */
  texts(name: string): string[] | null {
    const value = this.#fields[name] ?? null;
    if (value === null) return null;
    const isText = (item: unknown): item is string => typeof item === 'string';
    if (!Array.isArray(value) || !value.every(isText))
      throw new AuthError('bad_json', `${name} must be a list of strings`);
    return value;
  }

  has(name: string): boolean {
    return (this.#fields[name] ?? null) !== null;
  }
}

/**
 * Throws `bad_json`, or `validation_failed` for too many values, too deep nesting or text that PostgreSQL cannot store.
 * A body over the size limit throws BodyTooLargeError.
 */
export async function readBody(context: Context<AppEnv>): Promise<Body> {
  return parseBody(await readText(context));
}

/** As `readBody`, for requests whose body may be missing. */
export async function readOptionalBody(context: Context<AppEnv>): Promise<Body> {
  const text = await readText(context);
  return text === '' ? new Body({}) : parseBody(text);
}

function parseBody(text: string): Body {
  let parsed: unknown;
  try {
    if (hasMoreValues(text, MAX_VALUES)) throw invalidRequest('The request body holds too many values');
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AuthError('bad_json', 'invalid JSON');
  }
  if (!isObject(parsed)) throw new AuthError('bad_json', 'expected an object');
  checkStorable(parsed);
  return new Body(parsed);
}

/** The limit of every form except SAML's. */
export const MAX_FORM_BYTES = 16 * 1024;
const MAX_FORM_FIELDS = 20;
const AMPERSAND = 38;

/**
 * Reads a form. Throws `validation_failed` for too many fields, and a BodyTooLargeError above `maxBytes`. Call it after
 * the rate limit.
 *
 * Threat: the time of `URLSearchParams` grows with the square of the fields, and a megabyte of `&` took 2.7 seconds. So
 * the fields are counted first.
 */
export async function readForm(context: Context<AppEnv>, maxBytes: number): Promise<URLSearchParams> {
  const bytes = await readBytes(context, maxBytes);
  let fields = 1;
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    if ((fields += 1) > MAX_FORM_FIELDS) throw invalidRequest('The form holds more than 20 fields');
  }
  return new URLSearchParams(new TextDecoder().decode(bytes));
}

/** Iterative. Threat: a deeply nested body would overflow the stack of a recursive check. */
function checkStorable(root: unknown): void {
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') checkStorableText(value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) throw invalidRequest('The request body is nested too deeply');
    for (const [name, part] of Object.entries(value)) {
      checkStorableText(name);
      pending.push({ value: part, depth: depth + 1 });
    }
  }
}

/** Throws `validation_failed` for text that PostgreSQL cannot store or compare. */
export function checkStorableText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw invalidRequest('Text must be valid Unicode without null characters');
}
