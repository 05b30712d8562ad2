/**
 * Selects the tests of `npm test -- --changed`. Vitest follows the imports of its tests. End-to-end tests test the
 * product over HTTP, so a map from paths to specs selects them. Product code that the map does not name selects all
 * specs.
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './project.ts';

const ALL_SPECS = 'tests/e2e';
const ACCOUNT = [
  'tests/e2e/account/',
  'tests/e2e/routes.spec.ts',
  'tests/e2e/profile.spec.ts',
  'tests/e2e/journal/saving.spec.ts',
];
const BILLING = ['tests/e2e/billing/', 'tests/e2e/journal/plan.spec.ts', 'tests/e2e/profile.spec.ts'];
const COACH = ['tests/e2e/coach/'];
const JOURNAL = ['tests/e2e/journal/', 'tests/e2e/chunk-loading.spec.ts'];
const DEVICES = ['tests/e2e/devices/'];
const SETTINGS = ['tests/e2e/settings', 'tests/e2e/push.spec.ts', 'tests/e2e/journal/look.spec.ts'];
const SERVICE_WORKER = ['tests/e2e/service-worker.spec.ts', 'tests/e2e/push.spec.ts'];
/** A short check that the whole product works together. */
const SMOKE = ['tests/e2e/journal/writing.spec.ts', 'tests/e2e/routes.spec.ts'];

/** A changed file selects the specs of the first row whose `path` is a prefix of the file's path. */
export const SPECS_BY_PATH: readonly (readonly [path: string, specs: readonly string[]])[] = [
  ['tests/e2e/support/', [ALL_SPECS]],
  ['tests/e2e/devices/', DEVICES],
  ['src/cli/', ['tests/e2e/command-line.spec.ts']],
  ['src/client/features/account/', ['tests/e2e/profile.spec.ts', 'tests/e2e/account/', 'tests/e2e/billing/']],
  ['src/client/features/billing/', BILLING],
  ['src/client/features/calendar/', ['tests/e2e/journal/']],
  ['src/client/features/coach/', [...COACH, 'tests/e2e/chunk-loading.spec.ts']],
  ['src/client/features/year/', ['tests/e2e/year.spec.ts']],
  ['src/client/features/find/', ['tests/e2e/journal/', 'tests/e2e/chunk-loading.spec.ts']],
  ['src/client/features/journal/', JOURNAL],
  ['src/client/features/landing/', ['tests/e2e/landing.spec.ts', ...SMOKE]],
  ['src/client/features/legal/', ['tests/e2e/legal.spec.ts']],
  ['src/client/features/settings/', SETTINGS],
  ['src/client/features/sign-in/', ACCOUNT],
  ['src/client/features/versions/', JOURNAL],
  ['src/client/features/wins/', ['tests/e2e/wins.spec.ts']],
  ['src/client/editor/', JOURNAL],
  ['src/client/sync/', [...JOURNAL, ...DEVICES, 'tests/e2e/account/sign-out.spec.ts', 'tests/e2e/settings']],
  ['src/domain/coach/', COACH],
  ['src/domain/export/', SETTINGS],
  ['src/domain/match-search', JOURNAL],
  ['src/domain/log/', [...JOURNAL, 'tests/e2e/settings']],
  ['src/domain/payment/', BILLING],
  ['src/server/auth/', [...ACCOUNT, ...SMOKE]],
  ['src/client/service-worker/', SERVICE_WORKER],
  ['src/client/lib/service-worker-rules', SERVICE_WORKER],
  ['src/server/coach/', COACH],
  ['src/server/data/', [...JOURNAL, ...SMOKE]],
  ['src/server/functions/find-entries.ts', JOURNAL],
  ['src/server/inbound/', ['tests/e2e/reminder.spec.ts']],
  ['src/server/mail/', ['tests/e2e/account/', 'tests/e2e/reminder.spec.ts']],
  ['src/server/payments/', BILLING],
  ['src/server/plans/', BILLING],
  ['src/server/push/', ['tests/e2e/push.spec.ts']],
  ['simulators/ai-model/', COACH],
  ['simulators/mail-client/', ['tests/e2e/reminder.spec.ts']],
  ['simulators/mailbox', ['tests/e2e/account/', 'tests/e2e/reminder.spec.ts']],
  ['simulators/paypal/', BILLING],
  ['simulators/push/', ['tests/e2e/push.spec.ts']],
  ['simulators/slack/', ['tests/e2e/slack.spec.ts']],
  ['tests/support/html-arbitraries.ts', ['tests/e2e/journal/pasting.spec.ts']],
];

