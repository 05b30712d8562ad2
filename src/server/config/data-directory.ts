import { mkdir, stat } from 'node:fs/promises';
import type { Logger } from '../log.ts';

const GROUP_OR_OTHER_ACCESS = 0o077;

/**
 * Creates the data directory (embedded database, signing key) with mode 0700, or warns when an existing one is
 * accessible to other users. It does not chmod an existing folder, because other programs may use it too.
 *
 * @throws Error that names DATA_DIR if it cannot be a folder
 */
export async function prepareDataDirectory(dataDir: string, log: Pick<Logger, 'warn'>): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `DATA_DIR=${dataDir} cannot be used (${error.code ?? error.message}): set it to a folder that this user can write`,
      { cause: error },
    );
  });
  // Windows has no POSIX permissions.
  if (process.platform === 'win32') return;
  const { mode } = await stat(dataDir);
  if ((mode & GROUP_OR_OTHER_ACCESS) === 0) return;
  const permissions = (mode & 0o777).toString(8);
  log.warn(
    { dataDir, permissions },
    `other users of this machine can access the data directory: run "chmod 700 ${dataDir}"`,
  );
}
