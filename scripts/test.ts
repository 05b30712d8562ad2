/**
 * `npm test`: runs every test, also on a fresh clone. `--long` gives the randomised and fault tests more time. With file
 * arguments only those files run: `*.spec.ts` under Playwright, all vitestFiles under Vitest.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBrowser } from './browser/browser.ts';
import { buildClient } from './build/build-client.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.ts';
import { ROOT } from './project.ts';
import { summaryLine, playwrightResult, vitestResult } from './test-results.ts';
import type { TestResult } from './test-results.ts';
import { runTool } from './tools.ts';

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
const endToEndFiles = files.filter((file) => /\.spec\.ts$|tests\/e2e/.test(file));
const vitestFiles = files.filter((file) => !endToEndFiles.includes(file));
if (args.includes('--long')) process.env['TEST_LONG'] = '1';

let stopped = false;
exitWithParent(() => (stopped = true));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => (stopped = true));

const results: TestResult[] = [];
try {
  await rm(join(ROOT, 'test-results'), { recursive: true, force: true });
  await mkdir(join(ROOT, 'test-results'), { recursive: true });
  const chrome = await ensureBrowser();
  await buildClient();
  if (files.length === 0 || vitestFiles.length > 0) results.push(await runVitest());
  if (!stopped && (files.length === 0 || endToEndFiles.length > 0)) results.push(await runPlaywright(chrome));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  results.push({ passed: 0, failed: 1, skipped: 0 });
}
if (stopped) results.push({ passed: 0, failed: 1, skipped: 0 });
process.stdout.write(`\n${summaryLine(results)}\n`);
process.exit(results.some(({ failed }) => failed > 0) ? 1 : 0);

async function runVitest(): Promise<TestResult> {
  const report = join(ROOT, 'test-results', 'vitest.json');
  const ok = await runTool('vitest', [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...vitestFiles,
  ]);
  return vitestResult(report, ok);
}

async function runPlaywright(chrome: string): Promise<TestResult> {
  const report = join(ROOT, 'test-results', 'playwright.json');
  const env = { CHROME_PATH: chrome, PLAYWRIGHT_JSON_OUTPUT_FILE: report };
  const ok = await runTool('playwright', ['test', '--reporter=list,json', ...endToEndFiles], env);
  return playwrightResult(report, ok);
}
