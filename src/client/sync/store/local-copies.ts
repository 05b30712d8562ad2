/**
 * Copies of what the server answered, for a fast start and for reading without a connection. Best effort: without
 * IndexedDB nothing is found and nothing is kept.
 */
import type { Day } from '#domain/day/day.ts';
import { storeTodayCopy } from '#client/lib/boot/today-copy.ts';
import { localToday } from '#client/lib/session/browser-preferences.ts';
import type { StoredLog } from '../save-requests.ts';
import type { Copy, SeenDay, UserDatabase } from './user-database.ts';

export type LocalCopies = ReturnType<typeof createLocalCopies>;

export function createLocalCopies(database: UserDatabase, userId: string, now: () => number) {
  const ignore = (): null => null;
  const updateTodayCopy = (date: Day, stored: StoredLog | null): void => {
    // A sign-out wipes the storage and closes the database. An answer that arrives later must not store the log again.
    if (!database.isClosed()) storeTodayCopy(localStorage, userId, localToday(new Date(now())), date, stored);
  };
  return {
    readDay: (date: Day): Promise<SeenDay | null> =>
      database.use((connection) => connection.get('days', date)).then((seen) => seen ?? null, ignore),

    readDays: (): Promise<SeenDay[]> => database.use((connection) => connection.getAll('days')).catch(() => []),

    /** Stores what the server has just answered for the day: its row, or null. */
    storeDay: (date: Day, stored: StoredLog | null): Promise<unknown> =>
      database
        .use((connection) => connection.put('days', { date, stored, seenAt: now() }))
        .then(() => updateTodayCopy(date, stored), ignore),

    /** Removes the days that `isKept` rejects. */
    async pruneDays(isKept: (day: SeenDay) => boolean): Promise<void> {
      for (const day of await this.readDays()) {
        if (isKept(day)) continue;
        await database.use((connection) => connection.delete('days', day.date)).catch(ignore);
        updateTodayCopy(day.date, null);
      }
    },

    readCopy: (key: string): Promise<Copy | null> =>
      database.use((connection) => connection.get('copies', key)).then((copy) => copy ?? null, ignore),

    storeCopy: (key: string, value: unknown, at = now()): Promise<unknown> =>
      database.use((connection) => connection.put('copies', { value, at }, key)).catch(ignore),

    removeCopy: (key: string): Promise<unknown> =>
      database.use((connection) => connection.delete('copies', key)).catch(ignore),
  };
}
