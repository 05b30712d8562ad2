/** Tests how the pool follows the server that accepts writes. tests/cluster does the same with a real cluster. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startDatabaseNode, type DatabaseNode } from '../../../../tests/support/servers/database-node.ts';
import { setUpTestDatabase } from '../../../../tests/support/set-up.ts';

import { Secret } from '#server/config/settings-reader.ts';
import { createLog } from '#server/log.ts';

import { openDatabase } from '../connect.ts';
import { toDataError } from '../../data/errors.ts';
import type { Database } from '../database.ts';
import { requestConnection } from '../roles.ts';
import { createOwnerFinder } from './primary-finder.ts';
import { createRequestPool, type RequestPool } from './request-pool.ts';

/** The product's promise: a request succeeds within this time after another server has begun to accept writes. */
const FOUND_WITHIN_MS = 2_000;

const db = setUpTestDatabase();
let nodes: [DatabaseNode, DatabaseNode];
const cleanUp: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  nodes = [await startDatabaseNode(db.url), await startDatabaseNode(db.url, true)];
});
afterEach(async () => {
  for (const end of cleanUp.splice(0).toReversed()) await end();
  for (const node of nodes) node.die();
});

const urlOf = (...hosts: DatabaseNode[]): string =>
  db.url.replace('@/', `@${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/`).replace(/\?.*/, '?');

async function open(...hosts: DatabaseNode[]): Promise<Database> {
  const config = { databaseUrl: new Secret(urlOf(...hosts)), dataDir: '' };
  const database = await openDatabase({ config, log: createLog('silent') });
  cleanUp.push(() => database.close());
  return database;
}

const statusOf = (error: unknown) => toDataError(error, false)?.status;

let rows = 0;
const write = (database: Database) =>
  database.asService('test').statement('insert into auth.users (email) values ($1)', [`${(rows += 1)}@example.com`]);
const writeMany = (database: Database) => Promise.all(Array.from({ length: 20 }, () => write(database)));

/** Repeats a write until it succeeds. Every earlier failure must be answered 503. Returns the milliseconds that it took. */
async function untilWritten(database: Database): Promise<number> {
  const since = performance.now();
  for (;;) {
    try {
      await write(database);
      return performance.now() - since;
    } catch (error) {
      expect(statusOf(error)).toBe(503);
    }
  }
}

describe('with several hosts', () => {
  test('requests, the owner and LISTEN use the one that accepts writes, wherever it stands in the list', async () => {
    const [primary, standby] = nodes;
    const database = await open(standby, primary);
    const { opened } = standby;
    await write(database);
    await database.asOwner('test', (owner) => owner.query('create table public.by_owner (n int)'));
    let isListening = false;
    const stop = database.listenToChanges({ onChange: () => undefined, onGap: () => (isListening = true) });
    await expect.poll(() => isListening).toBe(true);
    await stop();
    // Only the search at the start asked the standby.
    expect(standby.opened).toBe(opened);
  });

  test('the pool finds a promoted standby after the primary died', async () => {
    const [primary, standby] = nodes;
    const database = await open(primary, standby);
    await writeMany(database);
    primary.die();
    await expect(write(database)).rejects.toSatisfy((error) => statusOf(error) === 503);
    standby.isStandby = false;
    expect(await untilWritten(database)).toBeLessThan(FOUND_WITHIN_MS);
    await writeMany(database);
  });

  test('the pool leaves a primary that comes back as a standby', async () => {
    const [primary, standby] = nodes;
    const database = await open(primary, standby);
    await write(database);
    primary.die();
    primary.isStandby = true;
    standby.isStandby = false;
    await primary.start();
    expect(await untilWritten(database)).toBeLessThan(FOUND_WITHIN_MS);
  });

  test('a search finds a standby that is promoted while the old primary is silent', async () => {
    const [primary, standby] = nodes;
    primary.isSilent = true;
    const found = createOwnerFinder(urlOf(primary, standby)).find();
    await expect.poll(() => standby.opened).toBeGreaterThan(1);
    standby.isStandby = false;
    expect(await found).toMatchObject({ port: standby.port });
  });

  test('a start waits for the end of a failover', async () => {
    const [primary, standby] = nodes;
    primary.die();
    const opening = open(primary, standby);
    await expect.poll(() => standby.opened).toBeGreaterThan(1);
    standby.isStandby = false;
    await write(await opening);
  });

  test('the error names each server and why it cannot be used, without the password', async () => {
    const [primary, standby] = nodes;
    primary.die();
    const error: unknown = await createOwnerFinder(urlOf(primary, standby))
      .find()
      .catch((reason: unknown) => reason);
    const { message } = error as Error;
    expect(message).toContain(`127.0.0.1:${primary.port}: connect ECONNREFUSED`);
    expect(message).toContain(`127.0.0.1:${standby.port}: only reads`);
    expect(message).not.toContain(new URL(urlOf(primary)).password);
    expect(statusOf(error)).toBe(503);
  });
});

