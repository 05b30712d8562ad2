/** Validates the manifests by the schemas of Kubernetes and of the prometheus-operator. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deployPath } from './deploy-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'hustle-forge-manifests-'));
afterAll(() => rmSync(folder, { recursive: true }));

const validate = (file: string) => {
  const program = process.env['KUBECTL_VALIDATE'] ?? 'kubectl-validate';
  const args = [file, '--version', '1.30', '--local-crds', process.env['PROMETHEUS_OPERATOR_CRDS'] ?? ''];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

const manifests = readdirSync(deployPath('kubernetes')).filter((name) => name !== 'kustomization.yaml');

test.each(manifests)('%s fits its schema', (name) => {
  const { status, output } = validate(deployPath('kubernetes', name));
  expect([status, output]).toEqual([0, expect.stringContaining('OK')]);
});

test.each([
  ['deployment.yaml', 'maxUnavailable', 'maxUnavailabel'],
  ['monitoring.yaml', 'scrapeTimeout: 5s', 'scrapeTimeout: soon'],
])('the validator notices a mistake in %s', (name, right, wrong) => {
  const file = join(folder, name);
  writeFileSync(file, readFileSync(deployPath('kubernetes', name), 'utf8').replace(right, wrong));
  expect(validate(file).status).not.toBe(0);
});
