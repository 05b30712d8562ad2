/**
 * The server ends while the coach is in the middle of a sentence. By kill -9 nothing of it is kept, and after the lease the
 * next one follows; by SIGTERM it is finished where that is soon, or its reader is told.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach.ts';
import { PUBLISHABLE_KEY } from '#server/config.ts';
import { freePort } from '#server/free-port.ts';
import { startModelServer } from '../../simulators/ai-model/server.ts';
import type { ModelServer } from '../../simulators/ai-model/server.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'server', 'main.ts');
const TODAY = new Date().toISOString().slice(0, 10);
const BEFORE = 'What was said before.';

let db: TestDatabase;
let model: ModelServer;
let dataDir: string;
let url: string;
let env: Record<string, string | undefined>;
let processes: ChildProcess[];

beforeEach(async () => {
  const port = await freePort();
  url = `http://localhost:${port}`;
  [db, model] = await Promise.all([createTestDatabase(), startModelServer()]);
  dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-coach-'));
  env = {
    ...{ PATH: process.env['PATH'], PORT: String(port), PUBLIC_URL: url, DATA_DIR: dataDir, DATABASE_URL: db.url },
    ...{ SANDBOX: 'off', AUTH_RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', ...model.settingsFor('google') },
  };
  processes = [];
});
afterEach(async () => {
  await Promise.all(processes.map(kill));
  await Promise.all([db.drop(), model.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill('SIGKILL');
  await gone;
}

async function start(): Promise<ChildProcess> {
  const server = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(server);
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith('Hustle Forge is ready')) return server;
  }
  throw new Error('the server never said that it is ready');
}

/** A Closer who has agreed, with a log of today and a feedback on what stood there before. Answers how they ask. */
async function signUp(): Promise<() => Promise<Response>> {
  const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ email: 'ada@example.com', password: 'correct horse' });
  const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body });
  const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
  await db.admin.query("update profiles set subscription_plan = 'premium', ai_consent = true where id = $1", [user.id]);
  await db.admin.query(
    `insert into entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
     values ($1, $2, '<p>Shipped the importer to 40 customers</p>', $3, 4, now() - interval '1 hour')`,
    [user.id, TODAY, BEFORE],
  );
  return () =>
    fetch(`${url}/functions/v1/ai-feedback`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: JSON.stringify({ date: TODAY }),
    });
}

async function kept(): Promise<unknown> {
  const { rows } = await db.admin.query(`
    select ai_feedback as feedback, hustle_score as score, ai_analyzed_at < updated_at as outdated,
           (select count(*)::int from analyses) as analyses, (select count(*)::int from plan_uses) as uses
      from entries`);
  return rows[0];
}

test('the feedback of before is still there, and the day is free again when the lease has ended', async () => {
  const server = await start();
  const ask = await signUp();
  const before = await kept();
  expect(before).toEqual({ feedback: BEFORE, score: 4, outdated: true, analyses: 0, uses: 0 });

  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text().then(
    () => 'whole',
    () => 'broken off',
  );
  await model.control.whenHeld();
  await kill(server);
  expect(await heard).toBe('broken off');
  await model.control.whenLeft();
  expect(await kept()).toEqual(before);

  await start();
  const refused = await ask();
  expect([refused.status, await refused.json()]).toEqual([
    409,
    { success: false, code: 'running', error: AI_MESSAGES.running },
  ]);
  const { rowCount } = await db.admin.query('update analysis_runs set lease_until = now() where lease_until > now()');
  expect(rowCount).toBe(1);
  expect(await (await ask()).text()).toContain('event: done');
  expect(await kept()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});

async function claimsHeld(): Promise<number> {
  const { rowCount } = await db.admin.query('select from analysis_runs where lease_until > now()');
  return rowCount!;
}

test('SIGTERM ends an analysis that would take too long, and says so to its reader', async () => {
  const server = await start();
  const ask = await signUp();
  const before = await kept();
  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text();
  await model.control.whenHeld();
  const gone = once(server, 'exit');
  const toldAt = performance.now();
  server.kill('SIGTERM');

  expect(await heard).toMatch(
    new RegExp(`event: problem\\ndata: {"class":"network","message":"${ANALYSIS_PROBLEMS.network}".*}\\n\\n$`),
  );
  await model.control.whenLeft();
  expect(await gone).toEqual([0, null]);
  // Docker kills after ten seconds.
  expect(performance.now() - toldAt).toBeLessThan(9_500);
  expect([await kept(), await claimsHeld()]).toEqual([before, 0]);

  await start();
  expect(await (await ask()).text()).toContain('event: done');
});

test('SIGTERM waits for an analysis that is finished soon', async () => {
  const server = await start();
  const ask = await signUp();
  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text();
  await model.control.whenHeld();
  const gone = once(server, 'exit');
  server.kill('SIGTERM');
  await expect
    .poll(() =>
      fetch(`${url}/healthz`).then(
        () => 'open',
        () => 'closed',
      ),
    )
    .toBe('closed');
  model.control.release();
  expect(await heard).toContain('event: done');
  expect(await gone).toEqual([0, null]);
  expect(await kept()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});
