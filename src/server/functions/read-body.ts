import type { Context } from 'hono';
import type { AppEnv } from '../http/app-env.ts';
import { readText } from '../http/limit-body.ts';
import { hasMoreValues, parseJson } from '../parse-json.ts';

/** Far above the size of one import. Threat: a small body with millions of JSON values exhausts memory when parsed. */
const MAX_VALUES = 5_000;

/** Returns the unvalidated fields, or none if the body is not a JSON object. Throws BodyTooLargeError. */
export async function readBody(context: Context<AppEnv>): Promise<Record<string, unknown>> {
  const text = await readText(context);
  const body = hasMoreValues(text, MAX_VALUES) ? undefined : parseJson(text);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
