/** Limits the CPU time of processes with control groups of Linux (version 1 or 2), which need root. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Linux rejects quotas below 1,000 µs. This period allows shares down to a fifth of a core. */
const PERIOD_US = 5_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/** Gives each process at most this share of a core. Returns a function that lifts the limits. */
export async function limitCpu(pids: readonly number[], share: number): Promise<() => Promise<void>> {
  const isVersion1 = existsSync(join(VERSION_1, 'cpu.cfs_quota_us'));
  const root = isVersion1 ? VERSION_1 : VERSION_2;
  const quotaUs = Math.round(PERIOD_US * share);
  const groups = pids.map((pid) => ({ pid, folder: join(root, `hustle-forge-${pid}`) }));
  const lift = async (): Promise<void> => {
    for (const { pid, folder } of groups) {
      await writeFile(join(root, 'cgroup.procs'), String(pid)).catch(() => undefined);
      await rmdir(folder).catch(() => undefined);
    }
  };
  try {
    for (const { pid, folder } of groups) {
      await mkdir(folder, { recursive: true });
      if (isVersion1) {
        await writeFile(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US));
        await writeFile(join(folder, 'cpu.cfs_quota_us'), String(quotaUs));
      } else await writeFile(join(folder, 'cpu.max'), `${quotaUs} ${PERIOD_US}`);
      await writeFile(join(folder, 'cgroup.procs'), String(pid));
    }
    return lift;
  } catch (error) {
    await lift();
    throw error;
  }
}
