/** CPU time of processes and their descendants, from /proc: Linux alone. */
import { readFile, readdir } from 'node:fs/promises';

/** `USER_HZ`, which is 100 on every platform that Node supports. */
const TICKS_PER_SECOND = 100;

export type Process = { pid: number; parent: number; command: string; cpuSeconds: number };

export async function listProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(readProcess));
  return found.filter((process) => process !== null);
}

export function descendantsOf(root: number, all: readonly Process[]): Process[] {
  const found = all.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** Null if the process has ended meanwhile. */
async function readProcess(name: string): Promise<Process | null> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8'),
      readFile(`/proc/${name}/cmdline`, 'utf8'),
    ]);
    // The name in parentheses may contain spaces. Behind it: state, parent and, as the 12th and 13th, user and system time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return {
      pid: Number(name),
      parent: Number(fields[1]),
      command: command.replaceAll('\0', ' '),
      cpuSeconds: ticks / TICKS_PER_SECOND,
    };
  } catch {
    return null;
  }
}
