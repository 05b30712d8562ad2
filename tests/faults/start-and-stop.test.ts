/** `npm start` leaves no process behind, even after kill -9. On SIGTERM it finishes saves in flight first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import {
  findChildren,
  signUpAt,
  startProgram,
  findRunning,
  waitUntilClosed,
  type StartedProgram,
} from './processes.ts';

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
// One test, to save a start.
test('SIGTERM finishes a save in flight, the next start reads it with the same session, and kill -9 leaves no process', async () => {
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
  again.script.kill('SIGKILL');
  await again.ended;
  await expect.poll(() => findRunning(again.processes), { timeout: 30_000 }).toEqual([]);
});

test('kill -9 of npm ends the script that npm runs', async () => {
  const lifecycle = join(import.meta.dirname, '..', '..', 'scripts', 'lifecycle', 'exit-with-parent.mjs');
  const script = `(await import(${JSON.stringify(lifecycle)})).exitWithParent(); setInterval(() => {}, 60_000); console.log('ready')`;
  // The shell stands for npm. `wait` keeps it from becoming the script itself.
  const npm = spawn('sh', ['-c', '"$0" --input-type=module -e "$1" & wait', process.execPath, script], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(npm.stdout, 'data');
  const children = findChildren(npm.pid!);
  expect(children).toHaveLength(1);
  npm.kill('SIGKILL');
  await expect.poll(() => findRunning(children), { timeout: 30_000 }).toEqual([]);
});
