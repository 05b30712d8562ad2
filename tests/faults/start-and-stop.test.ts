/** `npm start` leaves no process behind, even after kill -9. On SIGTERM it finishes saves in flight first. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import { signUpAt } from './server-process.ts';
import { startProgram, findRunning, waitUntilClosed } from './app-process.ts';
import type { StartedProgram } from './app-process.ts';

let dataDir = '';
let program: StartedProgram | null = null;

beforeAll(buildClient, 120_000);
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hustle-forge-start-'));
});
afterEach(async () => {
  program?.script.kill('SIGTERM');
  await program?.ended;
  program = null;
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (): Promise<StartedProgram> => (program = await startProgram(dataDir));
const findChildPid = ({ script, processes }: StartedProgram): number =>
  processes.find(({ parent }) => parent === script.pid)!.pid;

test('SIGTERM stops the server, the simulators and the database', async () => {
  const started = await start();
  const names = started.processes.map(({ command }) => /start\.ts|simulators|bin\/postgres/.exec(command)?.[0]);
  expect(names).toEqual(expect.arrayContaining(['start.ts', 'simulators', 'bin/postgres']));
  started.script.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  await expect.poll(() => findRunning(started.processes)).toEqual([]);
});

test.each([
  ['the server', findChildPid],
  ['the start script', ({ script }: StartedProgram) => script.pid!],
])('kill -9 of %s leaves no process behind', async (_name, getPid) => {
  const started = await start();
  process.kill(getPid(started), 'SIGKILL');
  await started.ended;
  await expect.poll(() => findRunning(started.processes), { timeout: 30_000 }).toEqual([]);
});

test('a save in flight at SIGTERM completes and is stored', async () => {
  const { url, script, ended } = await start();
  const { userId, headers } = await signUpAt(url);
  const content = '<p>Finished before the lights went out</p>';
  const body = JSON.stringify({ user_id: userId, date: dayOf(new Date()), content });
  const save = request(`${url}/rest/v1/entries`, {
    method: 'POST',
    // The server answers 100 when it has accepted the request, so the test needs no timing assumption.
    headers: { ...headers, expect: '100-continue', 'content-length': Buffer.byteLength(body) },
  });
  const saved = once(save, 'response') as Promise<[IncomingMessage]>;
  save.flushHeaders();
  await once(save, 'continue');
  save.write(body.slice(0, 10));
  script.kill('SIGTERM');
  await waitUntilClosed(url);
  save.end(body.slice(10));
  const [answer] = await saved;
  expect(answer.statusCode).toBe(201);
  answer.resume();
  expect(await ended).toBe(0);

  const again = await start();
  const entries = await fetch(`${again.url}/rest/v1/entries?select=content_text`, { headers });
  expect(await entries.json()).toEqual([
    { content_text: expect.stringContaining('Finished before the lights went out') },
  ]);
});
