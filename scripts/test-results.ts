/** Reads and sums the reports of the two test runners. */
import { readFile } from 'node:fs/promises';

export type TestResult = { passed: number; failed: number; skipped: number };

type VitestReport = { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number };
type PlaywrightReport = { stats: { expected: number; unexpected: number; flaky: number; skipped: number } };

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
