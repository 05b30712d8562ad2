/** Adds up what the two test runners report. */
import { readFile } from 'node:fs/promises';

export type TestResult = { passed: number; failed: number; skipped: number };

type VitestReport = { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number };
type PlaywrightReport = { stats: { expected: number; unexpected: number; flaky: number; skipped: number } };

export async function vitestResult(report: string, ok: boolean): Promise<TestResult> {
  const read = await readReport<VitestReport>(report);
  const counted = {
    passed: read?.numPassedTests ?? 0,
    failed: read?.numFailedTests ?? 0,
    skipped: (read?.numPendingTests ?? 0) + (read?.numTodoTests ?? 0),
  };
  return blamed(counted, ok);
}

export async function playwrightResult(report: string, ok: boolean): Promise<TestResult> {
  const stats = (await readReport<PlaywrightReport>(report))?.stats;
  const failed = (stats?.unexpected ?? 0) + (stats?.flaky ?? 0);
  return blamed({ passed: stats?.expected ?? 0, failed, skipped: stats?.skipped ?? 0 }, ok);
}

/** A runner that broke (a file that does not load, a server that does not start) has failed, whatever it counted. */
const blamed = (counted: TestResult, ok: boolean): TestResult =>
  ok || counted.failed > 0 ? counted : { ...counted, failed: 1 };

async function readReport<T>(file: string): Promise<T | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}

/** `12 passed, 0 failed`, the one line that machines look for. */
export function closingLine(results: readonly TestResult[]): string {
  const sum = (count: keyof TestResult): number => results.reduce((total, result) => total + result[count], 0);
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped}`;
}
