/**
 * `npm test`: runs every test, also on a fresh clone. With file arguments only those files run: `*.spec.ts` under
 * Playwright, all others under Vitest. Options:
 *
 * - `--changed`: runs only the tests of files that changed since the branch left main
 * - `--long`: runs the randomised and fault tests for longer
 * - `--trace`: keeps a Playwright trace of every end-to-end test that fails
 * - `--record`: writes the slowest files to docs/slowest-tests.md
 */
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureTestBrowser } from './browser.ts';
import { buildClient } from './build/build-client.ts';
import { changedFiles, selectTests } from './changed-tests.ts';
import { runTool, waitForTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';
import {
  failedTests,
  failedTestsText,
  fileDurations,
  playwrightResult,
  slowestFilesPage,
  slowestFilesText,
  summaryLine,
  vitestReporters,
  vitestResult,
  type FailedExits,
  type TestResult,
} from './test-results.ts';

const SLOWEST = 20;
const SHARED_MEMORY = '/dev/shm';
/** The tests of faults and backups hold 0.5 GB of files, and the processes of a run need memory too. */
const MIN_MEMORY_BYTES = 8 * 1024 ** 3;
const REPORTS = {
  vitest: join(ROOT, 'test-results', 'vitest.json'),
  playwright: join(ROOT, 'test-results', 'playwright.json'),
};

const startedAt = performance.now();
const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
const has = (option: string): boolean => args.includes(option);
if (has('--long')) process.env['TEST_LONG'] = '1';

let stopped = false;
exitWithParent();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => (stopped = true));

const memory = await memoryFolder();
if (memory !== null) {
  process.env['TMPDIR'] = memory;
  process.once('exit', () => rmSync(memory, { recursive: true, force: true }));
}
const results: TestResult[] = [];
const failedExits: FailedExits = {};
try {
  await rm(join(ROOT, 'test-results'), { recursive: true, force: true });
  await mkdir(join(ROOT, 'test-results'), { recursive: true });
  const { vitest, specs } = await selectedTests();
  const browser = await ensureTestBrowser();
  await buildClient();
  if (vitest !== null) results.push(await runVitest(vitest));
  if (!stopped && specs !== null) results.push(await runPlaywright(browser, specs));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  results.push({ passed: 0, failed: 1, skipped: 0 });
}
if (stopped) results.push({ passed: 0, failed: 1, skipped: 0 });
await reportSlowestFiles();
await reportFailedTests();
process.stdout.write(`\n${summaryLine(results)}\n`);
process.exit(results.some(({ failed }) => failed > 0) ? 1 : 0);

/**
 * A temporary folder in memory for the run, or null where none is large enough. Copying the template database for a
 * test file took 0.02 s of CPU time there, and 0.03 to 0.31 s on a disk with a million files.
 */
async function memoryFolder(): Promise<string | null> {
  try {
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
    const [, , , options = 'noexec'] =
      mounts.find(([, path, type]) => path === SHARED_MEMORY && type === 'tmpfs') ?? [];
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    const free = Math.min(bavail * bsize, process.availableMemory());
    if (options.split(',').includes('noexec') || free < MIN_MEMORY_BYTES) return null;
    const folder = await mkdtemp(join(SHARED_MEMORY, 'hustle-forge-tests-'));
    // As /tmp: PostgreSQL runs as another user if the tests run as root.
    await chmod(folder, 0o1777);
    return folder;
  } catch {
    return null;
  }
}

/** Arguments for each runner: null skips the runner, an empty list of specs runs all of them. */
type Selection = { vitest: string[] | null; specs: string[] | null };

async function selectedTests(): Promise<Selection> {
  if (has('--changed')) {
    const { vitest, specs } = selectTests(await changedFiles());
    return {
      vitest: vitest === 'all' ? ['run'] : ['related', '--run', '--passWithNoTests', ...vitest],
      specs: specs.length > 0 ? specs : null,
    };
  }
  if (files.length === 0) return { vitest: ['run'], specs: [] };
  const specs = files.filter((file) => /\.spec\.ts$|tests\/e2e/.test(file));
  const vitest = files.filter((file) => !specs.includes(file));
  return { vitest: vitest.length > 0 ? ['run', ...vitest] : null, specs: specs.length > 0 ? specs : null };
}

async function runVitest(command: readonly string[]): Promise<TestResult> {
  const exit = await waitForTool('vitest', [...command, ...vitestReporters(REPORTS.vitest)]);
  if (exit !== null) failedExits.vitest = exit;
  return vitestResult(REPORTS.vitest, exit === null);
}

async function runPlaywright(browser: string, specs: readonly string[]): Promise<TestResult> {
  const env = { CHROME_PATH: browser, PLAYWRIGHT_JSON_OUTPUT_FILE: REPORTS.playwright };
  const trace = has('--trace') ? ['--trace=retain-on-failure'] : [];
  const exit = await waitForTool('playwright', ['test', '--reporter=list,json', ...trace, ...specs], env);
  if (exit !== null) failedExits.playwright = exit;
  return playwrightResult(REPORTS.playwright, exit === null);
}

/** Repeats all failures at the end: those of the first runner stand thousands of lines above. */
async function reportFailedTests(): Promise<void> {
  const failed = await failedTests(REPORTS, failedExits);
  if (failed.length > 0) process.stdout.write(`\n${failedTestsText(failed)}\n`);
}

async function reportSlowestFiles(): Promise<void> {
  const durations = await fileDurations(REPORTS);
  if (durations.length < SLOWEST) return;
  process.stdout.write(`\n${slowestFilesText(durations, SLOWEST)}\n`);
  if (!has('--record')) return;
  const date = new Date().toISOString().slice(0, 10);
  const minutes = (performance.now() - startedAt) / 60_000;
  const page = slowestFilesPage(durations, SLOWEST, { date, minutes, summary: summaryLine(results) });
  await writeFile(join(ROOT, 'docs', 'slowest-tests.md'), page);
  await runTool('oxfmt', ['docs/slowest-tests.md']);
}
