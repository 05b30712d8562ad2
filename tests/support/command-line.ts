/** Runs the command line in this process, on a machine whose folders, clock, terminal and network a test hands in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Machine } from '../../src/cli/program.ts';

export type Run = { exitCode: number; stdout: string; stderr: string };
export type TestMachine = {
  /** Holds the files of the program. */
  readonly home: string;
  /** The programs that were started, such as the browser. */
  readonly started: string[][];
  run(...args: string[]): Promise<Run>;
  pipe(input: string | Uint8Array, ...args: string[]): Promise<Run>;
};

type Options = Partial<Pick<Machine, 'env' | 'platform' | 'timeZone' | 'now' | 'fetch' | 'sleep' | 'hostName'>> & {
  isTerminal?: boolean;
};

export function createMachine(options: Options = {}): TestMachine {
  const home = mkdtempSync(join(tmpdir(), 'hustle-cli-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const started: string[][] = [];
  async function run(args: string[], input: Uint8Array | null): Promise<Run> {
    const output = { stdout: '', stderr: '' };
    const stream = (name: 'stdout' | 'stderr') => ({
      isTTY: options.isTerminal ?? false,
      write: (text: string) => (output[name] += text),
    });
    const exitCode = await runCommandLine(args, {
      env: {},
      platform: 'linux',
      home,
      hostName: 'laptop',
      version: '1.2.3',
      timeZone: 'Europe/Vienna',
      now: () => new Date(),
      fetch,
      sleep: async () => undefined,
      start: (program, programArgs) => started.push([program, ...programArgs]),
      ...options,
      stdin: Object.assign(toStream(input), { isTTY: input === null }),
      stdout: stream('stdout'),
      stderr: stream('stderr'),
    });
    return { exitCode, ...output };
  }
  return {
    home,
    started,
    run: (...args) => run(args, null),
    pipe: (input, ...args) => run(args, typeof input === 'string' ? new TextEncoder().encode(input) : input),
  };
}

async function* toStream(input: Uint8Array | null): AsyncGenerator<Uint8Array> {
  // In pieces that cut characters and lines, as a pipe does.
  for (let at = 0; input !== null && at < input.length; at += 4_099) yield input.subarray(at, at + 4_099);
}
