/** Chooses the user for PostgreSQL, which refuses to run as root: a root start drops to an unprivileged user. */
import { readFile, stat } from 'node:fs/promises';

/** null: the current user. */
export type ServerUser = { uid: number; gid: number } | null;

/**
 * As root: the owner of an existing cluster unless that is root, else `nobody`. initdb needs a user with an /etc/passwd
 * entry, so an arbitrary uid does not work.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(clusterDir).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const passwd = await readFile('/etc/passwd', 'utf8');
  const nobody = /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd);
  if (!nobody) throw new Error('PostgreSQL refuses to run as root, and this machine has no user `nobody` to run it as');
  return { uid: Number(nobody[1]), gid: Number(nobody[2]) };
}

/**
 * The environment without the variables that configure PostgreSQL (`PGDATA`, `PGPORT`, ...), in a fixed locale and time
 * zone.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_'));
  return { ...Object.fromEntries(kept), LANG: 'C', TZ: 'UTC' };
}
