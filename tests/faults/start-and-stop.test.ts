/** `npm start` leaves no process behind, even after kill -9. On SIGTERM it finishes saves in flight first. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import { signUpAt, startProgram, findRunning, waitUntilClosed, type StartedProgram } from './processes.ts';

/** Shared: a new database takes a third of a start's CPU time, and the first test has one. */
let dataDir = '';
let program: StartedProgram | null = null;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hustle-forge-start-'));
  await buildClient();
}, 120_000);
afterEach(async () => {
  program?.script.kill('SIGTERM');
  await program?.ended;
  program = null;
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = async (): Promise<StartedProgram> => (program = await startProgram(dataDir));
const findChildPid = ({ script, processes }: StartedProgram): number =>
  processes.find(({ parent }) => parent === script.pid)!.pid;

async function expectNothingLeftAfterKill({ ended, processes }: StartedProgram, pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await ended;
  await expect.poll(() => findRunning(processes), { timeout: 30_000 }).toEqual([]);
}

test('kill -9 of the start script leaves no process behind', async () => {
  const started = await start();
  await expectNothingLeftAfterKill(started, started.script.pid!);
});

// One test, to save a start: it kills the server that has read the save.
test('SIGTERM finishes a save in flight, the next start reads it with the same session, and kill -9 of its server leaves no process', async () => {
  const { url, script, processes, ended } = await start();
  const names = processes.map(({ command }) => /start\.ts|bin\/postgres/.exec(command)?.[0]);
  expect(names).toEqual(expect.arrayContaining(['start.ts', 'bin/postgres']));
  const { userId, headers } = await signUpAt(url);
  const content = '<p>Finished before the lights went out</p>';
  const body = JSON.stringify({ user_id: userId, date: dayOf(new Date()), content });
  const save = request(`${url}/rest/v1/entries`, {
    method: 'POST',
    // Node answers "100 Continue" right before it calls the request listener, which then waits for the body.
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
  await expect.poll(() => findRunning(processes)).toEqual([]);

  const again = await start();
  const entries = await fetch(`${again.url}/rest/v1/entries?select=content_text`, { headers });
  expect(await entries.json()).toEqual([
    { content_text: expect.stringContaining('Finished before the lights went out') },
  ]);
  await expectNothingLeftAfterKill(again, findChildPid(again));
});
