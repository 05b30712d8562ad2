/** A control group of Linux (version 1 or 2) that limits memory and CPU time. Needs root. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const PERIOD_US = 100_000;
const isVersion1 = existsSync(join(ROOT, 'memory', 'memory.limit_in_bytes'));

export type ControlGroup = {
  /** A shell command that moves its shell, and so what the shell starts, into the group. */
  enter: string;
  /** How many processes the kernel has killed because the group's memory was used up. */
  kills(): Promise<number>;
  /** The processes must have ended. */
  remove(): Promise<void>;
};

/** @param share of one core */
export async function createControlGroup(megabytes: number, share: number): Promise<ControlGroup> {
  const name = `hustle-forge-small-${process.pid}`;
  const [memory, cpu] = isVersion1
    ? [join(ROOT, 'memory', name), join(ROOT, 'cpu', name)]
    : [join(ROOT, name), join(ROOT, name)];
  const bytes = String(megabytes * 1024 ** 2);
  const quotaUs = Math.round(PERIOD_US * share);
  if (!isVersion1) await writeFile(join(ROOT, 'cgroup.subtree_control'), '+cpu +memory');
  const folders = [...new Set([memory, cpu])];
  for (const folder of folders) await mkdir(folder);
  const limits: [string, string][] = isVersion1
    ? [
        [join(memory, 'memory.limit_in_bytes'), bytes],
        // Memory and swap together: a small server has no swap.
        [join(memory, 'memory.memsw.limit_in_bytes'), bytes],
        // So that the share is there while other programs use the machine.
        [join(cpu, 'cpu.shares'), '100000'],
        [join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US)],
        [join(cpu, 'cpu.cfs_quota_us'), String(quotaUs)],
      ]
    : [
        [join(memory, 'memory.max'), bytes],
        [join(memory, 'memory.swap.max'), '0'],
        [join(cpu, 'cpu.weight'), '10000'],
        [join(cpu, 'cpu.max'), `${quotaUs} ${PERIOD_US}`],
      ];
  for (const [file, value] of limits) await writeFile(file, value);
  return {
    enter: folders.map((folder) => `echo $$ > ${join(folder, 'cgroup.procs')}`).join(' && '),
    async kills() {
      const events = await readFile(join(memory, isVersion1 ? 'memory.oom_control' : 'memory.events'), 'utf8');
      return Number(/^oom_kill (\d+)$/m.exec(events)?.[1]);
    },
    async remove() {
      for (const folder of folders) await rmdir(folder);
    },
  };
}
