/** Tests that `/metrics` counts what the server does, and that no label holds anything personal. */
import { beforeAll, expect, test } from 'vitest';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import { fastPasswords } from '../support/passwords.ts';
import { metricsIn, queriesOf, readAlerts, readDashboard } from '../deploy/deploy-files.ts';
import { readChanges } from '../support/read-changes.ts';
import { startTestServer } from '../support/start-server.ts';
import { setUpWorld } from '../support/set-up.ts';
import { openStream } from './coach/fixture.ts';
import { request, signUp, today, type Person } from './data/fixture.ts';

const server = setUpWorld(() => startTestServer({ jobs: 'on' }));
let ida: Person;

beforeAll(async () => {
  ida = await signUp(server, 'ida-of-the-metrics');
});

const value = async (series: string): Promise<number> => (await readMetrics(server.url)).values.get(series) ?? 0;

test('counts a save under the name of its table', async () => {
  const row = { user_id: ida.id, date: today(), content: '<p>A private line</p>' };
  await ida.client.from('entries').insert(row).throwOnError();
  expect(await value('hustle_forge_request_seconds_count{method="POST",route="/rest/v1/entries",status="201"}')).toBe(
    1,
  );
});

test('an unknown table or function is counted under its pattern, whatever its name is', async () => {
  await request(server, ida, 'GET', '/rest/v1/ida-secret');
  await request(server, ida, 'POST', '/functions/v1/ida-secret');
  const { text } = await readMetrics(server.url);
  expect(text).toContain('route="/rest/v1/:table"');
  expect(text).toContain('route="/functions/v1/*"');
  expect(text).not.toContain('ida');
  expect(text).not.toContain('private');
});

test('counts sign-ins by method and failures by code', async () => {
  const before = await value('hustle_forge_sign_ins_total{method="password"}');
  const address = { email: 'ida-of-the-metrics@example.com' };
  await ida.client.auth.signInWithPassword({ ...address, password: 'correct horse' });
  await ida.client.auth.signInWithPassword({ ...address, password: 'wrong' });
  expect(await value('hustle_forge_sign_ins_total{method="password"}')).toBe(before + 1);
  expect(await value('hustle_forge_auth_errors_total{code="invalid_credentials"}')).toBe(1);
});

test('counts mails', async () => {
  await ida.client.auth.resetPasswordForEmail('ida-of-the-metrics@example.com');
  await expect.poll(() => value('hustle_forge_mails_total{outcome="sent"}')).toBeGreaterThan(0);
  await expect.poll(() => value('hustle_forge_queued{queue="mail"}')).toBe(0);
});

test('counts an analysis with its outcome, and the request to the provider', async () => {
  await server.admin.query(
    `update public.profiles set subscription_plan = 'premium', ai_consent = true where id = $1`,
    [ida.id],
  );
  const { events } = await openStream(server, ida, 'ai-feedback', { date: today() });
  for await (const event of events!) expect(event.event).not.toBe('problem');
  expect(await value('hustle_forge_analysis_seconds_count{kind="feedback",outcome="done"}')).toBe(1);
  expect(await value('hustle_forge_provider_requests_total{provider="model",outcome="2xx"}')).toBeGreaterThan(0);
});

test('shows open streams, and the announcements that they get', async () => {
  const reader = await readChanges(server.url, ida.token);
  await reader.next();
  expect(await value('hustle_forge_event_streams')).toBe(1);
  const before = await value('hustle_forge_live_announcements_total{kind="change"}');
  await ida.client.from('entries').update({ content: '<p>more</p>' }).eq('user_id', ida.id).throwOnError();
  await reader.next();
  expect(await value('hustle_forge_live_announcements_total{kind="change"}')).toBe(before + 1);
  reader.close();
  await expect.poll(() => value('hustle_forge_event_streams')).toBe(0);
});

test('shows the pool, and counts a failed statement by its class', async () => {
  expect(await value('hustle_forge_pool_connections{state="max"}')).toBe(server.database.poolState().max);
  expect(await value('hustle_forge_pool_connections{state="open"}')).toBeGreaterThan(0);
  const before = await value('hustle_forge_database_errors_total{class="23"}');
  const twice = { user_id: ida.id, date: today(), content: '<p>again</p>' };
  await ida.client.from('entries').insert(twice);
  expect(await value('hustle_forge_database_errors_total{class="23"}')).toBe(before + 1);
});

test('reads jobs, payments and migrations from the database', async () => {
  await expect.poll(() => value('hustle_forge_job_runs_total{name="expire-plans",outcome="succeeded"}')).toBe(1);
  await server.admin.query(
    `insert into public.payments (user_id, amount_minor, currency, status) values ($1, 2400, 'USD', 'needs_review')`,
    [ida.id],
  );
  // A new server of the same database has not cached the figures yet, so it reads the row above.
  const other = await startAnotherServer();
  const { values } = await readMetrics(other.url);
  await other.stop();
  expect(values.get('hustle_forge_database_up')).toBe(1);
  expect(values.get('hustle_forge_ready')).toBe(1);
  expect(values.get('hustle_forge_migrations_applied')).toBe((await readMigrations()).length);
  expect(values.get('hustle_forge_payments{status="needs_review"}')).toBe(1);
  expect(values.get('hustle_forge_jobs{name="expire-plans",state="completed"}')).toBe(1);
  const lastSuccess = values.get('hustle_forge_job_last_success_timestamp_seconds{name="expire-plans"}')!;
  expect(Math.abs(lastSuccess - Date.now() / 1000)).toBeLessThan(60);
  expect(values.get('hustle_forge_job_period_seconds{name="expire-plans"}')).toBe(3600);
});

test('has every metric that the dashboard and the alerts query', async () => {
  const { names } = await readMetrics(server.url);
  const queried = [...queriesOf(readDashboard()), ...readAlerts().map(({ expr }) => expr)].flatMap(metricsIn);
  expect(new Set(queried).size).toBeGreaterThan(30);
  expect([...new Set(queried)].filter((name) => !names.has(name))).toEqual([]);
});

async function startAnotherServer() {
  const port = await freePort();
  const config = { ...server.config, port };
  const { clock, database } = server;
  const serving = await serve({ config, database, clock, log: createLog('silent'), passwords: fastPasswords });
  return { url: `http://localhost:${port}`, stop: () => serving.stop() };
}

export type Scrape = {
  readonly text: string;
  /** The keys are whole series as Prometheus writes them, such as `jobs{job="a",state="b"}`. */
  readonly values: ReadonlyMap<string, number>;
  /** The names of all series without labels. A histogram has three: with `_bucket`, `_sum` and `_count`. */
  readonly names: ReadonlySet<string>;
};

export async function readMetrics(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  const text = await response.text();
  const values = new Map<string, number>();
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(name + suffix);
    } else if (line !== '' && !line.startsWith('#')) {
      const space = line.lastIndexOf(' ');
      values.set(line.slice(0, space), Number(line.slice(space + 1)));
    }
  }
  return { text, values, names };
}
