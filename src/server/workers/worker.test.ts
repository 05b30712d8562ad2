import cluster from 'node:cluster';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programEnvironment } from '../../../tests/support/product.ts';
import { unreachableUrl } from '../../../tests/support/commands/doctor-checks.ts';
import type { ToWorker } from './supervisor.ts';

test.each(['drain', 'stop'] as const)(
  'a worker that gets "%s" while it starts ends and serves nothing',
  async (type) => {
    cluster.setupPrimary({ exec: join(import.meta.dirname, 'worker.ts'), args: [], execArgv: [] });
    // A worker that goes on with its start fails with code 1, because nothing listens at this address.
    const { host } = new URL(await unreachableUrl());
    const env = { DATABASE_URL: `postgres://forge:x@${host}/forge`, SANDBOX: 'off', LOG_LEVEL: 'fatal' };
    const worker = cluster.fork({ ...programEnvironment(), ...env });
    const exit = new Promise((resolve) => worker.once('exit', (code, signal) => resolve(signal || code)));
    worker.send({ type: 'start', slot: 1 } satisfies ToWorker);
    worker.send({ type } satisfies ToWorker);
    expect(await exit).toBe(0);
  },
);
