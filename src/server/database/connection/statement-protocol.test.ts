import { expect, test } from 'vitest';

import { createLog } from '#server/log.ts';

import { StatementProtocol } from './statement-protocol.ts';

const STALE = { code: '0A000', routine: 'RevalidateCachedQuery' };
const protocol = (isPooled: boolean) =>
  new StatementProtocol({ names: 'named', canPipeline: true, isPooled, log: createLog('silent') });

test('sends another text after DDL, once for all requests that failed together', () => {
  const statements = protocol(true);
  const sent = statements.textOf('select 1');
  expect(statements.adaptToError(STALE, sent)).toBe(true);
  const second = statements.textOf('select 1');
  expect(second).not.toBe(sent);
  expect(statements.adaptToError(STALE, sent)).toBe(true);
  expect(statements.textOf('select 1')).toBe(second);
  expect(statements.adaptToError(STALE, second)).toBe(true);
  expect([sent, second]).not.toContain(statements.textOf('select 1'));
  expect(statements.names).toBe('named');
});

test('repeats no statement after an error that is not about a prepared statement', () => {
  const statements = protocol(true);
  expect(statements.adaptToError({ code: '0A000', routine: 'transformFrameOffset' }, 'select 1')).toBe(false);
  expect(statements.adaptToError({ code: '23505' }, 'select 1')).toBe(false);
  expect(statements.textOf('select 1')).toBe('select 1');
});

test.each(['26000', '42P05'])('sends no named statements through a pooler after %s', (code) => {
  const [pooled, direct] = [protocol(true), protocol(false)];
  expect([pooled, direct].map((each) => each.adaptToError({ code }, 'select 1'))).toEqual([true, true]);
  expect([pooled.names, direct.names]).toEqual(['unnamed', 'named']);
});

test('pipelines no unnamed statements, and none after the answer of another query', () => {
  const [mixed, stopped] = [protocol(true), protocol(false)];
  expect(mixed.canPipeline).toBe(true);
  mixed.adaptToError({ code: '26000' }, 'select 1');
  stopped.stopPipelining();
  expect([mixed.canPipeline, stopped.canPipeline]).toEqual([false, false]);
});
