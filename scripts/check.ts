/** `npm run check`: the static checks of every commit. All steps run, even after a failure. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { checkBundleBudgets } from './build/bundle-budget.ts';
import { buildClient } from './build/build-client.ts';
import { runTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';

exitWithParent();

const STEPS: Record<string, () => Promise<boolean>> = {
  format: () => runTool('oxfmt', ['--check', '.']),
  'domain types': () => runTool('tsc', ['-p', 'src/domain']),
  'server types': () => runTool('tsc', ['-p', 'src/server']),
  'command line types': () => runTool('tsc', ['-p', 'src/cli']),
  'client types': () => runTool('tsc', ['-p', 'src/client']),
  'service worker types': () => runTool('tsc', ['-p', 'src/client/service-worker']),
  'other types': () => runTool('tsc', ['-p', '.']),
  'lint and import rules': () => runTool('oxlint', ['--type-aware', '--deny-warnings']),
  'tests of the import rules': () => runTool('vitest', ['run', '--project', 'unit', 'tests/fences']),
  'server modules load': async () =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/build/compile-server.ts')], { stdio: 'inherit' }).status === 0,
  'dead code': () => runTool('knip', ['--no-progress']),
  'page size': async () => {
    await buildClient();
    const problems = await checkBundleBudgets();
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    return problems.length === 0;
  },
};

const failed: string[] = [];
for (const [name, step] of Object.entries(STEPS)) {
  const startedAt = performance.now();
  const ok = await step().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    return false;
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
  if (!ok) failed.push(name);
}
if (failed.length > 0) {
  process.stderr.write(`Failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
