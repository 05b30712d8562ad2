/**
 * The server ends while an analysis streams. After kill -9 nothing is stored, and the day's lock against a second
 * analysis expires. On SIGTERM the analysis finishes within the grace period, or the client gets a problem event.
 */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { startModelServer, type ModelServer } from '../../simulators/ai-model/server.ts';
import { createServerProcess, signUpAt, type ServerProcess, waitUntilClosed } from './processes.ts';

const TODAY = new Date().toISOString().slice(0, 10);
const OLD_FEEDBACK = 'Earlier feedback.';

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

/**
 * Creates an account with the paid plan and consent to analyses. Its log of today has feedback that is older than the
 * text. Returns a function that requests new feedback.
 */
async function signUpCloser(): Promise<() => Promise<Response>> {
  const { userId, headers } = await signUpAt(server.url);
  const { admin } = server.db;
  await admin.query("update profiles set subscription_plan = 'premium', ai_consent = true where id = $1", [userId]);
  await admin.query(
    `insert into entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
     values ($1, $2, '<p>Shipped the importer to 40 customers</p>', $3, 4, now() - interval '1 hour')`,
    [userId, TODAY, OLD_FEEDBACK],
  );
  const body = JSON.stringify({ date: TODAY });
  return () => fetch(`${server.url}/functions/v1/ai-feedback`, { method: 'POST', headers, body });
}

async function readStored(): Promise<unknown> {
  const { rows } = await server.db.admin.query(`
    select ai_feedback as feedback, hustle_score as score, ai_analyzed_at < updated_at as outdated,
           (select count(*)::int from analyses) as analyses, (select count(*)::int from plan_uses) as uses
      from entries`);
  return rows[0];
}

test('kill -9 keeps the earlier feedback and frees the day when the lease expires', async () => {
  await server.start();
  const requestFeedback = await signUpCloser();
  const before = await readStored();
  expect(before).toEqual({ feedback: OLD_FEEDBACK, score: 4, outdated: true, analyses: 0, uses: 0 });

  model.control.fail({ hold: 'after', after: 3 });
  const received = (await requestFeedback()).text().then(
    () => 'complete',
    () => 'aborted',
  );
  await model.control.whenHeld();
  await server.kill();
  expect(await received).toBe('aborted');
  await model.control.whenDisconnected();
  expect(await readStored()).toEqual(before);

  await server.start();
  const refused = await requestFeedback();
  expect([refused.status, await refused.json()]).toEqual([
    409,
    { success: false, code: 'running', error: AI_MESSAGES.running },
  ]);
  const { rowCount } = await server.db.admin.query(
    'update analysis_runs set lease_until = now() where lease_until > now()',
  );
  expect(rowCount).toBe(1);
  expect(await (await requestFeedback()).text()).toContain('event: done');
  expect(await readStored()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});

async function countActiveClaims(): Promise<number> {
  const { rowCount } = await server.db.admin.query('select from analysis_runs where lease_until > now()');
  return rowCount!;
}

test('SIGTERM aborts an analysis after the grace period and sends a problem event', async () => {
  const program = await server.start();
  const requestFeedback = await signUpCloser();
  const before = await readStored();
  model.control.fail({ hold: 'after', after: 3 });
  const received = (await requestFeedback()).text();
  await model.control.whenHeld();
  const exited = once(program, 'exit');
  const signalledAt = performance.now();
  program.kill('SIGTERM');

  expect(await received).toMatch(
    new RegExp(`event: problem\\ndata: {"class":"network","message":"${ANALYSIS_PROBLEMS.network}".*}\\n\\n$`),
  );
  await model.control.whenDisconnected();
  expect(await exited).toEqual([0, null]);
  // Docker sends SIGKILL after ten seconds.
  expect(performance.now() - signalledAt).toBeLessThan(9_500);
  expect([await readStored(), await countActiveClaims()]).toEqual([before, 0]);

  await server.start();
  expect(await (await requestFeedback()).text()).toContain('event: done');
});

test('SIGTERM waits for an analysis that finishes within the grace period', async () => {
  const program = await server.start();
  const requestFeedback = await signUpCloser();
  model.control.fail({ hold: 'after', after: 3 });
  const received = (await requestFeedback()).text();
  await model.control.whenHeld();
  const exited = once(program, 'exit');
  program.kill('SIGTERM');
  await waitUntilClosed(server.url);
  model.control.release();
  expect(await received).toContain('event: done');
  expect(await exited).toEqual([0, null]);
  expect(await readStored()).toMatchObject({ outdated: false, analyses: 1, uses: 1 });
});
