/** Stops the embedded database that a killed server left running. No-op if a process holds the directory lock. */
import { existsSync } from 'node:fs';
import { readConfig } from '#server/config/config.ts';
import { findBinaries } from '#server/database/embedded/binaries.ts';
import { clusterPaths, clusterVersion, lockDirectory } from '#server/database/embedded/cluster.ts';
import { reclaimCluster } from '#server/database/embedded/postmaster.ts';
import { chooseServerUser } from '#server/database/embedded/server-user.ts';
import { loadEnvFile } from '../project.ts';

loadEnvFile();
const { dataDir, databaseUrl } = readConfig();
const { cluster } = clusterPaths(dataDir);
if (databaseUrl === null && existsSync(cluster)) {
  const lock = await lockDirectory(dataDir);
  if (lock) {
    const binaries = await findBinaries(dataDir, await chooseServerUser(cluster), await clusterVersion(dataDir));
    await reclaimCluster(cluster, binaries, () => undefined);
  }
  await lock?.release();
}
