/** Reads and sums the reports of the two test runners, and finds the files that take longest. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT } from './project.ts';

export type TestResult = { passed: number; failed: number; skipped: number };

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults?: { name: string; startTime: number; endTime: number; assertionResults: unknown[] }[];
};
type PlaywrightSuite = {
  specs: { tests: { results: { duration: number }[] }[] }[];
  suites?: PlaywrightSuite[];
};
type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  config?: { rootDir: string };
  suites?: (PlaywrightSuite & { file: string })[];
};

export type FileDuration = { file: string; tests: number; ms: number };

export async function vitestResult(report: string, ok: boolean): Promise<TestResult> {
  const totals = await readReport<VitestReport>(report);
  const counts = {
    passed: totals?.numPassedTests ?? 0,
    failed: totals?.numFailedTests ?? 0,
    skipped: (totals?.numPendingTests ?? 0) + (totals?.numTodoTests ?? 0),
  };
  return countCrashAsFailure(counts, ok);
}

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
export async function fileDurations(reports: { vitest: string; playwright: string }): Promise<FileDuration[]> {
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
  const rows = durations.slice(0, count).map(({ file, tests, ms }) => `| \`${file}\` | ${tests} | ${seconds(ms)} |`);
  return `# Slowest tests

Written by \`npm test -- --record\` on ${run.date}: ${run.summary}, in ${run.minutes.toFixed(1)} minutes. The whole run may take 7 minutes
on two quiet cores. The seconds of a file are those of its tests, with other tests running beside them.

| file | tests | seconds |
| --- | --- | --- |
${rows.join('\n')}
`;
}
