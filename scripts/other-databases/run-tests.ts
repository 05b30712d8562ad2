/** Runs the tests that need a database on another database than the embedded one. */
import { buildClient } from '../build/build-client.ts';
import { runTool } from '../child-processes.ts';

/** The folders of the Vitest project `server`, except `tests/faults`: those tests start their own databases. */
export const SERVER_TESTS = ['src/server/', 'tests/api/', 'tests/payments/', 'tests/policies/'];

/** @param databaseName printed before the tests, and again if they fail. @returns whether all tests passed */
export async function runServerTests(databaseName: string, env: Record<string, string>): Promise<boolean> {
  process.stdout.write(`\nTests on ${databaseName}\n`);
  // The tests of the server read the built pages.
  await buildClient();
  const files = process.argv.slice(2);
  const isPassed = await runTool(
    'vitest',
    ['run', '--project=server', ...(files.length > 0 ? files : SERVER_TESTS)],
    env,
  );
  if (!isPassed) process.stdout.write(`\nTests failed on ${databaseName}\n`);
  return isPassed;
}
