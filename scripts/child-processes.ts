/**
 * The child processes of the scripts: the command-line tools of the dependencies, run with the current Node instead of
 * the Node on the PATH, and how they are stopped.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './project.ts';
import { once } from 'node:events';

const ENTRY_POINTS = {
  knip: 'knip/bin/knip.js',
  oxfmt: 'oxfmt/bin/oxfmt',
  oxlint: 'oxlint/bin/oxlint',
  playwright: '@playwright/test/cli.js',
  tsc: 'typescript/bin/tsc',
  vite: 'vite/bin/vite.js',
  vitest: 'vitest/vitest.mjs',
};
export type Tool = keyof typeof ENTRY_POINTS;

/** Returns the arguments for `process.execPath`. */
export const toolCommand = (tool: Tool, args: readonly string[]): string[] => [
  join(ROOT, 'node_modules', ENTRY_POINTS[tool]),
  ...args,
];

/** Resolves to whether the tool exited with 0. */
export const runTool = async (...command: Parameters<typeof waitForTool>): Promise<boolean> =>
  (await waitForTool(...command)) === null;

/**
 * Resolves to null if the tool exited with 0, else to how it ended, such as `code 1`. Inherits the output streams and
 * forwards termination signals.
 */
export function waitForTool(
  tool: Tool,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string | null> {
  const child = spawn(process.execPath, toolCommand(tool, args), {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const stop = (): void => void child.kill();
  for (const signal of SIGNALS) process.once(signal, stop);
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, killedBy) => {
      for (const signal of SIGNALS) process.off(signal, stop);
      resolve(code === 0 ? null : killedBy === null ? `code ${code}` : `signal ${killedBy}`);
    });
  });
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Sends SIGTERM and resolves once the child has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
