/** Runs the alerts, their unit tests and every query of the dashboard through Debian's Prometheus and a real server. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupName } from '#server/backup/folder.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { request, signUp, today } from '../api/data/fixture.ts';
import { startTestServer, type TestServer } from '../support/start-server.ts';
import { ALERT_TEST_FILES, ALERTS_FILE, deployPath, queriesOf, readAlerts, readDashboard } from './deploy-files.ts';

let server: TestServer;
let prometheus: ChildProcess;
let url: string;
let folder: string;

beforeAll(async () => {
  server = await startTestServer({ jobs: 'on' });
  const person = await signUp(server, 'deploy');
  const row = { user_id: person.id, date: today(), content: '<p>one</p>' };
  await request(server, person, 'POST', '/rest/v1/entries', { body: row });
  const backupDir = server.config.backup.dir;
  await mkdir(backupDir);
  await writeFile(join(backupDir, backupName(new Date(), true)), '');
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-prometheus-'));
  await copyFile(ALERTS_FILE, join(folder, 'alerts.yaml'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const job = { job_name: 'hustle-forge', static_configs: [{ targets: [new URL(server.url).host] }] };
  const global = { scrape_interval: '2s', evaluation_interval: '2s' };
  // JSON is YAML.
  const config = JSON.stringify({ global, rule_files: ['alerts.yaml'], scrape_configs: [job] });
  await writeFile(join(folder, 'prometheus.yaml'), config);
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
});
afterAll(async () => {
  const exited = once(prometheus, 'exit');
  prometheus.kill();
  await exited;
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const promtool = (...args: string[]): string => execFileSync('promtool', args, { encoding: 'utf8' });

type QueryAnswer = { status: string; error?: string; data: { result: { value: [number, string] }[] } };
async function query(expr: string): Promise<QueryAnswer> {
  const body = new URLSearchParams({ query: expr });
  const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body }).catch(() => null);
  return response === null ? { status: 'not started', data: { result: [] } } : ((await response.json()) as QueryAnswer);
}

test('promtool accepts the configuration and the alerts', () => {
  expect(promtool('check', 'config', deployPath('prometheus', 'prometheus.yaml'))).toContain('SUCCESS');
  expect(promtool('check', 'rules', ALERTS_FILE)).toContain(`${readAlerts().length} rules found`);
});

test.each(ALERT_TEST_FILES)('the unit tests of %s pass', (file) => {
  expect(promtool('test', 'rules', file)).toContain('SUCCESS');
});

test('Prometheus evaluates every query of the dashboard on a scraped server', { timeout: 120_000 }, async () => {
  const scrapes = async () => (await query('sum_over_time(up{job="hustle-forge"}[1m])')).data.result[0]?.value[1];
  await expect.poll(async () => Number(await scrapes()), { timeout: 50_000 }).toBeGreaterThan(3);
  // The figures of the database are read every 15 s.
  const jobs = async () => (await query('hustle_forge_job_last_success_timestamp_seconds')).data.result.length;
  await expect.poll(jobs, { timeout: 40_000 }).toBeGreaterThan(0);
  const empty: string[] = [];
  for (const template of queriesOf(readDashboard())) {
    const expr = template
      .replaceAll('$job', 'hustle-forge')
      .replaceAll('$instance', '.*')
      .replaceAll('$__rate_interval', '1m');
    const { status, error, data } = await query(expr);
    expect([expr, status, error]).toEqual([expr, 'success', undefined]);
    if (data.result.length === 0) empty.push(expr);
  }
  // Only these queries may be empty: a counter appears with its first event, and the server's queued jobs are done.
  for (const expr of empty)
    expect(expr).toMatch(
      /_total|analysis_seconds|webhook|hustle_forge_payments|hustle_forge_jobs|job_oldest|GET|token/,
    );
});

test('no alert of a healthy server is pending after its first scrapes', async () => {
  const response = await fetch(`${url}/api/v1/rules`);
  const { data } = (await response.json()) as {
    data: { groups: { rules: { name: string; health: string; lastError?: string; alerts: unknown[] }[] }[] };
  };
  const rules = data.groups.flatMap((group) => group.rules);
  expect(rules).toHaveLength(readAlerts().length);
  for (const { name, health, lastError, alerts } of rules)
    expect([name, health, lastError, alerts]).toEqual([name, 'ok', undefined, []]);
});
