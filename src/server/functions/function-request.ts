/**
 * The caller and the body of a request to a function, which day it is for the caller, and the refusal of a function.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Day } from '#domain/day/day.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { readText } from '../http/limit-body.ts';
import { parseJson } from '../parse-json.ts';
import { currentDay } from '#domain/day/current-day.ts';
import { isTimeZone } from '#domain/habit/preferences.ts';
import type { AppendingUser } from '../data/append-items.ts';

export type FunctionCaller = SignedInCaller & {
  /** Set for a personal access token: the zone of the browser that made it, or null. */
  readonly token?: { readonly timeZone: string | null };
};

/** Far above the size of one import. Threat: a small body with millions of JSON values exhausts memory when parsed. */
const MAX_VALUES = 5_000;

/**
 * Returns the unvalidated fields; none if the body is not a JSON object or has too many values. Throws
 * BodyTooLargeError.
 */
export async function readBody(context: Context<AppEnv>): Promise<Record<string, unknown>> {
  const body = parseJson(await readText(context), MAX_VALUES);
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

type RefusalOptions = {
  /** The reason, for screens that act on it. */
  code?: string;
  headers?: Readonly<Record<string, string>>;
  /** More fields of the body. */
  fields?: Readonly<Record<string, unknown>>;
};

/** A refusal by a function. The router answers it; the product's screens show its text. */
export class FunctionError extends Error {
  override name = 'FunctionError';
  readonly status: ContentfulStatusCode;
  readonly options: RefusalOptions;

  constructor(status: ContentfulStatusCode, message: string, options: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.options = options;
  }
}

export function answerRefusal(context: Context<AppEnv>, { status, message, options }: FunctionError): Response {
  const { code, headers = {}, fields } = options;
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  return context.json({ success: false, ...(code !== undefined && { code }), error: message, ...fields }, status);
}

/** Today of the caller, or the day of an instant. Throws a FunctionError if no zone is known. */
export async function findCallersDay(
  deps: { database: Database; clock: Clock },
  caller: FunctionCaller,
  zone: unknown,
  at?: Date,
): Promise<Day> {
  const zones = { asked: typeof zone === 'string' ? zone : null, connected: caller.token?.timeZone ?? null };
  const day = await findUserDay(deps, caller, { ...zones, ...(at && { at }) });
  if (day === null) throw new FunctionError(400, UNKNOWN_ZONE, { code: 'unknown_time_zone' });
  return day;
}

const UNKNOWN_ZONE = 'Send a date, or a time_zone such as Europe/Vienna: your day is not known yet.';

/** The time zones and the instant that decide which day it is for a user. */
type Zones = {
  /** The zone that the request names. It takes precedence. */
  asked: string | null;
  /**
   * The zone of the browser that made the access token or linked the Slack user, for an account without preferences.
   */
  connected: string | null;
  /** The instant whose day is meant, for text that was written before it is sent. Now by default and at the latest. */
  at?: Date;
};

/**
 * The day in which the user is now, or was at an instant. Null if no zone is known: a wrong day would be worse than a
 * question.
 */
export async function findUserDay(
  { database, clock }: { database: Database; clock: Clock },
  { userId, identity }: AppendingUser,
  { asked, connected, at }: Zones,
): Promise<Day | null> {
  const { rows } = await database
    .asUser(identity, { isQuickRead: true })
    .statement<{ zone: string | null; dayEndsAt: number }>(
      'select time_zone as zone, day_ends_at as "dayEndsAt" from public.preferences where user_id = $1',
      [userId],
    );
  const zone = asked ?? rows[0]?.zone ?? connected;
  // A browser may know zones that are newer than the server's.
  if (zone === null || !isTimeZone(zone)) return null;
  const now = clock.now();
  return currentDay(at && at < now ? at : now, zone, rows[0]?.dayEndsAt === 3 ? 3 : 0);
}
