/**
 * Appends items to the list that ends the log of a day, for what comes from outside the journal's page: the function
 * `append-item`, Slack, mails and notifications (docs/specification/capture.md 1).
 *
 * One statement appends to a log that ends with a list. It sees the latest log, also if another writer holds its lock.
 * Any other log is merged like a change of a second device: the log is read, the items are appended, and the write
 * names the revision that was read. A change in between makes it start again. Triggers keep the version and tell the
 * open pages, as after every save.
 */
import { createHash } from 'node:crypto';
import { latestToday, type Day } from '#domain/day/day.ts';
import { ENTRY_MAX_BYTES, STORAGE_FULL_CODE } from '#domain/log/entry.ts';
import { APPEND_MAX_ITEMS, APPEND_MAX_LENGTH, appendItems as appendToLog, itemHtml } from '#domain/log/append-items.ts';
import { withoutDateHeader } from '#domain/log/entry-html.ts';
import type { Clock } from '../clock.ts';
import { isUniqueViolation, PERMISSION_DENIED, sqlStateOf } from '../database/database-error.ts';
import type { AsUser, Database, Identity } from '../database/database.ts';
import { dataError, DataError } from './errors.ts';
import { BULK_BODY_LENGTH } from './query-cost.ts';
import { withDateHeaderSql } from './to-sql.ts';
import type { WriteQuota } from './write-quota.ts';

export type AppendDeps = { database: Database; clock: Clock; writeQuota: WriteQuota };

/** The user who appends. `actAsUser` gives the identity to work that has no session, such as a mail. */
export type AppendingUser = { readonly userId: string; readonly identity: Identity };

export type Append = {
  readonly date: Day;
  /** Plain texts, as `parseItems` returns them: a line end is a break in the item. */
  readonly items: readonly string[];
  /**
   * The idempotency key of a user: the same items under a key are appended once, as long as the key is kept (30 days).
   * Null: they are appended each time.
   */
  readonly key: string | null;
};

/**
 * `repeated`: the key was used before, so nothing was appended; `date` and `revision` are those of the first append.
 */
export type Appended = { outcome: 'appended' | 'repeated'; date: Day; revision: number };

export type AppendRefusal = 'empty' | 'too_long' | 'future_day' | 'locked_day' | 'full' | 'key_reused';

const REFUSALS: Readonly<Record<AppendRefusal, string>> = {
  empty: 'There is no text to add.',
  too_long: `Add ${APPEND_MAX_LENGTH.toLocaleString('en')} characters and ${APPEND_MAX_ITEMS} lines at most at once.`,
  future_day: 'This day has not begun yet.',
  locked_day: 'This day is locked. The free plan opens the last 30 days.',
  full: `This log would be longer than ${ENTRY_MAX_BYTES / 1024} KB. Please shorten it.`,
  key_reused: 'Another text was sent with this key. Please send each text with a key of its own.',
};

/** The append was refused. A retry right away would be refused too. */
export class AppendError extends Error {
  override name = 'AppendError';
  readonly reason: AppendRefusal;

  constructor(reason: AppendRefusal, message = REFUSALS[reason]) {
    super(message);
    this.reason = reason;
  }
}

export const APPEND_KEY_MAX_LENGTH = 200;
/**
 * Attempts to append while other writers change the log. A user who types does not save often enough to win all of
 * these races.
 */
const MAX_ATTEMPTS = 8;

/**
 * The identity of a user for work without a session, with the rights of a personal access token of the scope `append`.
 */
export const actAsUser = (userId: string): AppendingUser => ({
  userId,
  identity: {
    role: 'authenticated',
    claimsJson: JSON.stringify({ sub: userId, role: 'authenticated', scopes: 'append' }),
  },
});

const READ = `
  select entry.id, entry.revision, entry.content,
         used.items_hash as "itemsHash", used.date::text as "usedDate", used.revision as "usedRevision"
    from (select) as one
         left join public.entries as entry on entry.user_id = $1::uuid and entry.date = $2::date
         left join public.appended_items as used on used.user_id = $1::uuid and used.key = $3::text`;

/** The statement that writes the log also stores the key, so a key is never stored without its items. */
const noteKey = `noted as (
    insert into public.appended_items (user_id, key, items_hash, date, revision)
    select $1::uuid, $4::text, $5::text, $2::date, saved.revision from saved where $4::text is not null)
  select revision, bytes from saved`;

/**
 * As `appendItems` of the domain does with a log whose last element is a list without an empty item at its end. A used
 * key violates the primary key of `appended_items`, which rolls the write back. `$6`: the maximum size of the new log
 * in bytes.
 */
