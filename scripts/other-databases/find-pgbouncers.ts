/**
 * Finds a PgBouncer older than 1.21, which mixes its clients' prepared statements, and a newer one, which keeps them
 * apart. Debian 12 has 1.18. The newer one comes from Debian 13: this module unpacks its packages and the libraries
 * that they need into a folder of the cache, and installs nothing.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPgBouncerVersion } from '../../tests/support/servers/pgbouncer.ts';
import { installWithApt } from '../browser.ts';
import { ROOT } from '../project.ts';

const INSTALLED = '/usr/sbin/pgbouncer';
const FOLDER = join(ROOT, 'node_modules', '.cache', 'pgbouncer-debian-13');
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCE = `deb [signed-by=${KEYRING}] http://deb.debian.org/debian trixie main\n`;
const PACKAGES = [
  ...['pgbouncer', 'libc6', 'libgcc-s1', 'libcares2', 'libevent-2.1-7t64', 'libpam0g', 'libssl3t64', 'libsystemd0'],
  ...['libcap2', 'libaudit1', 'libcap-ng0', 'zlib1g', 'libzstd1'],
];

export type PgBouncerProgram = {
  name: string;
  command: readonly string[];
  /** Whether it tracks the prepared statements of each client (1.21 or newer). */
  hasStatements: boolean;
};

/** `skipped` says which programs are missing, and why. */
export async function findPgBouncers(): Promise<{ programs: PgBouncerProgram[]; skipped: string[] }> {
  const named = process.env['PGBOUNCER'];
  if (named) return { programs: [describe([named])], skipped: [] };
  if (!existsSync(INSTALLED)) await installWithApt(['pgbouncer']);
  const programs = existsSync(INSTALLED) ? [describe([INSTALLED])] : [];
  if (programs.some(({ hasStatements }) => hasStatements))
    return { programs, skipped: ['PgBouncer before 1.21: name one with PGBOUNCER'] };
  try {
    return { programs: [...programs, describe(await unpackFromDebian13())], skipped: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { programs, skipped: [`PgBouncer 1.21 or newer: name one with PGBOUNCER (${reason})`] };
  }
}

function describe(command: readonly string[]): PgBouncerProgram {
  const { version, hasStatements } = readPgBouncerVersion(command);
  return { name: `PgBouncer ${version}`, command, hasStatements };
}

/** Returns the command: the loader of Debian 13's C library, which is newer than the system's, starts the program. */
async function unpackFromDebian13(): Promise<readonly string[]> {
  const root = join(FOLDER, 'root');
  const libraries = join(root, 'usr', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
  const loader = join(libraries, process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2');
  const program = join(root, 'usr', 'sbin', 'pgbouncer');
  if (!existsSync(program)) {
    for (const folder of ['lists/partial', 'archives/partial', 'parts', 'root'])
      await mkdir(join(FOLDER, folder), { recursive: true });
    await writeFile(join(FOLDER, 'sources.list'), SOURCE);
    const apt = [
      `Dir::Etc::sourcelist=${FOLDER}/sources.list`,
      `Dir::Etc::sourceparts=${FOLDER}/parts`,
      `Dir::State::lists=${FOLDER}/lists`,
      `Dir::Cache=${FOLDER}`,
      'Dir::State::status=/dev/null',
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    const run = promisify(execFile);
    await run('apt-get', [...apt, 'update'], { cwd: FOLDER });
    await run('apt-get', [...apt, 'download', ...PACKAGES], { cwd: FOLDER });
    const archives = (await readdir(FOLDER)).filter((file) => file.endsWith('.deb'));
    // The program last: the next run takes its file as the sign that everything is unpacked.
    for (const archive of archives.toSorted(
      (a, b) => Number(a.startsWith('pgbouncer')) - Number(b.startsWith('pgbouncer')),
    ))
      await run('dpkg', ['-x', archive, root], { cwd: FOLDER });
  }
  return [loader, '--library-path', libraries, program];
}