/** The running product, and how it is built, started and tested. A change of such a file can break any spec. */
const PRODUCT = new RegExp(
  [
    '^(src|simulators|database|scripts/(vite|build|lifecycle|sandbox|setup))/',
    '^scripts/(browser|child-processes|project|start)\\.ts$',
    '^tests/support/(local-days|passwords|product|totp-code)\\.ts$',
    '^(package-lock\\.json|playwright\\.config\\.ts|vite\\.config\\.ts)$',
  ].join('|'),
);
/** Tests read these files without importing them, so Vitest cannot find those tests: a change runs all of them. */
const READ_BY_VITEST = /^(database\/|package-lock\.json$|vitest\.config\.ts$|tests\/support\/)/;

/**
 * A changed file also selects the tests of each row whose `path` is a prefix of its path: they read it without
 * importing it.
 */
export const READERS_BY_PATH: readonly (readonly [path: string, tests: readonly string[]])[] = [
  ['.env.example', ['src/server/config/config.test.ts']],
  ['deploy/', ['tests/api/metrics.test.ts']],
  ['docs/api/openapi.yaml', ['tests/api/openapi.test.ts']],
];
/** These tests read the whole repository without importing its files, so every selection contains them. */
const FENCES = [
  ...globSync('tests/fences/*.test.ts', { cwd: ROOT }),
  // Reads all sources.
  'src/server/coach/model/ai-sdk.test.ts',
];

export type ChangedTests = {
  /** `all`, or the files from which Vitest finds the tests that import them. */
  vitest: 'all' | string[];
  /** Spec files and folders. */
  specs: string[];
};

export function selectTests(changed: readonly string[]): ChangedTests {
  return {
    vitest: changed.some((file) => READ_BY_VITEST.test(file))
      ? 'all'
      : unique([...changed, ...changed.flatMap(readersOf), ...FENCES]),
    specs: withoutCovered(changed.flatMap(specsOf)),
  };
}

const readersOf = (file: string): readonly string[] =>
  READERS_BY_PATH.flatMap(([path, tests]) => (file.startsWith(path) ? tests : []));

function specsOf(file: string): readonly string[] {
  if (file.endsWith('.test.ts') || file.endsWith('.test.tsx')) return [];
  if (file.endsWith('.spec.ts')) return [file];
  const row = SPECS_BY_PATH.find(([path]) => file.startsWith(path));
  if (row) return row[1];
  return PRODUCT.test(file) ? [ALL_SPECS] : [];
}

function withoutCovered(specs: readonly string[]): string[] {
  if (specs.includes(ALL_SPECS)) return [ALL_SPECS];
  return unique(specs).filter((spec) => !specs.some((other) => other !== spec && spec.startsWith(other)));
}

const unique = (files: readonly string[]): string[] => [...new Set(files)];

/**
 * The files that differ from the commit where the branch left main, whether the change is committed or not. Includes
 * deleted files, but not deleted specs, which Playwright could not run.
 */
export async function changedFiles(): Promise<string[]> {
  const base = (await git('merge-base', 'HEAD', 'main')).trim();
  const tracked = await git('diff', '--name-only', base);
  const untracked = await git('ls-files', '--others', '--exclude-standard');
  const files = `${tracked}${untracked}`.split('\n').filter((file) => file !== '');
  return files.filter((file) => !file.endsWith('.spec.ts') || existsSync(join(ROOT, file)));
}

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd: ROOT })).stdout;
