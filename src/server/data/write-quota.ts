/**
 * Limits the bytes that a user writes in a minute and stores in all (docs/specification/limits.md 6).
 *
 * Threat: a free account fills the disk, or the write-ahead log. All processes count a minute together, in steps of a
 * megabyte, so only one save of many costs a statement.
 */
import { LRUCache } from 'lru-cache';
import { STORAGE_FULL_CODE, STORED_MAX_BYTES } from '#domain/log/entry.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { RateLimiterPostgres, RateLimiterRes, rateLimitStore } from '../http/rate-limit-store.ts';
import type { Limiters } from '../load/limiters.ts';
import { dataError } from './errors.ts';

const MEBIBYTE = 1024 * 1024;
/** Far more than a person who types can save. */
export const MAX_WRITTEN_BYTES_PER_MINUTE = 32 * MEBIBYTE;
const COUNTED_BYTES = MEBIBYTE;
/** The stored bytes of a user are counted again after the user has written this many. */
const MEASURED_BYTES = 4 * MEBIBYTE;
/** A user without space is measured again after this time: versions may have expired. */
const MEASURE_AFTER_MS = 10_000;
const MAX_USERS = 10_000;
export const ROW_BYTES = 256;

/**
 * PostgreSQL knows the lengths without reading the texts. A row costs some bytes, however short its log is.
 *
 * Threat: appends and imports keep rows for 30 days, also of days that the user deletes at once, so these rows count
 * too.
 */
const STORED_BYTES = `
  select (select coalesce(sum(octet_length(content) + coalesce(octet_length(ai_feedback), 0) + ${ROW_BYTES}), 0)
            from public.entries where user_id = $1)
       + (select coalesce(sum(octet_length(content) + coalesce(pg_column_size(feedback), 0)), 0)
            from public.entry_versions where user_id = $1)
       + (select coalesce(sum(octet_length(content)), 0) from public.documents where user_id = $1)
       + (select 2 * ${ROW_BYTES} * count(*) from public.appended_items where user_id = $1)
       + (select coalesce(sum(coalesce(pg_column_size(earlier_coach), 0) + ${ROW_BYTES}), 0)
            from public.import_days where user_id = $1) as bytes`;

/** The state of a user in this process. Times in milliseconds. */
type Account = { uncounted: number; unmeasured: number; blockedUntil: number; fullUntil: number };

/**
 * Begins at a random level. From zero, the bytes of a user who writes less than a step before each restart or eviction
 * would never be counted; now a tenth of a step is counted one time in ten.
 */
const newAccount = (): Account => ({
  uncounted: Math.random() * COUNTED_BYTES,
  unmeasured: Math.random() * MEASURED_BYTES,
  blockedUntil: 0,
  fullUntil: 0,
});

export type WriteQuota = {
  /** Refuses a user over a limit before any work. @throws DataError `53400` or `53100`, as `spend` */
  check(userId: string): void;
  /**
   * Counts a write that is about to begin.
   *
   * @throws DataError `53400` (429, with the seconds to wait), `53100` if the user's space is full, or `54000` for more
   *   bytes than those of a minute
   */
  spend(userId: string, bytes: number): Promise<void>;
};

type Deps = {
  clock: Clock;
  database: Database;
  limiters: Limiters;
  config: { auth: { rateLimits: boolean } };
  maxStoredBytes?: number;
};

export function createWriteQuota({
  clock,
  database,
  limiters,
  config,
  maxStoredBytes = STORED_MAX_BYTES,
}: Deps): WriteQuota {
  if (!config.auth.rateLimits) return { check: () => undefined, spend: async () => undefined };
  const accounts = new LRUCache<string, Account>({ max: MAX_USERS });
  const refused = limiters.createCounter('write_quota');
  const minute = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'written',
    points: MAX_WRITTEN_BYTES_PER_MINUTE / COUNTED_BYTES,
    duration: 60,
  });

  const now = (): number => clock.now().getTime();

  function accountOf(userId: string): Account {
    const account = accounts.get(userId) ?? newAccount();
    accounts.set(userId, account);
    return account;
  }

  function rejectAtLimit({ blockedUntil, fullUntil }: Account): void {
    const waitMs = blockedUntil - now();
    if (waitMs <= 0 && fullUntil <= now()) return;
    refused.add();
    if (waitMs <= 0) throw dataError(STORAGE_FULL_CODE);
    throw dataError('53400', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
  }

  async function count(userId: string, account: Account): Promise<void> {
    const steps = Math.floor(account.uncounted / COUNTED_BYTES);
    if (steps === 0) return;
    account.uncounted -= steps * COUNTED_BYTES;
    try {
      await minute.consume(userId, steps);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      account.blockedUntil = now() + rejection.msBeforeNext;
    }
  }

  async function measure(userId: string, account: Account): Promise<void> {
    if (account.unmeasured < MEASURED_BYTES && account.fullUntil === 0) return;
    account.unmeasured = 0;
    const { rows } = await database
      .asService('stored bytes of a user')
      .statement<{ bytes: string | number }>(STORED_BYTES, [userId]);
    account.fullUntil = Number(rows[0]!.bytes) > maxStoredBytes ? now() + MEASURE_AFTER_MS : 0;
  }

  return {
    check(userId) {
      const account = accounts.get(userId);
      if (account) rejectAtLimit(account);
    },
    async spend(userId, bytes) {
      if (bytes > MAX_WRITTEN_BYTES_PER_MINUTE) throw dataError('54000', { message: TOO_MANY_BYTES });
      const account = accountOf(userId);
      rejectAtLimit(account);
      account.uncounted += bytes + ROW_BYTES;
      account.unmeasured += bytes + ROW_BYTES;
      await count(userId, account);
      await measure(userId, account);
      rejectAtLimit(account);
    },
  };
}

const TOO_MANY_BYTES = `A request can write ${MAX_WRITTEN_BYTES_PER_MINUTE / MEBIBYTE} MB at most. Please change fewer rows at once`;
