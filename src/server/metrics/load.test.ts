import { expect, test } from 'vitest';
import { createLimiters } from '../load/limiters.ts';
import { createRequestContext } from '../load/request-context.ts';
import { registerLoad } from './load.ts';
import { Registry } from './prom-client.ts';

test('writes what is used, queued and refused of each limit, and does not accumulate between scrapes', async () => {
  const limiters = createLimiters();
  const registry = new Registry();
  registerLoad(registry, limiters);
  const limiter = limiters.createLimiter('find', { maxRunning: 1, maxQueued: 1 });
  const streams = limiters.createQuota('streams', 2);
  limiters.createCounter('slow_clients').add();
  limiter.tryAcquire(createRequestContext('one'));
  void limiter.acquire(createRequestContext('one'));
  await expect(limiter.acquire(createRequestContext('one'))).rejects.toThrow('Too much at once');
  expect([streams.take('one'), streams.take('one')]).toEqual([true, false]);
  await registry.metrics();
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'hustle_forge_limit_used{limit="find"} 1',
      'hustle_forge_limit_used{limit="streams"} 1',
      'hustle_forge_limit_queued{limit="find"} 1',
      'hustle_forge_refused_total{limit="find",reason="queue_full"} 1',
      'hustle_forge_refused_total{limit="find",reason="timeout"} 0',
      'hustle_forge_refused_total{limit="streams",reason="full"} 1',
      'hustle_forge_refused_total{limit="streams",reason="displaced"} 0',
      'hustle_forge_refused_total{limit="slow_clients",reason="slow"} 1',
    ]),
  );
});
