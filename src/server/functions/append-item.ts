/**
 * `append-item` {text, date? or at?, time_zone?, key?}: appends the lines of a text to the numbered list of a day
 * (docs/specification/capture.md 1).
 */
import type { Context } from 'hono';
import { isDay } from '#domain/day/day.ts';
import { APPEND_MAX_LENGTH, parseItems } from '#domain/log/append-items.ts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  AppendError,
  appendItems,
  APPEND_KEY_MAX_LENGTH,
  type AppendDeps,
  type AppendRefusal,
} from '../data/append-items.ts';
import type { AppEnv } from '../http/app-env.ts';
import { findCallersDay, FunctionError, readBody, type FunctionCaller } from './function-request.ts';

const STATUSES: Readonly<Record<AppendRefusal, ContentfulStatusCode>> = {
  empty: 400,
  too_long: 413,
  future_day: 400,
  locked_day: 403,
  full: 413,
  key_reused: 422,
};

export function appendItem(deps: AppendDeps) {
  return async function appendOwnItem(context: Context<AppEnv>, caller: FunctionCaller): Promise<Response> {
    const body = await readBody(context);
    const { text, date, at } = body;
    if (typeof text !== 'string') throw new FunctionError(400, 'Send a text.', { code: 'invalid_text' });
    if (date !== undefined && date !== null && !isDay(date))
      throw new FunctionError(400, 'A date is written as 2026-11-28.', { code: 'invalid_date' });
    if (at !== undefined && at !== null && !isInstant(at))
      throw new FunctionError(400, 'A time is written as 2026-11-28T16:30:00Z.', { code: 'invalid_date' });
    const key = readKey(context.req.header('idempotency-key') ?? body['key']);
    try {
      if (text.length > 2 * APPEND_MAX_LENGTH) throw new AppendError('too_long');
      const day = isDay(date)
        ? date
        : await findCallersDay(deps, caller, body['time_zone'], isInstant(at) ? new Date(at) : undefined);
      const appended = await appendItems(deps, caller, { date: day, items: parseItems(text), key });
      return context.json({ success: true, ...appended });
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      throw new FunctionError(STATUSES[error.reason], error.message, { code: error.reason });
    }
  };
}

/** Separates clients' keys from those of the server's own appends, which a client must not take in advance. */
const KEY_PREFIX = 'api:';

function readKey(key: unknown): string | null {
  if (key === undefined || key === null || key === '') return null;
  const max = APPEND_KEY_MAX_LENGTH - KEY_PREFIX.length;
  if (typeof key === 'string' && key.length <= max && /^[\x21-\x7e]+$/.test(key)) return KEY_PREFIX + key;
  throw new FunctionError(400, `A key has 1 to ${max} visible ASCII characters.`, { code: 'invalid_key' });
}

/** A UTC time as `Date.toISOString` writes it, or with fewer or no digits after the seconds, from 1970 on. */
const isInstant = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.test(value) &&
  Date.parse(value) >= 0;
