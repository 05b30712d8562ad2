/**
 * The server ends while the coach is in the middle of a sentence. By kill -9 nothing of it is kept, and after the lease the
 * next one follows; by SIGTERM it is finished where that is soon, or its reader is told.
 */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { freePort } from '#server/free-port.ts';
import { startModelServer } from '../../simulators/ai-model/server.ts';
import type { ModelServer } from '../../simulators/ai-model/server.ts';
import { createServerProcess, signUpAt } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { waitUntilClosed } from './app-process.ts';

const TODAY = new Date().toISOString().slice(0, 10);
const BEFORE = 'What was said before.';

let server: ServerProcess;
let model: ModelServer;

beforeEach(async () => {
  model = await startModelServer();
  server = await createServerProcess(await freePort(), model.settingsFor('google'));
});
afterEach(async () => {
  await server.close();
  await model.close();
});

/** A Closer who has agreed, with a log of today and a feedback on what stood there before. Answers how they ask. */
async function signUp(): Promise<() => Promise<Response>> {
  const { userId, headers } = await signUpAt(server.url);
  const { admin } = server.db;
  await admin.query("update profiles set subscription_plan = 'premium', ai_consent = true where id = $1", [userId]);
  await admin.query(
    `insert into entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
     values ($1, $2, '<p>Shipped the importer to 40 customers</p>', $3, 4, now() - interval '1 hour')`,
    [userId, TODAY, BEFORE],
  );
  const body = JSON.stringify({ date: TODAY });
  return () => fetch(`${server.url}/functions/v1/ai-feedback`, { method: 'POST', headers, body });
}

async function kept(): Promise<unknown> {
  const { rows } = await server.db.admin.query(`
    select ai_feedback as feedback, hustle_score as score, ai_analyzed_at < updated_at as outdated,
           (select count(*)::int from analyses) as analyses, (select count(*)::int from plan_uses) as uses
      from entries`);
  return rows[0];
}

test('the feedback of before is still there, and the day is free again when the lease has ended', async () => {
  await server.start();
  const ask = await signUp();
  const before = await kept();
  expect(before).toEqual({ feedback: BEFORE, score: 4, outdated: true, analyses: 0, uses: 0 });

  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text().then(
    () => 'whole',
    () => 'broken off',
  );
  await model.control.whenHeld();
  await server.kill();
  expect(await heard).toBe('broken off');
  await model.control.whenDisconnected();
  expect(await kept()).toEqual(before);

  await server.start();
  const refused = await ask();
  expect([refused.status, await refused.json()]).toEqual([
    409,
    { success: false, code: 'running', error: AI_MESSAGES.running },
  ]);
  const { rowCount } = await server.db.admin.query(
    'update analysis_runs set lease_until = now() where lease_until > now()',
  );
  expect(rowCount).toBe(1);
  expect(await (await ask()).text()).toContain('event: done');
  expect(await kept()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});

async function claimsHeld(): Promise<number> {
  const { rowCount } = await server.db.admin.query('select from analysis_runs where lease_until > now()');
  return rowCount!;
}

test('SIGTERM ends an analysis that would take too long, and says so to its reader', async () => {
  const program = await server.start();
  const ask = await signUp();
  const before = await kept();
  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text();
  await model.control.whenHeld();
  const gone = once(program, 'exit');
  const toldAt = performance.now();
  program.kill('SIGTERM');

  expect(await heard).toMatch(
    new RegExp(`event: problem\\ndata: {"class":"network","message":"${ANALYSIS_PROBLEMS.network}".*}\\n\\n$`),
  );
  await model.control.whenDisconnected();
  expect(await gone).toEqual([0, null]);
  // Docker kills after ten seconds.
  expect(performance.now() - toldAt).toBeLessThan(9_500);
  expect([await kept(), await claimsHeld()]).toEqual([before, 0]);

  await server.start();
  expect(await (await ask()).text()).toContain('event: done');
});

test('SIGTERM waits for an analysis that is finished soon', async () => {
  const program = await server.start();
  const ask = await signUp();
  model.control.fail({ hold: 'after', after: 3 });
  const heard = (await ask()).text();
  await model.control.whenHeld();
  const gone = once(program, 'exit');
  program.kill('SIGTERM');
  await waitUntilClosed(server.url);
  model.control.release();
  expect(await heard).toContain('event: done');
  expect(await gone).toEqual([0, null]);
  expect(await kept()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});
