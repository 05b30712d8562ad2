/** The three machines of the database: etcd, Patroni and PostgreSQL on each, set up by the files in `deploy/cluster`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { CONFIG, mountFolder } from './state-folder.ts';
import { addressOf } from './network.ts';
import { startProcess } from './processes.ts';

export type Node = 'pg1' | 'pg2' | 'pg3';
export const NODES: readonly Node[] = ['pg1', 'pg2', 'pg3'];

const DATA_MB = 512;
const ETCD_MB = 512;
const POLL_MS = 200;
const START_MS = 120_000;

export const SUPERUSER_PASSWORD = 'superuser-password';
export const PATRONI_SECRETS = {
  PATRONI_RESTAPI_USERNAME: 'patroni',
  PATRONI_RESTAPI_PASSWORD: 'restapi-password',
  PATRONI_SUPERUSER_USERNAME: 'postgres',
  PATRONI_SUPERUSER_PASSWORD: SUPERUSER_PASSWORD,
  PATRONI_REPLICATION_USERNAME: 'replicator',
  PATRONI_REPLICATION_PASSWORD: 'replication-password',
  PATRONI_REWIND_USERNAME: 'rewinder',
  PATRONI_REWIND_PASSWORD: 'rewind-password',
};

export type NodeFolders = { data: string; etcd: string; sockets: string };

/** Parses lines `NAME=value`. Comments and empty lines are skipped. */
export function parseEnvironment(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z][A-Z0-9_]*=/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

export const createNodeFolders = async (node: Node): Promise<NodeFolders> => ({
  data: await mountFolder(`${node}-data`, DATA_MB, 'postgres'),
  etcd: await mountFolder(`${node}-etcd`, ETCD_MB, 'postgres'),
  sockets: await mountFolder(`${node}-sockets`, 1, 'postgres'),
});

/** Starts the programs of one machine, as after its power has come back. */
export async function startNode(node: Node, folders: NodeFolders): Promise<void> {
  await startEtcd(node, folders);
  startPatroni(node, folders);
}

async function startEtcd(node: Node, folders: NodeFolders): Promise<void> {
  const etcd = parseEnvironment(await readFile(join(CONFIG, 'etcd.env'), 'utf8'));
  startProcess({
    part: node,
    name: `${node}-etcd`,
    user: 'postgres',
    cwd: '/',
    command: ['etcd'],
    env: {
      ...etcd,
      ETCD_DATA_DIR: join(folders.etcd, 'member'),
      ETCD_NAME: node,
      ETCD_ADVERTISE_CLIENT_URLS: `http://${node}:2379`,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${node}:2380`,
    },
  });
}

export function startPatroni(node: Node, folders: NodeFolders): void {
  startProcess({
    part: node,
    name: `${node}-patroni`,
    user: 'postgres',
    cwd: '/',
    sockets: folders.sockets,
    command: ['patroni', join(CONFIG, 'patroni.yml')],
    env: {
      ...PATRONI_SECRETS,
      PATRONI_NAME: node,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${node}:5432`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${node}:8008`,
      PATRONI_POSTGRESQL_DATA_DIR: join(folders.data, 'journal'),
    },
  });
}

type Member = { name: Node; role: string; state: string };

/** The members of the cluster, as the first machine that answers knows them. Empty if none answers. */
export async function readMembers(asked: readonly Node[] = NODES): Promise<Member[]> {
  for (const node of asked) {
    try {
      const answer = await fetch(`http://${addressOf(node)}:8008/cluster`, { signal: AbortSignal.timeout(1_000) });
      return ((await answer.json()) as { members: Member[] }).members;
    } catch {
      // The next machine may answer.
    }
  }
  return [];
}

/** True if Patroni on this machine says that it leads the cluster. */
const isPrimary = (node: Node): Promise<boolean> =>
  fetch(`http://${addressOf(node)}:8008/primary`, { signal: AbortSignal.timeout(500) }).then(
    ({ status }) => status === 200,
    () => false,
  );

export async function findPrimary(): Promise<Node | null> {
  const answers = await Promise.all(NODES.map(isPrimary));
  return NODES.find((_, index) => answers[index]) ?? null;
}

export async function waitFor<T>(what: string, find: () => Promise<T | null>, timeoutMs = START_MS): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    if (Date.now() > until) throw new Error(`${what}: not within ${String(timeoutMs / 1_000)} s`);
    await delay(POLL_MS);
  }
}

/** Resolves with the primary once all machines run and one of the others is the synchronous standby. */
export const waitUntilWhole = (): Promise<Node> =>
  waitFor('three machines with a synchronous standby', async () => {
    const members = await readMembers();
    const isRunning = members.filter(({ state }) => state === 'running').length === NODES.length;
    const hasStandby = members.some(({ role }) => role === 'sync_standby');
    return isRunning && hasStandby ? findPrimary() : null;
  });

/** Connects as the superuser directly to one machine. */
export async function connectToNode(node: Node, database: string, timeoutMs = 10_000): Promise<pg.Client> {
  const client = new pg.Client({
    host: addressOf(node),
    user: 'postgres',
    password: SUPERUSER_PASSWORD,
    database,
    connectionTimeoutMillis: timeoutMs,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
