/** Reads and sums the reports of the two test runners, lists failed tests, and finds the files that take longest. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from './project.ts';
import { errorsFile, type FailedTest } from './vitest-errors.ts';

export type TestResult = { passed: number; failed: number; skipped: number };

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults?: {
    name: string;
    startTime: number;
    endTime: number;
    /** Why the file itself failed, for example an import that throws. Empty if only its tests failed. */
    message?: string;
    assertionResults: { fullName?: string; status?: string; failureMessages?: string[] }[];
  }[];
};
type PlaywrightSuite = {
  specs: {
    title?: string;
    tests: { status?: string; results: { duration: number; errors?: { message?: string }[] }[] }[];
  }[];
  suites?: PlaywrightSuite[];
};
type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  /** Errors outside of the tests, for example of a file that does not load. */
  errors?: { message?: string }[];
  config?: { rootDir: string };
  suites?: (PlaywrightSuite & { file: string })[];
};

export type ReportFiles = { vitest: string; playwright: string };
/** How the runners that failed ended, for example `code 1`. */
export type FailedExits = { vitest?: string; playwright?: string };
export type FileDuration = { file: string; tests: number; ms: number };

export async function vitestResult(report: string, ok: boolean): Promise<TestResult> {
  const totals = await readReport<VitestReport>(report);
  const counts = {
    passed: totals?.numPassedTests ?? 0,
    failed: totals?.numFailedTests ?? 0,
    skipped: (totals?.numPendingTests ?? 0) + (totals?.numTodoTests ?? 0),
  };
  const errors = (await readReport<FailedTest[]>(errorsFile(report))) ?? [];
  return countCrashAsFailure({ ...counts, failed: counts.failed + errors.length }, ok);
}

/** The options of Vitest that write what this file reads. */
export const vitestReporters = (report: string): string[] => [
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  `--reporter=${join(ROOT, 'scripts', 'vitest-errors.ts')}`,
];

export async function playwrightResult(report: string, ok: boolean): Promise<TestResult> {
  const stats = (await readReport<PlaywrightReport>(report))?.stats;
  const failed = (stats?.unexpected ?? 0) + (stats?.flaky ?? 0);
  return countCrashAsFailure({ passed: stats?.expected ?? 0, failed, skipped: stats?.skipped ?? 0 }, ok);
}

/** A runner can exit with an error and report no failed test, for example if a file or the server did not load. */
const countCrashAsFailure = (counts: TestResult, ok: boolean): TestResult =>
  ok || counts.failed > 0 ? counts : { ...counts, failed: 1 };

async function readReport<T>(file: string): Promise<T | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}

