/**
 * `npm test`: everything, from a fresh clone. `npm test -- --long` adds the slow searches for rare failures; files named
 * after `--` run alone (`*.spec.ts` in the browser, the rest under Vitest).
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBrowser } from './browser.ts';
import { buildClient } from './build-client.ts';
import { endWithParent, ROOT } from './parent.ts';
import { closingLine, playwrightResult, vitestResult } from './test-results.ts';
import type { TestResult } from './test-results.ts';
import { runTool } from './tools.ts';

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
const stories = files.filter((file) => /\.spec\.ts$|tests\/e2e/.test(file));
const others = files.filter((file) => !stories.includes(file));
if (args.includes('--long')) process.env['TEST_LONG'] = '1';

let stopped = false;
endWithParent(() => (stopped = true));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => (stopped = true));

const results: TestResult[] = [];
try {
  await rm(join(ROOT, 'test-results'), { recursive: true, force: true });
  await mkdir(join(ROOT, 'test-results'), { recursive: true });
  const chrome = await ensureBrowser();
  await buildClient();
  if (files.length === 0 || others.length > 0) results.push(await runVitest());
  if (!stopped && (files.length === 0 || stories.length > 0)) results.push(await runPlaywright(chrome));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  results.push({ passed: 0, failed: 1, skipped: 0 });
}
if (stopped) results.push({ passed: 0, failed: 1, skipped: 0 });
process.stdout.write(`\n${closingLine(results)}\n`);
process.exit(results.some(({ failed }) => failed > 0) ? 1 : 0);

async function runVitest(): Promise<TestResult> {
  const report = join(ROOT, 'test-results', 'vitest.json');
  const ok = await runTool('vitest', [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...others,
  ]);
  return vitestResult(report, ok);
}

async function runPlaywright(chrome: string): Promise<TestResult> {
  const report = join(ROOT, 'test-results', 'playwright.json');
  const env = { CHROME_PATH: chrome, PLAYWRIGHT_JSON_OUTPUT_FILE: report };
  const ok = await runTool('playwright', ['test', '--reporter=list,json', ...stories], env);
  return playwrightResult(report, ok);
}
