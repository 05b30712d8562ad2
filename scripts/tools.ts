/** Runs the command-line tools among the dependencies with this Node, whatever the machine's own Node is. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './parent.ts';

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

/** The arguments of `process.execPath` that run a tool. */
export const toolCommand = (tool: Tool, args: readonly string[]): string[] => [
  join(ROOT, 'node_modules', ENTRY_POINTS[tool]),
  ...args,
];

/** Answers whether the tool ended well. What it prints goes where ours goes. A signal to us ends it too. */
export function runTool(tool: Tool, args: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(process.execPath, toolCommand(tool, args), {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const stop = (): void => void child.kill();
  for (const signal of SIGNALS) process.once(signal, stop);
  process.once('disconnect', stop);
  return new Promise((ended) => {
    child.on('error', () => ended(false));
    child.on('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, stop);
      process.off('disconnect', stop);
      ended(code === 0);
    });
  });
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
