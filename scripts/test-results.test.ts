import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { summaryLine, playwrightResult, vitestResult } from './test-results.ts';

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
