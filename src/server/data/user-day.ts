/** Which day it is for a user, for requests that do not name one. */
import { currentDay } from '#domain/day/current-day.ts';
import type { Day } from '#domain/day/day.ts';
import { isTimeZone } from '#domain/habit/preferences.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { AppendingUser } from './append-items.ts';

type Zones = {
  /** What the request says; wins. */
  asked: string | null;
  /** The zone of the browser that has made the connection, for an account without preferences. */
  connected: string | null;
  /** The instant whose day is meant, for text that was written before it is sent. Now by default and at the latest. */
  at?: Date;
};

/** The day in which the user is now, or was at an instant. Null if no zone is known: a wrong day would be worse than a question. */
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
