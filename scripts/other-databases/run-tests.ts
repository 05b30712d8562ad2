/** Runs the tests of the server, the policies and the wire on another database than the embedded one. */
import { runTool } from '../tools.ts';

/** @param what is printed before the tests. @returns whether all of them passed */
export async function runServerTests(what: string, env: Record<string, string>): Promise<boolean> {
  process.stdout.write(`\nTests on ${what}\n`);
  const files = process.argv.slice(2);
  const isPassed = await runTool('vitest', ['run', '--project', 'server', ...files], env);
  if (!isPassed) process.stdout.write(`\nTests failed on ${what}\n`);
  return isPassed;
}