const APPEND = `
  with saved as (
    update public.entries set content = left(content, -5) || $3::text || right(content, 5)
     where user_id = $1::uuid and date = $2::date
       and right(content, 25) ~ '(?<!<li><p></p>|<li><p><br></p>)</li></[ou]l>$'
       and octet_length(content) + octet_length($3::text) <= $6::integer
    returning revision, octet_length(content) as bytes), ${noteKey}`;

const UPDATE = `
  with saved as (
    update public.entries set content = ${withDateHeaderSql('date', '$3::text')}
     where user_id = $1::uuid and date = $2::date and id = $6::uuid and revision = $7::integer
    returning revision, octet_length(content) as bytes), ${noteKey}`;

const INSERT = `
  with saved as (
    insert into public.entries (user_id, date, content)
    values ($1::uuid, $2::date, ${withDateHeaderSql('$2::date', '$3::text')})
    on conflict (user_id, date) do nothing
    returning revision, octet_length(content) as bytes), ${noteKey}`;

type Row = {
  id: string | null;
  revision: number;
  content: string;
  itemsHash: string | null;
  usedDate: Day;
  usedRevision: number;
};

type Saved = { revision: number; bytes: number };

/**
 * @throws AppendError; a DataError at a limit of the write quota, or if every attempt failed; an error of the database,
 * after which the caller may try again with the same key
 */
export async function appendItems(
  { database, clock, writeQuota }: AppendDeps,
  { userId, identity }: AppendingUser,
  { date, items, key }: Append,
): Promise<Appended> {
  if (items.length === 0) throw new AppendError('empty');
  const length = items.reduce((sum, item) => sum + item.length, 0);
  if (items.length > APPEND_MAX_ITEMS || length > APPEND_MAX_LENGTH) throw new AppendError('too_long');
  if (date > latestToday(clock.now())) throw new AppendError('future_day');
  writeQuota.check(userId);
  const itemsHash = createHash('sha256').update(JSON.stringify(items)).digest('base64url');
  const html = items.map(itemHtml).join('');
  const append = (user: AsUser, maxBytes: number): Promise<Saved | null> =>
    save(user, APPEND, [userId, date, html, key, itemsHash, maxBytes]);
  const quickWriter = database.asUser(identity, { isQuickWrite: true });
  // In a transaction of its own: in a shared one, other writes would wait for a long log, and an insert into a locked
  // day would roll them back.
  const writer = database.asUser(identity);
  const appended = (await append(quickWriter, BULK_BODY_LENGTH)) ?? (await append(writer, ENTRY_MAX_BYTES));
  if (appended !== null) {
    // Only now are the bytes known. A limit that they reach refuses the next append.
    await spend(writeQuota, userId, appended.bytes).catch(ignoreLimit);
    return { outcome: 'appended', date, revision: appended.revision };
  }
  const reader = database.asUser(identity, { isQuickRead: true });
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { rows } = await reader.statement<Row>(READ, [userId, date, key]);
    const { id, revision, content, ...used } = rows[0]!;
    if (used.itemsHash !== null) {
      // The day is not compared: a request without a day that is repeated after midnight means the same one.
      if (used.itemsHash !== itemsHash) throw new AppendError('key_reused');
      return { outcome: 'repeated', date: used.usedDate, revision: used.usedRevision };
    }
    const log = appendToLog(id === null ? '' : withoutDateHeader(content), items);
    const bytes = Buffer.byteLength(log);
    if (bytes > ENTRY_MAX_BYTES) throw new AppendError('full');
    await spend(writeQuota, userId, bytes);
    const values = [userId, date, log, key, itemsHash];
    const saved = await (id === null ? save(writer, INSERT, values) : save(writer, UPDATE, [...values, id, revision]));
    if (saved !== null) return { outcome: 'appended', date, revision: saved.revision };
  }
  throw dataError('PGRST000', { message: 'This day is changing too fast. Please try again' });

  /**
   * Null if the key was used before, or no row was written: another writer has changed the log, or `APPEND` does not
   * apply to it.
   */
  async function save(user: AsUser, text: string, values: unknown[]): Promise<Saved | null> {
    try {
      const { rows } = await user.statement<Saved>(text, values);
      return rows[0] ?? null;
    } catch (error) {
      if (isUniqueViolation(error)) return null;
      // The plan hides a locked day, so the policy refuses the insert whether or not it has a log.
      if (sqlStateOf(error) === PERMISSION_DENIED) throw new AppendError('locked_day');
      throw error;
    }
  }
}

async function spend(writeQuota: WriteQuota, userId: string, bytes: number): Promise<void> {
  try {
    await writeQuota.spend(userId, bytes);
  } catch (error) {
    if (error instanceof DataError && error.code === STORAGE_FULL_CODE) throw new AppendError('full', error.message);
    throw error;
  }
}

function ignoreLimit(error: unknown): void {
  if (!(error instanceof AppendError || error instanceof DataError)) throw error;
}
