/** Tests what the files of `deploy` say about one another; `npm run check:deploy` runs them through their own tools. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  IMMEDIATE_STOP_LIMIT_MS,
  STOP_LIMIT_MS as DATABASE_STOP_LIMIT_MS,
} from '#server/database/embedded/supervisor.ts';
import { STOP_LIMIT_MS as WORKER_STOP_LIMIT_MS } from '#server/workers/supervisor.ts';
import { SERVER_ENVIRONMENT, SERVER_NODE_FLAGS } from '../../scripts/setup/node-flags.mjs';
import { deployPath, queriesOf, readAlerts, readAlertTests, readDashboard } from '../deploy/deploy-files.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const alerts = readAlerts();

test('each alert has a unit test in which it fires and one in which it stays silent', () => {
  const tests = readAlertTests();
  expect([...tests.keys()].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  for (const [alert, expectations] of tests) expect([alert, new Set(expectations).size]).toEqual([alert, 2]);
});

test('each alert leads to a section of the runbooks', () => {
  for (const { alert, annotations } of alerts) {
    const [file = '', anchor] = annotations.runbook.split('#');
    const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^## (.+)$/gm);
    const anchors = [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(anchors, alert).toContain(anchor);
  }
});

test('the panels of the dashboard have ids of their own, and queries', () => {
  const { panels, uid } = readDashboard();
  expect(uid).toBe('hustle-forge');
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, type, targets = [] } of panels)
    expect([title, targets.length > 0]).toEqual([title, type !== 'row']);
  for (const query of queriesOf(readDashboard())) expect(query).toContain('job="$job",instance=~"$instance"');
});

test('the kustomization lists every manifest', () => {
  const folder = deployPath('kubernetes');
  const { resources } = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
  expect(resources.toSorted()).toEqual(
    readdirSync(folder)
      .filter((name) => name !== 'kustomization.yaml')
      .toSorted(),
  );
});

test('the systemd units and the manifests start files that exist', () => {
  const files = ['systemd/hustle-forge.service', 'systemd/hustle-forge-backup.service', 'kubernetes/backup.yaml'];
  for (const file of files) {
    const [program] = /src\/server\/[\w/-]+\.ts/.exec(readFileSync(deployPath(file), 'utf8')) ?? [];
    expect([file, existsSync(join(ROOT, program ?? 'nothing'))]).toEqual([file, true]);
  }
});

test('every platform waits until the program has stopped before it kills it', () => {
  const seconds = (file: string, pattern: RegExp): number =>
    Number(pattern.exec(readFileSync(deployPath(file), 'utf8'))?.[1]);
  // The manifests and compose.yaml use no embedded database.
  const workers = WORKER_STOP_LIMIT_MS / 1_000;
  const database = (DATABASE_STOP_LIMIT_MS + IMMEDIATE_STOP_LIMIT_MS) / 1_000;
  const service = seconds('systemd/hustle-forge.service', /^TimeoutStopSec=(\d+)s$/m);
  expect(service).toBeGreaterThan(workers + database);
  const preStop = seconds('kubernetes/deployment.yaml', /command: \[sleep, '(\d+)'\]/);
  const pod = seconds('kubernetes/deployment.yaml', /terminationGracePeriodSeconds: (\d+)/);
  expect(pod).toBeGreaterThan(preStop + workers);
  expect(seconds('../compose.yaml', /app:[^]*?stop_grace_period: (\d+)s/)).toBeGreaterThan(workers);
});

test('the image and the service start Node with the flags of `npm start`', () => {
  const flags = SERVER_NODE_FLAGS.join(' ');
  const service = readFileSync(deployPath('systemd/hustle-forge.service'), 'utf8');
  expect(service).toContain(`\nExecStart=/usr/bin/node ${flags} src/server/main.ts\n`);
  const image = readFileSync(deployPath('../Dockerfile'), 'utf8');
  const command = JSON.stringify(['node', ...SERVER_NODE_FLAGS, 'src/server/main.ts']).replaceAll(',', ', ');
  expect(image).toContain(`\nCMD ${command}\n`);
  // The compile cache is only valid for the same flags.
  expect(image).toContain(`\nRUN node ${flags} scripts/build/compile-server.ts\n`);
});

test('the image and the service start Node with the environment of `npm start`', () => {
  for (const variable of Object.entries(SERVER_ENVIRONMENT).map((pair) => pair.join('='))) {
    expect(readFileSync(deployPath('systemd/hustle-forge.service'), 'utf8').split(/\s/)).toContain(variable);
    expect(readFileSync(deployPath('../Dockerfile'), 'utf8').split(/\s/)).toContain(variable);
  }
});

type ComposeApp = { env_file: unknown; environment: Record<string, unknown> };
const readComposeApp = (): ComposeApp =>
  (parse(readFileSync(deployPath('../compose.yaml'), 'utf8')) as { services: { app: ComposeApp } }).services.app;

/** The names of the environment variables that a file sets for our program. */
function variablesOf(file: string): string[] {
  const text = readFileSync(deployPath(file), 'utf8');
  if (file.endsWith('.service'))
    return [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
      line!.split(' ').map((variable) => variable.split('=')[0]!),
    );
  if (file.endsWith('Dockerfile')) return [...text.matchAll(/^(?:ENV| {3}) ([A-Z_]+)=/gm)].map(([, name]) => name!);
  if (file.endsWith('compose.yaml')) return Object.keys(readComposeApp().environment);
  const names: string[] = [];
  for (const document of parseAllDocuments(text)) {
    const { kind, data = {} } = document.toJSON() as { kind: string; data?: Record<string, string> };
    if (kind === 'ConfigMap') names.push(...Object.keys(data));
  }
  return [...names, ...[...text.matchAll(/\{ name: ([A-Z_]+), value: /g)].map(([, name]) => name!)];
}

test.each([
  ['../Dockerfile', 'DATA_DIR'],
  ['../compose.yaml', 'DATABASE_URL'],
  ['kubernetes/backup.yaml', 'BACKUP_KEEP'],
  ['kubernetes/config.yaml', 'PUBLIC_URL'],
  ['systemd/hustle-forge.service', 'BACKUP_DIR'],
  ['systemd/hustle-forge-backup.service', 'BACKUP_DIR'],
])('%s sets only variables that .env.example or Node has', (file, one) => {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const known = new Set([...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name));
  for (const name of ['NODE_COMPILE_CACHE', ...Object.keys(SERVER_ENVIRONMENT)]) known.add(name);
  const names = variablesOf(file);
  expect(names).toContain(one);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('the container of the app gets all settings of .env, and none of them undoes the image', () => {
  const { env_file: files, environment } = readComposeApp();
  expect(files).toEqual([{ path: '.env', required: false }]);
  const image = readFileSync(deployPath('../Dockerfile'), 'utf8');
  for (const name of ['NODE_ENV', 'HOST', 'PORT', 'DATA_DIR'])
    expect(image).toContain(`${name}=${String(environment[name])}`);
});

test('the service reads the age of the backups in the folder where the timer makes them', () => {
  const folders = ['hustle-forge.service', 'hustle-forge-backup.service'].map(
    (name) => /^Environment=.*\bBACKUP_DIR=(\S+)/m.exec(readFileSync(deployPath('systemd', name), 'utf8'))?.[1],
  );
  expect(folders).toEqual(['/var/backups/hustle-forge', '/var/backups/hustle-forge']);
});