test('closes connections to a server that became read-only, and writes again at once', async () => {
  const [server] = nodes;
  const database = await open(server);
  const service = database.asService('test');
  const readOnly = "select set_config('default_transaction_read_only', 'on', false), pg_sleep(0.02)";
  await Promise.all(Array.from({ length: 16 }, () => service.statement(readOnly, [])));
  await expect(write(database)).rejects.toMatchObject({ code: '25006' });
  await writeMany(database);
});

test('gives up requests and connections of a machine that vanished without a sign', async () => {
  const [primary, standby] = nodes;
  const requests = createRequestPool({
    finder: createOwnerFinder(urlOf(primary, standby)),
    login: requestConnection(db.url),
    log: createLog('silent'),
    // At 20 ticks the watch closes the busy connection alone, so the check before needs time on a busy machine.
    tickMs: 100,
  });
  cleanUp.push(() => requests.end());
  const [busy, idle] = await Promise.all([requests.pool.connect(), requests.pool.connect()]);
  requests.release(idle, false);
  primary.vanish();
  await expect(busy.query('select 1')).rejects.toSatisfy((error) => statusOf(error) === 503);
  requests.release(busy, false);
  // The pool closes the idle connection as well.
  await expect.poll(() => requests.pool.totalCount).toBe(0);
  standby.isStandby = false;
  const reads = async () => (await requests.pool.query<{ n: number }>('select 1 as n')).rows;
  await expect.poll(() => reads().catch(() => null)).toEqual([{ n: 1 }]);
});

describe('a primary whose machine accepts connections and answers nothing', () => {
  let requests: RequestPool;
  beforeEach(async () => {
    const finder = createOwnerFinder(urlOf(...nodes));
    await finder.find();
    requests = createRequestPool({ finder, login: requestConnection(db.url), log: createLog('silent'), tickMs: 100 });
    cleanUp.push(() => requests.end());
  });

  async function hang(node: DatabaseNode): Promise<void> {
    node.vanish();
    node.isSilent = true;
    await node.start();
  }

  /** Promotes the standby once the pool has asked it, and returns the milliseconds until the pool uses it. */
  async function promoteStandby(waiting: Promise<unknown>): Promise<number> {
    const [, standby] = nodes;
    const { opened } = standby;
    await expect.poll(() => standby.opened, { timeout: 5_000 }).toBeGreaterThan(opened);
    standby.isStandby = false;
    const since = performance.now();
    await expect(waiting).rejects.toSatisfy((error) => statusOf(error) === 503);
    const client = await requests.pool.connect();
    expect(client.port).toBe(standby.port);
    requests.release(client, false);
    return performance.now() - since;
  }

  test('is given up by its requests once a standby is promoted', async () => {
    const client = await requests.pool.connect();
    await hang(nodes[0]);
    const waiting = client.query('select 1').finally(() => requests.release(client, true));
    expect(await promoteStandby(waiting)).toBeLessThan(FOUND_WITHIN_MS);
  });

  test('is given up by logins that wait once a standby is promoted', async () => {
    await hang(nodes[0]);
    expect(await promoteStandby(requests.pool.connect())).toBeLessThan(FOUND_WITHIN_MS);
  });

  test('is not given up while no other server accepts writes, nor when it answers', async () => {
    const [primary, standby] = nodes;
    const finder = createOwnerFinder(urlOf(primary, standby));
    standby.isStandby = false;
    expect(await finder.isReplaced(primary)).toBe(false);
    standby.isStandby = true;
    await hang(primary);
    expect(await finder.isReplaced(primary)).toBe(false);
    standby.isStandby = false;
    expect(await finder.isReplaced(primary)).toBe(true);
    expect(await createOwnerFinder(urlOf(primary)).isReplaced(primary)).toBe(false);
  });
});

test('gives up a request whose connection is silent although the machine answers', async () => {
  const requests = createRequestPool({
    finder: createOwnerFinder(urlOf(nodes[0])),
    login: requestConnection(db.url),
    log: createLog('silent'),
    tickMs: 20,
  });
  cleanUp.push(() => requests.end());
  const client = await requests.pool.connect();
  nodes[0].vanish();
  await nodes[0].start();
  await expect(client.query('select 1')).rejects.toSatisfy((error) => statusOf(error) === 503);
  requests.release(client, false);
});

test('closes although a statement is never answered', async () => {
  const requests = createRequestPool({
    finder: createOwnerFinder(urlOf(nodes[0])),
    login: requestConnection(db.url),
    log: createLog('silent'),
    // The watch for silent connections must not close the connection before `closeLimitMs` is over.
    tickMs: 60_000,
    closeLimitMs: 100,
  });
  const client = await requests.pool.connect();
  nodes[0].vanish();
  await nodes[0].start();
  const answer = client.query('select 1').finally(() => requests.release(client, false));
  await Promise.all([expect(answer).rejects.toSatisfy((error) => statusOf(error) === 503), requests.end()]);
});
