/** `npm run check`: what must hold for every commit, apart from the tests. Every step runs, so one look shows all. */
import { bundleProblems } from './bundle-budget.ts';
import { buildClient } from './build-client.ts';
import { endWithParent } from './parent.ts';
import { runTool } from './tools.ts';

endWithParent(() => process.exit(1));

const STEPS: Record<string, () => Promise<boolean>> = {
  format: () => runTool('oxfmt', ['--check', '.']),
  'types of the domain': () => runTool('tsc', ['-p', 'src/domain']),
  'types of the server': () => runTool('tsc', ['-p', 'src/server']),
  'types of the client': () => runTool('tsc', ['-p', 'src/client']),
  'types of the rest': () => runTool('tsc', ['-p', '.']),
  'lint and fences': () => runTool('oxlint', ['--type-aware', '--deny-warnings']),
  'fences hold': () => runTool('vitest', ['run', '--project', 'unit', 'tests/fences']),
  'dead code': () => runTool('knip', ['--no-progress']),
  'weight of the pages': async () => {
    await buildClient();
    const problems = await bundleProblems();
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
process.channel?.unref();
