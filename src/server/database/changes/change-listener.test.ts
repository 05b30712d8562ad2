/** The connection for LISTEN: when it reports that changes may have been missed. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '#server/log.ts';
import { setUpTestDatabase } from '../../../../tests/support/set-up.ts';
import { requestConnection } from '../roles.ts';
import { LISTENER_NAME, listenToChanges } from './change-listener.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** Listens like a server, with many checks a second. */
function startServer(connect: () => Promise<pg.Client>) {
  const heard = { gaps: 0, users: [] as string[], dates: [] as string[] };
  const stop = listenToChanges({
    connect,
    log: createLog('silent'),
    listener: {
      onChange: ({ date }) => heard.dates.push(date),
      onGap: (userId) => (userId === null ? (heard.gaps += 1) : heard.users.push(userId)),
    },
    checkIntervalMs: 5,
  });
  stops.push(stop);
  return heard;
}

describe('with a stubbed connection', () => {
  /** @param listeners the answer to each check; the last answer repeats */
  function stubConnections(listeners: string[][]) {
    const state = { connections: 0, checks: 0, current: new EventEmitter() };
    const connect = async (): Promise<pg.Client> => {
      state.connections += 1;
      state.current = new EventEmitter();
      const query = async (text: string) => {
        if (text.startsWith('listen')) return { rows: [] };
        state.checks += 1;
        const names = listeners[Math.min(state.checks, listeners.length) - 1]!;
        return { rows: names.map((listener) => ({ listener })) };
      };
      return Object.assign(state.current, { query, end: async () => undefined }) as unknown as pg.Client;
    };
    return { state, connect };
  }

  test('reports a gap for each new connection', async () => {
    const { state, connect } = stubConnections([['own']]);
    const heard = startServer(connect);
    await expect.poll(() => heard.gaps).toBe(1);
    state.current.emit('end');
    await expect.poll(() => state.connections).toBe(2);
    await expect.poll(() => heard.gaps).toBe(2);
  });

  test('reports one gap for a server that has gone, at the second check without it', async () => {
    const { state, connect } = stubConnections([
      ['own', 'other'],
      ['own', 'other'],
      ['own'],
      ['own', 'new'],
      ['own', 'new'],
    ]);
    const gapsByCheck = new Map<number, number>();
    const heard = startServer(async () => {
      const client = await connect();
      const { query } = client;
      client.query = (async (text: string) => {
        gapsByCheck.set(state.checks, heard.gaps);
        return query(text);
      }) as typeof query;
      return client;
    });
    await expect.poll(() => state.checks).toBeGreaterThan(8);
    // The number of gaps before the checks 2 to 8. Check 3 is the first without the server, and check 4 reports the
    // gap.
    expect([...gapsByCheck.values()].slice(1, 8)).toEqual([1, 1, 1, 2, 2, 2, 2]);
    expect(state.connections).toBe(1);
  });

  test('reports changes and gaps of an announcement, and ignores lines of a newer release', async () => {
    const { state, connect } = stubConnections([['own']]);
    const heard = startServer(connect);
    await expect.poll(() => state.checks).toBeGreaterThan(0);
    const user = randomUUID();
    const payload = `ada 2026-11-22 row 3\nada 2026-11-21 row\n?\nada 2026-11-20 row 3 more\n*\n${user}`;
    state.current.emit('notification', { payload });
    expect(heard).toEqual({ gaps: 2, users: [user], dates: ['2026-11-22', '2026-11-21'] });
  });
});

describe('with a database', () => {
  const db = setUpTestDatabase();

  test('reports a gap if another server is killed', async () => {
    const connections: pg.Client[] = [];
    let mayConnect = true;
    const connect = async (): Promise<pg.Client> => {
      if (!mayConnect) throw new Error('unreachable');
      const client = new pg.Client({ ...requestConnection(db.url), application_name: LISTENER_NAME });
      client.on('error', () => undefined);
      connections.push(client);
      await client.connect();
      return client;
    };
    const survivor = startServer(connect);
    await expect.poll(() => survivor.gaps).toBe(1);
    const killed = startServer(connect);
    await expect.poll(() => killed.gaps).toBe(1);
    const checks = vi.spyOn(connections[0]!, 'query');
    await expect.poll(() => checks.mock.calls.length).toBeGreaterThan(2);
    mayConnect = false;
    await connections[1]!.end();
    await expect.poll(() => survivor.gaps).toBe(2);
    expect(connections).toHaveLength(2);
  });
});
