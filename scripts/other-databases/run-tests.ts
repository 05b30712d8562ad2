/** Runs the tests of the server, the policies and the wire on another database than the embedded one. */
import { runTool } from '../tools.ts';

/** @param databaseName printed before the tests, and again if they fail. @returns whether all tests passed */
export async function runServerTests(databaseName: string, env: Record<string, string>): Promise<boolean> {
  process.stdout.write(`\nTests on ${databaseName}\n`);
  const files = process.argv.slice(2);
  const isPassed = await runTool(
    'vitest',
    ['run', '--project', 'server', '--exclude', 'tests/faults/**', ...files],
    env,
  );
  if (!isPassed) process.stdout.write(`\nTests failed on ${databaseName}\n`);
  return isPassed;
}
