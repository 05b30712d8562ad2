/** `npm run test:browsers`: a few end-to-end tests in Firefox and WebKit. `npm test` uses only Chromium. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildClient } from './build/build-client.ts';
import { ensureFirefox, ensureWebKit } from './browser/other-browsers.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.ts';
import { ROOT } from './project.ts';
import { summaryLine, vitestResult } from './test-results.ts';
import { runTool } from './tools.ts';

exitWithParent(() => process.exit(1));

const engines = [await ensureFirefox(), await ensureWebKit()];
const settings: Record<string, string> = {};
for (const engine of engines) {
  if ('missing' in engine) process.stdout.write(`Skipping ${engine.name}: ${engine.missing}\n`);
  else Object.assign(settings, engine.settings);
}
if (Object.keys(settings).length === 0) {
  process.stderr.write('No browser engine is available.\n');
  process.stdout.write(`\n${summaryLine([{ passed: 0, failed: 1, skipped: 0 }])}\n`);
  process.exit(1);
}

await buildClient();
const report = join(ROOT, 'test-results', 'browsers.json');
await mkdir(join(ROOT, 'test-results'), { recursive: true });
const ok = await runTool(
  'vitest',
  [
    ...['run', '--config', 'tests/browsers/vitest.config.ts'],
    ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`],
  ],
  settings,
);
const result = await vitestResult(report, ok);
process.stdout.write(`\n${summaryLine([result])}\n`);
process.exit(result.failed > 0 ? 1 : 0);
