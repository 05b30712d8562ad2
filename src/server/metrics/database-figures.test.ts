import { expect, test, vi } from 'vitest';
import type { Database } from '../database/database.ts';
import { registerDatabaseFigures } from './database-figures.ts';
import { Registry } from './prom-client.ts';

/** Registers the figures of a database whose statements wait for `answer`. `text` scrapes them. */
function scrapeOf(answer: () => Promise<unknown>) {
  let statements = 0;
  const statement = async () => {
    statements += 1;
    await answer();
    return { rows: [{ count: 7, exists: false, oldestSeconds: 3, status: 'completed', bytes: 9 }], rowCount: 1 };
  };
  const service = { statement };
  const database = {
    asService: () => service,
    transactAsService: (_reason: string, work: (transaction: typeof service) => Promise<unknown>) => work(service),
    isReady: () => Promise.resolve(true),
  } as unknown as Database;
  const registry = new Registry();
  registerDatabaseFigures(registry, database);
  return { text: () => registry.metrics(), statements: () => statements };
}

test('a scrape returns while the database does not answer, and later scrapes share the pending read', async () => {
  const { text, statements } = scrapeOf(() => new Promise(() => undefined));
  expect(await text()).toMatch(/^hustle_forge_database_up 0$/m);
  const before = statements();
  expect(await text()).toMatch(/^hustle_forge_database_up 0$/m);
  expect(statements()).toBe(before);
});

test('keeps the last figures of a database that has stopped answering', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  let isDown = false;
  const { text } = scrapeOf(() => (isDown ? Promise.reject(new Error('gone')) : Promise.resolve()));
  expect(await text()).toMatch(/^hustle_forge_database_up 1$/m);
  isDown = true;
  vi.advanceTimersByTime(16_000);
  const lines = await text();
  vi.useRealTimers();
  expect(lines).toMatch(/^hustle_forge_database_up 0$/m);
  expect(lines).toMatch(/^hustle_forge_migrations_applied 7$/m);
});

test('reads the database once for two scrapes in a row', async () => {
  const { text, statements } = scrapeOf(() => Promise.resolve());
  expect(await text()).toMatch(/^hustle_forge_database_up 1$/m);
  const before = statements();
  expect(before).toBeGreaterThan(0);
  await text();
  expect(statements()).toBe(before);
});
