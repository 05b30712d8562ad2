/** Tests what the files of `deploy` say about one another; `npm run check:deploy` runs them through their own tools. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
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

test('the service reads the age of the backups in the folder where the timer makes them', () => {
  const folders = ['hustle-forge.service', 'hustle-forge-backup.service'].map(
    (name) => /^Environment=.*\bBACKUP_DIR=(\S+)/m.exec(readFileSync(deployPath('systemd', name), 'utf8'))?.[1],
  );
  expect(folders).toEqual(['/var/backups/hustle-forge', '/var/backups/hustle-forge']);
});