/** `12 passed, 0 failed`: the line that CI parses. */
export function summaryLine(results: readonly TestResult[]): string {
  const sum = (count: keyof TestResult): number => results.reduce((total, result) => total + result[count], 0);
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped}`;
}

/** The duration of every test file of both reports, longest first. A missing report counts as empty. */
export async function fileDurations(reports: ReportFiles): Promise<FileDuration[]> {
  const vitest = await readReport<VitestReport>(reports.vitest);
  const playwright = await readReport<PlaywrightReport>(reports.playwright);
  const durations = (vitest?.testResults ?? []).map(({ name, startTime, endTime, assertionResults }) => ({
    file: relative(ROOT, name),
    tests: assertionResults.length,
    ms: endTime - startTime,
  }));
  for (const suite of playwright?.suites ?? []) {
    const tests = testDurations(suite);
    const file = relative(ROOT, join(playwright!.config!.rootDir, suite.file));
    durations.push({ file, tests: tests.length, ms: tests.reduce((total, ms) => total + ms, 0) });
  }
  return durations.toSorted((a, b) => b.ms - a.ms);
}

/**
 * Every failed test and every other error of both reports. Flaky tests count as failed. A missing report counts as
 * empty, but a runner that failed is always named.
 */
export async function failedTests(reports: ReportFiles, exits: FailedExits = {}): Promise<FailedTest[]> {
  const vitest = await failedInVitest(reports.vitest);
  const playwright = await failedInPlaywright(reports.playwright);
  if (vitest.length === 0 && exits.vitest !== undefined) vitest.push(crash('Vitest', exits.vitest));
  if (playwright.length === 0 && exits.playwright !== undefined) playwright.push(crash('Playwright', exits.playwright));
  return [...vitest, ...playwright];
}

const crash = (runner: string, exit: string): FailedTest => ({
  file: runner,
  title: `ended with ${exit} and reported no error`,
  message: 'The end of its output may say why.',
});

async function failedInVitest(file: string): Promise<FailedTest[]> {
  const failed = (await readReport<FailedTest[]>(errorsFile(file))) ?? [];
  const report = await readReport<VitestReport>(file);
  for (const { name, message = '', assertionResults } of report?.testResults ?? []) {
    const path = relative(ROOT, name);
    if (message !== '') failed.push({ file: path, title: 'the file itself', message });
    for (const { fullName = '', status, failureMessages = [] } of assertionResults) {
      if (status === 'failed') failed.push({ file: path, title: fullName, message: failureMessages.join('\n') });
    }
  }
  return failed;
}

async function failedInPlaywright(file: string): Promise<FailedTest[]> {
  const report = await readReport<PlaywrightReport>(file);
  const failed: FailedTest[] = (report?.errors ?? []).map(({ message = '' }) => ({
    file: 'Playwright',
    title: 'an error of no test',
    message,
  }));
  for (const suite of report?.suites ?? []) {
    const path = relative(ROOT, join(report!.config!.rootDir, suite.file));
    failed.push(...failedSpecs(suite).map((spec) => ({ file: path, ...spec })));
  }
  return failed;
}

const failedSpecs = ({ specs, suites = [] }: PlaywrightSuite): Omit<FailedTest, 'file'>[] => [
  ...specs.flatMap(({ title = '', tests }) =>
    tests
      .filter(({ status }) => status === 'unexpected' || status === 'flaky')
      .map(({ results }) => {
        const errors = results.flatMap((run) => run.errors ?? []);
        return { title, message: errors.map(({ message = '' }) => message).join('\n') };
      }),
  ),
  ...suites.flatMap(failedSpecs),
];

const MESSAGE_LINES = 12;

/** One paragraph for each failed test: its file, its title and the first lines of its error, without colours. */
export function failedTestsText(failed: readonly FailedTest[]): string {
  const paragraphs = failed.map(({ file, title, message }) => {
    const lines = stripVTControlCharacters(message).split('\n').slice(0, MESSAGE_LINES);
    return [`  ${file} › ${title}`, ...lines.map((line) => `    ${line}`)].join('\n');
  });
  return ['Failed tests and errors:', ...paragraphs].join('\n');
}

const testDurations = ({ specs, suites = [] }: PlaywrightSuite): number[] => [
  ...specs.flatMap(({ tests }) => tests.map(({ results }) => results.reduce((total, run) => total + run.duration, 0))),
  ...suites.flatMap(testDurations),
];

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

export function slowestFilesText(durations: readonly FileDuration[], count: number): string {
  const rows = durations
    .slice(0, count)
    .map(({ file, tests, ms }) => `${seconds(ms).padStart(6)} s  ${file} (${tests})`);
  return [`Slowest test files (number of tests):`, ...rows].join('\n');
}

export type RunTotals = { date: string; minutes: number; summary: string };

/** The page `docs/slowest-tests.md`. */
export function slowestFilesPage(durations: readonly FileDuration[], count: number, run: RunTotals): string {
  return `# Slowest tests

Written by \`npm test -- --record\` on ${run.date}: ${run.summary}, in ${run.minutes.toFixed(1)} minutes, of 10 on two quiet cores.

\`\`\`
${slowestFilesText(durations, count)}
\`\`\`
`;
}
