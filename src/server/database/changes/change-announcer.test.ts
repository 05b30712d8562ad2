/** Tests which reports of a connection are announced, and how many at once. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { createChangeAnnouncer } from './change-announcer.ts';
import { REPORT_SQLSTATE } from './change-listener.ts';

function createWorld() {
  const announced: string[] = [];
  let isReachable = true;
  const announcer = createChangeAnnouncer({
    async notify(payloads) {
      if (!isReachable) throw new Error('unreachable');
      announced.push(...payloads.flatMap((payload) => payload.split('\n')));
    },
    log: createLog('silent'),
  });
  const connect = () => {
    const client = new EventEmitter() as unknown as pg.ClientBase;
    announcer.watch(client);
    const report = (message: string, code = REPORT_SQLSTATE) =>
      (client as unknown as EventEmitter).emit('notice', { code, message });
    return { client, report };
  };
  return { announcer, announced, connect, setReachable: (next: boolean) => (isReachable = next) };
}

const changesOf = (userId: string, times: number): string[] =>
  Array.from({ length: times }, (_, index) => `${userId} 2026-11-22 row ${index + 1}`);

test('announces the reports of a committed transaction, and of a transaction with unknown outcome', async () => {
  const { announcer, announced, connect } = createWorld();
  const [one, two] = [connect(), connect()];
  one.report('ada 2026-11-22 row 1');
  one.report('a notice of a function', '00000');
  two.report('bob 2026-11-22 row 1');
  announcer.settle(one.client, 'committed');
  announcer.settle(two.client, 'unknown');
  await announcer.close();
  expect(announced).toEqual(['ada 2026-11-22 row 1', 'bob 2026-11-22 row 1']);
});

test('drops the reports of a rolled-back transaction when the next one of its connection commits', async () => {
  const { announcer, announced, connect } = createWorld();
  const { client, report } = connect();
  report('ada 2026-11-22 row 1');
  announcer.settle(client, 'rolled back');
  report('ada 2026-11-22 row 2');
  announcer.settle(client, 'committed');
  announcer.settle(client, 'committed');
  await announcer.close();
  expect(announced).toEqual(['ada 2026-11-22 row 2']);
});

test('announces the id of a user instead of thousands of changes of this user', async () => {
  const { announcer, announced, connect } = createWorld();
  const { client, report } = connect();
  const [ada, bob] = [randomUUID(), randomUUID()];
  for (const change of [...changesOf(ada, 5_000), ...changesOf(bob, 1)]) report(change);
  announcer.settle(client, 'committed');
  for (const change of changesOf(bob, 2)) report(change);
  announcer.settle(client, 'committed');
  await announcer.close();
  expect(announced).toEqual([ada, bob, ...changesOf(bob, 2)]);
});

test('announces `*` after an outage in which more than a thousand users changed days', async () => {
  const { announcer, announced, connect, setReachable } = createWorld();
  const { client, report } = connect();
  setReachable(false);
  for (let index = 0; index < 1_001; index += 1) report(`${randomUUID()} 2026-11-22 row 1`);
  announcer.settle(client, 'committed');
  await announcer.close();
  expect(announced).toEqual([]);
  setReachable(true);
  await announcer.close();
  expect(announced).toEqual(['*']);
});

test('closes although the database never answers', async () => {
  const announcer = createChangeAnnouncer({
    notify: () => new Promise(() => undefined),
    log: createLog('silent'),
    closeLimitMs: 10,
  });
  announcer.announceAny();
  await announcer.close();
});
