import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { spawnSync } from 'node:child_process';
import { toolCommand } from './child-processes.ts';
import { ROOT } from './project.ts';
import {
  failedTests,
  failedTestsText,
  fileDurations,
  playwrightResult,
  slowestFilesText,
  summaryLine,
  vitestReporters,
  vitestResult,
} from './test-results.ts';

const folder = mkdtempSync(join(tmpdir(), 'hustle-forge-results-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const report = (content: object): string => {
  const file = join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
};

test('sums the results of both runners in one line', async () => {
  const vitest = report({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 });
  const first = await vitestResult(vitest, true);
  const playwright = report({ stats: { expected: 3, unexpected: 0, flaky: 0, skipped: 0 } });
  expect(summaryLine([first, await playwrightResult(playwright, true)])).toBe('10 passed, 0 failed');
});

test('reports skipped tests', () => {
  expect(summaryLine([{ passed: 1, failed: 2, skipped: 3 }])).toBe('1 passed, 2 failed, 3 skipped');
});

test('counts a flaky test as failed', async () => {
  const flaky = report({ stats: { expected: 3, unexpected: 0, flaky: 1, skipped: 0 } });
  expect(await playwrightResult(flaky, true)).toEqual({ passed: 3, failed: 1, skipped: 0 });
});

test('counts a crashed runner as one failure', async () => {
  const fine = report({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 });
  expect(await vitestResult(fine, false)).toEqual({ passed: 7, failed: 1, skipped: 0 });
  expect(await vitestResult(join(folder, 'missing.json'), false)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test('lists the slowest files of both runners together', async () => {
  const vitest = join(folder, 'vitest.json');
  const file = (name: string, ms: number) => ({
    name: join(ROOT, name),
    startTime: 1_000,
    endTime: 1_000 + ms,
    assertionResults: [{}, {}],
  });
  writeFileSync(
    vitest,
    JSON.stringify({ testResults: [file('src/quick.test.ts', 40), file('tests/slow.test.ts', 9_000)] }),
  );
  const playwright = join(folder, 'playwright.json');
  const spec = (ms: number) => ({ tests: [{ results: [{ duration: ms }] }] });
  const suite = { file: 'journal/days.spec.ts', specs: [spec(2_000)], suites: [{ specs: [spec(3_000)] }] };
  writeFileSync(playwright, JSON.stringify({ config: { rootDir: join(ROOT, 'tests', 'e2e') }, suites: [suite] }));

  const durations = await fileDurations({ vitest, playwright });
  expect(durations).toEqual([
    { file: 'tests/slow.test.ts', tests: 2, ms: 9_000 },
    { file: 'tests/e2e/journal/days.spec.ts', tests: 2, ms: 5_000 },
    { file: 'src/quick.test.ts', tests: 2, ms: 40 },
  ]);
  expect(slowestFilesText(durations, 2)).toBe(
    'Slowest test files (number of tests):\n   9.0 s  tests/slow.test.ts (2)\n   5.0 s  tests/e2e/journal/days.spec.ts (2)',
  );
});

test('lists no file of a runner that did not run', async () => {
  const missing = join(folder, 'missing.json');
  expect(await fileDurations({ vitest: missing, playwright: missing })).toEqual([]);
});

test('lists the failed tests of both runners with their errors', async () => {
  const vitest = join(folder, 'failed-vitest.json');
  const testFile = (name: string, message: string, assertionResults: object[]) => ({
    name: join(ROOT, name),
    startTime: 0,
    endTime: 0,
    message,
    assertionResults,
  });
  const testResults = [
    testFile('src/fine.test.ts', '', [{ fullName: 'works', status: 'passed', failureMessages: [] }]),
    testFile('src/broken.test.ts', '', [
      { fullName: 'day is kept', status: 'failed', failureMessages: ['expected 1'] },
    ]),
    testFile('src/unreadable.test.ts', 'cannot find a module', []),
  ];
  writeFileSync(vitest, JSON.stringify({ testResults }));
  const playwright = join(folder, 'failed-playwright.json');
  const spec = (title: string, status: string, message?: string) => ({
    title,
    tests: [{ status, results: [{ duration: 1, errors: message === undefined ? [] : [{ message }] }] }],
  });
  const suite = {
    file: 'journal/days.spec.ts',
    specs: [spec('opens', 'expected'), spec('saves', 'unexpected', '\u001B[31mnot visible\u001B[39m\nCall log:')],
    suites: [{ specs: [spec('sometimes closes', 'flaky', 'timed out')] }],
  };
  writeFileSync(playwright, JSON.stringify({ config: { rootDir: join(ROOT, 'tests', 'e2e') }, suites: [suite] }));

  const failed = await failedTests({ vitest, playwright });
  expect(failed.map(({ file, title }) => `${file}: ${title}`)).toEqual([
    'src/broken.test.ts: day is kept',
    'src/unreadable.test.ts: the file itself',
    'tests/e2e/journal/days.spec.ts: saves',
    'tests/e2e/journal/days.spec.ts: sometimes closes',
  ]);
  expect(failedTestsText(failed.slice(2, 3))).toBe(
    'Failed tests and errors:\n  tests/e2e/journal/days.spec.ts › saves\n    not visible\n    Call log:',
  );
});

/** Runs real test files, each in a process of its own, as `npm test` does. */
function runVitest(name: string, files: Record<string, string>): { vitest: string; exitCode: number | null } {
  const root = join(folder, name);
  mkdirSync(root);
  for (const [file, source] of Object.entries(files)) writeFileSync(join(root, file), source);
  const vitest = join(root, 'vitest.json');
  const options = ['--globals', '--pool=forks', `--root=${root}`, ...vitestReporters(vitest)];
  const { status } = spawnSync(process.execPath, toolCommand('vitest', ['run', ...options]), { stdio: 'ignore' });
  return { vitest, exitCode: status };
}

test('names a runner that failed without a word, and an error of Playwright that belongs to no test', async () => {
  const missing = join(folder, 'missing.json');
  const silent = await failedTests({ vitest: missing, playwright: missing }, { vitest: 'signal SIGKILL' });
  expect(silent.map(({ file, title }) => `${file}: ${title}`)).toEqual([
    'Vitest: ended with signal SIGKILL and reported no error',
  ]);

  const playwright = report({ stats: {}, errors: [{ message: 'cannot load days.spec.ts' }], suites: [] });
  expect(await failedTests({ vitest: missing, playwright }, { playwright: 'code 1' })).toEqual([
    { file: 'Playwright', title: 'an error of no test', message: 'cannot load days.spec.ts' },
  ]);
});

test('names each error that failed a run of Vitest beside its tests', async () => {
  const { vitest, exitCode } = runVitest('beside', {
    'rejects.test.mjs': `test('fetches', () => void Promise.reject(new Error('nobody waits for this')));`,
    'dies.test.mjs': `test('ends its process', () => process.reallyExit(7));`,
    'hook.test.mjs': `describe('a group', () => { afterAll(() => { throw new Error('cannot tidy up'); }); test('passes', () => {}); });`,
    'fine.test.mjs': `test('passes', () => {});`,
  });
  expect(exitCode).toBe(1);

  const failed = await failedTests({ vitest, playwright: join(folder, 'missing.json') });
  const found = failed.map(({ file, title, message }) => `${basename(file)}: ${title}: ${message}`);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^rejects\.test\.mjs: Unhandled Rejection.*: .*nobody waits for this/s),
      expect.stringMatching(/^dies\.test\.mjs: did not finish/s),
      expect.stringMatching(/Unhandled Error: .*Worker exited unexpectedly/s),
      expect.stringMatching(/^hook\.test\.mjs: a group: .*cannot tidy up/s),
    ]),
  );
  expect(found.filter((line) => line.startsWith('fine'))).toEqual([]);
  expect((await vitestResult(vitest, false)).failed).toBe(failed.length);
});
