/** Durability: kills the database and the server during concurrent writes. No acknowledged write may be lost. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { openDatabase } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';

import { readPostmasterPid, startDatabaseProcess } from './processes.ts';

const ROUNDS = process.env['TEST_LONG'] ? 40 : 6;
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_121);
/** The database is back, and the writers go on, well within this time. */
const LIMIT_MS = 60_000;

/** The processes that a round kills, in order, each after a delay. */
const round = fc.record({
  afterMs: fc.integer({ min: 20, max: 700 }),
  victims: fc.constantFrom<('database' | 'server')[]>(
    ['server'],
    ['database', 'server'],
    ['database', 'database', 'server'],
  ),
});

test(
  `no acknowledged write is lost in ${ROUNDS} rounds of kill -9 (seed ${SEED})`,
  { timeout: ROUNDS * 2 * LIMIT_MS },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-storm-'));
    const acknowledged = new Set<string>();
    for (const { afterMs, victims } of fc.sample(round, { numRuns: ROUNDS, seed: SEED })) {
      const writer = startDatabaseProcess(dataDir, 'write');
      await writer.waitForLine('written');
      for (const victim of victims) {
        await delay(afterMs);
        if (victim === 'server') {
          writer.child.kill('SIGKILL');
          continue;
        }
        const pid = readPostmasterPid(dataDir);
        process.kill(pid, 'SIGKILL');
        // The server restarts its database and the writers continue. Lines printed before the kill may arrive after it.
        await expect.poll(() => readPostmasterPid(dataDir), { timeout: LIMIT_MS }).not.toBe(pid);
        const lines = writer.lines.length;
        await expect.poll(() => writer.lines.length, { timeout: LIMIT_MS }).toBeGreaterThan(lines + 100);
      }
      await writer.ended;
      for (const line of writer.lines) if (line.startsWith('written')) acknowledged.add(line.slice('written '.length));
    }

    const database = await openDatabase({ config: { dataDir, databaseUrl: null }, log: createLog('silent') });
    const { rows } = await database.asService('test').statement<{ writer: string; number: number; whole: boolean }>(
      `select right(user_id::text, 1) as writer, date - '2000-01-01' as number,
            content = '<p>' || (date - '2000-01-01') || ' ' || repeat('word ', 100) || '</p>' as whole from entries`,
      [],
    );
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
    const stored = new Set(rows.map(({ writer, number }) => `${writer} ${number}`));
    expect(acknowledged.size).toBeGreaterThan(100);
    expect([...acknowledged].filter((key) => !stored.has(key))).toEqual([]);
    expect(rows.filter(({ whole }) => !whole)).toEqual([]);
  },
);
