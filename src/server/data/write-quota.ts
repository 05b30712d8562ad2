/**
 * Limits the bytes that a user writes in a minute and stores in all (docs/specification/limits.md 6).
 *
 * Threat: a free account fills the disk, or the write-ahead log. The counts are those of this process: with several, a user
 * gets that much from each. Only who has written megabytes is measured in the database, so a save of a normal user costs
 * nothing.
 */
import { LRUCache } from 'lru-cache';
import { ENTRY_MAX_BYTES, STORAGE_FULL_CODE, STORED_MAX_BYTES } from '#domain/log/entry.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Limiters } from '../load/limiters.ts';
import { dataError } from './errors.ts';

const MEBIBYTE = 1024 * 1024;
/** More than an import of the largest file needs in its time, and 3,000 times what a fast typist saves. */
export const MAX_WRITTEN_BYTES_PER_MINUTE = 32 * MEBIBYTE;
/** A user is measured again after so many bytes. */
const MEASURE_AFTER_BYTES = 4 * MEBIBYTE;
/** A user without space is measured again after this time: a log may have been deleted. */
const MEASURE_AFTER_MS = 10_000;
const MAX_USERS = 10_000;
const MINUTE_MS = 60_000;

/** Also rewritten by a write that names no text, such as a move. */
export const WRITE_WITHOUT_TEXT_BYTES = ENTRY_MAX_BYTES;

const STORED_BYTES = `
  select (select coalesce(sum(octet_length(content)), 0) from public.entries where user_id = $1)
       + (select coalesce(sum(octet_length(content)), 0) from public.entry_versions where user_id = $1) as bytes`;

type Account = { level: number; at: number; unmeasured: number; fullUntil: number };

export type WriteQuota = {
  /** @throws DataError `53400` (429, with the seconds to wait), or `53100` if the user's space is full */
  spend(userId: string, bytes: number): Promise<void>;
  /** Counts bytes that are known only after the write. */
  add(userId: string, bytes: number): void;
};

type Deps = { clock: Clock; database: Database; limiters: Limiters; config: { auth: { rateLimits: boolean } } };

export function createWriteQuota({ clock, database, limiters, config }: Deps): WriteQuota {
  const accounts = new LRUCache<string, Account>({ max: MAX_USERS });
  const refused = limiters.createCounter('write_quota');

  /** The account, whose level falls with time like the water of a leaky bucket. */
  function accountOf(userId: string): Account {
    const now = clock.now().getTime();
    const account = accounts.get(userId) ?? { level: 0, at: now, unmeasured: 0, fullUntil: 0 };
    const drained = (Math.max(now - account.at, 0) / MINUTE_MS) * MAX_WRITTEN_BYTES_PER_MINUTE;
    account.level = Math.max(account.level - drained, 0);
    account.at = now;
    accounts.set(userId, account);
    return account;
  }

  function add(userId: string, bytes: number): void {
    const account = accountOf(userId);
    account.level += bytes;
    account.unmeasured += bytes;
  }

  async function measure(userId: string, account: Account): Promise<void> {
    account.unmeasured = 0;
    const { rows } = await database
      .asService('stored bytes of a user')
      .statement<{ bytes: string | number }>(STORED_BYTES, [userId]);
    account.fullUntil = Number(rows[0]?.bytes ?? 0) > STORED_MAX_BYTES ? account.at + MEASURE_AFTER_MS : 0;
  }

  return {
    async spend(userId, bytes) {
      if (!config.auth.rateLimits) return;
      const account = accountOf(userId);
      if (account.level >= MAX_WRITTEN_BYTES_PER_MINUTE) {
        refused.add();
        const excess = account.level - MAX_WRITTEN_BYTES_PER_MINUTE;
        const seconds = Math.ceil((excess / MAX_WRITTEN_BYTES_PER_MINUTE) * (MINUTE_MS / 1000)) + 1;
        throw dataError('53400', { retryAfterSeconds: seconds });
      }
      const isDue = account.fullUntil > 0 && account.at >= account.fullUntil;
      if (isDue || account.unmeasured >= MEASURE_AFTER_BYTES) await measure(userId, account);
      if (account.fullUntil > 0) {
        refused.add();
        throw dataError(STORAGE_FULL_CODE);
      }
      add(userId, bytes);
    },
    add,
  };
}
