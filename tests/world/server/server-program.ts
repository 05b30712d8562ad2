/**
 * Runs the product's server in a process of its own, which a test can kill. While the server handles a request, its
 * clock shows the time in the request's `TIME_HEADER`. Sends the server's port to the parent process once it listens.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { openDatabase } from '#server/database/connect.ts';
import { readConfig } from '#server/config/config.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import { fastPasswords } from '../../support/passwords.ts';
import { TIME_HEADER } from './user-clocks.ts';

const log = createLog('error');
const config = readConfig(process.env);
const requestTime = new AsyncLocalStorage<number>();
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  requestTime.enterWith(Number(request.headers[TIME_HEADER]));
});
const clock = { now: () => new Date(requestTime.getStore() ?? Date.now()) };
process.on('disconnect', () => process.exit());

const database = await openDatabase({ config, log });
const { port } = await serve({ config: { ...config, port: 0 }, database, log, clock, passwords: fastPasswords });
process.send!({ port });
