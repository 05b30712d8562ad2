/** The folder that holds everything the server keeps on disk: the private database and the signing key. */
import { mkdir, stat } from 'node:fs/promises';
import type { Logger } from './log.ts';

const OTHERS_MAY_ENTER = 0o077;

/**
 * Makes the folder for this user alone, or warns when an existing one is open to others.
 *
 * An existing folder is not closed by itself: `DATA_DIR` may name one that other programs use as well.
 */
export async function prepareDataDirectory(dataDir: string, log: Pick<Logger, 'warn'>): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Windows has no such modes: what stat answers there says nothing.
  if (process.platform === 'win32') return;
  const { mode } = await stat(dataDir);
  if ((mode & OTHERS_MAY_ENTER) === 0) return;
  const permissions = (mode & 0o777).toString(8);
  log.warn(
    { dataDir, permissions },
    `other users of this machine may enter the data directory: run "chmod 700 ${dataDir}"`,
  );
}
