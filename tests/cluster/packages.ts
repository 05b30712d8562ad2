/** Finds the programs of the cluster, and installs Debian's packages of those that are missing. */
import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { installWithApt } from '../../scripts/browser/browser.ts';

/** A program of each package. The package counts as installed if the program exists. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'etcd-server': 'etcd',
  'etcd-client': 'etcdctl',
  patroni: 'patroni',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  'postgresql-client-15': 'psql',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  nftables: 'nft',
  iproute2: 'ip',
  openssl: 'openssl',
};
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

const findMissing = (): string[] =>
  Object.keys(PROGRAMS).filter((name) => !FOLDERS.some((folder) => existsSync(resolve(folder, PROGRAMS[name]!))));

/** @throws Error that names the packages to install. */
export async function ensurePackages(): Promise<void> {
  const missing = findMissing();
  if (missing.length === 0) return;
  process.stdout.write(`Installing ${missing.join(', ')}…\n`);
  await installWithApt(missing);
  const absent = findMissing();
  if (absent.length > 0) throw new Error(`install Debian's packages ${absent.join(' ')}`);
}
