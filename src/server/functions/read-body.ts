/** The fields of what a browser sent to a function; none where it sent no JSON object. None of them is believed yet. */
import type { Context } from 'hono';
import type { AppEnv } from '../http/app-env.ts';
import { readText } from '../http/requests/limit-body.ts';
import { hasMoreValues, parseJson } from '../parse-json.ts';

/** Far more than the entries of one import have; what holds more is not parsed, and counts as no JSON object. */
const MAX_VALUES = 5_000;

/** Throws BodyTooLargeError. */
export async function readBody(context: Context<AppEnv>): Promise<Record<string, unknown>> {
  const text = await readText(context);
  const body = hasMoreValues(text, MAX_VALUES) ? undefined : parseJson(text);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
