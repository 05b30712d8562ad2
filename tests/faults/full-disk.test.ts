/** A data directory whose disk is full or read-only, on a small file system of its own. Needs the right to mount one. */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#server/database/connect.ts';
import { toDataError } from '#server/data/errors.ts';
import type { AsService, Database } from '#server/database/database.ts';
import { createLog } from '#server/log.ts';
import { createMemoryDisk } from './mounted-disk.ts';

const disk = createMemoryDisk('full-disk.test.ts', 'size=160m,mode=755');
const { folder } = disk;
const USER = '00000000-0000-4000-8000-000000000001';
/** How long the disk stays full. A long run covers at least five failed restarts of the database with their backoff. */
const OUTAGE_MS = process.env['TEST_LONG'] ? 15_000 : 0;

const open = (): Promise<Database> =>
  openDatabase({ config: { dataDir: folder, databaseUrl: null }, log: createLog('silent') });

describe.skipIf(!disk.isMounted)('on a file system of its own (skipped without the right to mount)', () => {
  let database: Database;
  let service: AsService;
  let days = 0;
  beforeAll(async () => {
    database = await open();
    service = database.asService('test');
    await service.statement('insert into auth.users (id) values ($1)', [USER]);
  });
  afterAll(async () => {
    try {
      await database.close();
    } finally {
      disk.remove();
    }
  });

  const insertDay = (text: string) =>
    service.statement(
      `insert into entries (user_id, date, content) values ($1, '2000-01-01'::date + $2::int, $3) returning date`,
      [USER, (days += 1), text],
    );
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  /** Inserts until the database refuses. Returns the error and how many days were acknowledged. */
  async function fill(): Promise<{ acknowledged: number; error: unknown }> {
    for (let acknowledged = 0; ; acknowledged += 1) {
      // Random text, because PostgreSQL would compress a repeated one.
      const text = Array.from({ length: 4_000 }, () => Math.random().toString(36)).join(' ');
      const error = await errorOf(insertDay(text));
      if (error) return { acknowledged, error };
    }
  }

  test('a save on a full disk asks for another try, and no acknowledged save is lost', async () => {
    const filler = join(folder, 'filler');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 1_000_000));
    const { acknowledged, error } = await fill();
    expect(error).toMatchObject({ code: '53100' });
    expect(toDataError(error, false)).toMatchObject({ status: 503 });

    // The write-ahead log finds no space either, which ends the database's process.
    await errorOf(database.asOwner('test', (owner) => owner.query('select pg_switch_wal()')));
    const lost = await errorOf(fill().then(({ error: reason }) => Promise.reject(reason as Error)));
    expect(toDataError(lost, false)).toMatchObject({ status: 503 });
    await delay(OUTAGE_MS);

    rmSync(filler);
    await expect.poll(() => errorOf(insertDay('<p>again</p>')), { timeout: 60_000 }).toBeNull();
    const { rows } = await service.statement<{ count: number }>(
      'select count(*)::int from entries where user_id = $1',
      [USER],
    );
    expect(rows[0]!.count).toBeGreaterThan(acknowledged);
  });

  test('a start on a read-only disk fails with the reason', async () => {
    await database.close();
    disk.remount('ro');
    const failure = await errorOf(open());
    disk.remount('rw');
    expect(String(failure)).toMatch(/EROFS|read-only/i);
    database = await open();
    service = database.asService('test');
    expect(await errorOf(insertDay('<p>after it</p>'))).toBeNull();
  });
});
