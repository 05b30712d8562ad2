/** The whole cluster: three database machines, PgBouncer, HAProxy and two applications. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OWNER_PASSWORD, startApplication, waitUntilReady, type Application } from './application.ts';
import { CONFIG } from './state-folder.ts';
import { createCertificate, POOLER_PASSWORD, startBalancer, startPooler } from './front.ts';
import { addressOf, createNetwork } from './network.ts';
import {
  connectToNode,
  createNodeFolders,
  findPrimary,
  NODES,
  startNode,
  SUPERUSER_PASSWORD,
  waitFor,
  waitUntilWhole,
  type Node,
  type NodeFolders,
} from './nodes.ts';
import type { Service } from './processes.ts';
import { itemsOf } from '../world/browser/tab.ts';

const run = promisify(execFile);

export type Cluster = {
  certificate: string;
  folders: Readonly<Record<Node, NodeFolders>>;
  pooler: Service;
  applications: Record<Application, Service>;
  /** The items of each user's logs in the database. */
  readItems(): Promise<Map<string, string[]>>;
};

export async function startCluster(clients: number, printLine: (text: string) => void): Promise<Cluster> {
  await createNetwork(clients);
  const folders = Object.fromEntries(
    await Promise.all(NODES.map(async (node) => [node, await createNodeFolders(node)] as const)),
  ) as Record<Node, NodeFolders>;
  await Promise.all(NODES.map((node) => startNode(node, folders[node])));
  const certificate = await createCertificate();
  startBalancer();
  const primary = await waitUntilWhole();
  printLine(`three database machines run, the primary is ${primary}`);
  await createRoles(primary);
  const pooler = await startPooler();
  const app1 = await startApplication('app1');
  await waitUntilReady('app1');
  const app2 = await startApplication('app2');
  await waitUntilReady('app2');
  printLine('two applications run');
  return { certificate, folders, pooler, applications: { app1, app2 }, readItems };
}

async function createRoles(primary: Node): Promise<void> {
  await run(
    'psql',
    [
      ...[`--host=${addressOf(primary)}`, '--username=postgres', '--no-psqlrc', '--set=ON_ERROR_STOP=1'],
      ...[
        `--set=password=${OWNER_PASSWORD}`,
        `--set=pooler_password=${POOLER_PASSWORD}`,
        `--file=${join(CONFIG, 'roles.sql')}`,
      ],
    ],
    { env: { ...process.env, PGPASSWORD: SUPERUSER_PASSWORD } },
  );
}

async function readItems(): Promise<Map<string, string[]>> {
  const primary = await waitFor('a primary', findPrimary);
  const client = await connectToNode(primary, 'journal');
  const { rows } = await client.query<{ user_id: string; content: string }>(
    'select user_id, content from public.entries order by user_id, date',
  );
  await client.end();
  const items = new Map<string, string[]>();
  for (const { user_id: userId, content } of rows) {
    items.set(userId, [...(items.get(userId) ?? []), ...itemsOf(content)]);
  }
  return items;
}
