/** The faults, one after another. Each strikes the running cluster and is repaired once saves are accepted again. */
import { execFile } from 'node:child_process';
import { readFile, rm, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isReady, runAdmin, startApplication, waitUntilReady } from './application.ts';
import type { Cluster } from './cluster.ts';
import { CONFIG, STATE } from './state-folder.ts';
import {
  cutOffNetwork,
  healNetwork,
  inNamespace,
  killProcesses,
  killProcessesExcept,
  pauseProcesses,
  resumeProcesses,
} from './network.ts';
import {
  connectToNode,
  findPrimary,
  NODES,
  PATRONI_SECRETS,
  readMembers,
  startNode,
  startPatroni,
  SUPERUSER_PASSWORD,
  waitFor,
  type Node,
} from './nodes.ts';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { ROOT } from '../../scripts/project.ts';

const run = promisify(execFile);

export type Fault = {
  name: string;
  /** True if another machine must become the primary. */
  isFailover: boolean;
  strike(): Promise<Strike>;
};
export type Strike = {
  /**
   * The beginning of the measurement, in milliseconds since 1970: when the fault struck. For a fault that lasts until
   * an operator acts, when the operator acted.
   */
  at: number;
  /** No save may be acknowledged from this time until `at`. */
  silentSince?: number;
  /** Resolves with descriptions of what went wrong while the fault lasted. */
  repair: () => Promise<string[]>;
};

const ISOLATED_TIMEOUT_S = 2;
const IN_FLIGHT_MS = 1_000;
/** The time from a fault until the simulated operator reacts. */
const REACTION_MS = 8_000;
/** How long both versions serve side by side. */
const SIDE_BY_SIDE_MS = 5_000;
const POLL_MS = 250;

export function faultsOf(cluster: Cluster): Fault[] {
  const primary = (): Promise<Node> => waitFor('a primary', findPrimary);

  async function restart(node: Node): Promise<string[]> {
    await startNode(node, cluster.folders[node]);
    return [];
  }

  return [
    {
      name: 'the machine of the primary loses power',
      isFailover: true,
      async strike() {
        const node = await primary();
        const at = Date.now();
        await killProcesses(node);
        return { at, repair: () => restart(node) };
      },
    },
    {
      name: 'PostgreSQL of the primary is killed',
      isFailover: true,
      async strike() {
        const pidFile = join(cluster.folders[await primary()].data, 'journal', 'postmaster.pid');
        process.kill(Number.parseInt(await readFile(pidFile, 'utf8'), 10), 'SIGKILL');
        return { at: Date.now(), repair: nothing };
      },
    },
    {
      name: 'the machine of the primary is paused and goes on',
      isFailover: true,
      async strike() {
        const node = await primary();
        const at = Date.now();
        await pauseProcesses(node);
        return {
          at,
          async repair() {
            await resumeProcesses(node);
            return [];
          },
        };
      },
    },
    {
      name: 'the machine of the synchronous standby loses power',
      isFailover: false,
      async strike() {
        const node = await waitFor('a synchronous standby', findSynchronousStandby);
        const at = Date.now();
        await killProcesses(node);
        return { at, repair: () => restart(node) };
      },
    },
    {
      name: 'both standbys lose PostgreSQL, and one gets it back',
      isFailover: false,
      async strike() {
        const leader = await primary();
        const [first, second] = NODES.filter((node) => node !== leader) as [Node, Node];
        // etcd goes on: without its quorum the primary would stop as well.
        await Promise.all([first, second].map((node) => killProcessesExcept(node, 'etcd')));
        // Answers may still be on their way from before the last standby ended.
        await delay(IN_FLIGHT_MS);
        const silentSince = Date.now();
        await delay(REACTION_MS);
        const at = Date.now();
        startPatroni(first, cluster.folders[first]);
        return {
          at,
          silentSince,
          async repair() {
            startPatroni(second, cluster.folders[second]);
            return [];
          },
        };
      },
    },
    {
      name: 'the primary is cut off from the network',
      isFailover: true,
      async strike() {
        const node = await primary();
        const at = Date.now();
        await cutOffNetwork(node);
        const writing = writeInside(node);
        return {
          at,
          async repair() {
            const written = await writing.stop();
            await healNetwork(node);
            return written > 0 ? [`the primary that was cut off acknowledged ${String(written)} writes`] : [];
          },
        };
      },
    },
    {
      name: 'an application process is killed',
      isFailover: false,
      async strike() {
        const at = Date.now();
        await killProcesses('app1');
        return {
          at,
          async repair() {
            await waitUntilReady('app1');
            return [];
          },
        };
      },
    },
    {
      name: 'the pooler is killed',
      isFailover: false,
      async strike() {
        const at = Date.now();
        await cluster.pooler.kill();
        return { at, repair: nothing };
      },
    },
    {
      name: 'the disk of the primary is full, and the operator hands over',
      isFailover: true,
      async strike() {
        const node = await primary();
        const ballast = join(cluster.folders[node].data, 'ballast');
        // `dd` ends with an error once the disk is full.
        await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']).catch(() => undefined);
        await delay(REACTION_MS);
        const at = Date.now();
        await handOver(node);
        return {
          at,
          async repair() {
            await rm(ballast);
            return [];
          },
        };
      },
    },
    {
      name: 'a newer version with migrations replaces the running one',
      isFailover: false,
      async strike() {
        const newer = await createNewerVersion();
        const at = Date.now();
        const problems: string[] = [];
        for (const application of ['app1', 'app2'] as const) {
          await cluster.applications[application].stop();
          cluster.applications[application] = await startApplication(application, newer);
          await waitUntilReady(application);
          if (application === 'app1') problems.push(...(await observeBothVersions()));
        }
        return { at, repair: async () => [...problems, ...(await finishMigrations(newer))] };
      },
    },
  ];
}

const nothing = async (): Promise<string[]> => [];

const findSynchronousStandby = async (): Promise<Node | null> =>
  (await readMembers()).find(({ role }) => role === 'sync_standby')?.name ?? null;

/** Runs the switchover command of docs/operations/scaling.md on a machine of the database. */
async function handOver(node: Node): Promise<void> {
  const command = ['patronictl', '-c', join(CONFIG, 'patroni.yml'), 'switchover', '--leader', node, '--force'];
  const [program, ...args] = inNamespace(node, command);
  await run(program!, args, { env: { ...process.env, ...PATRONI_SECRETS, LANG: 'C.UTF-8' } });
}

/** The older application must stay ready after the newer one has migrated the database. */
async function observeBothVersions(): Promise<string[]> {
  for (const until = Date.now() + SIDE_BY_SIDE_MS; Date.now() < until; await delay(POLL_MS)) {
    if (!(await isReady('app2'))) return ['the older version was not ready beside the newer one'];
  }
  return [];
}

async function finishMigrations(root: string): Promise<string[]> {
  await runAdmin('app1', root, 'migrations:finish');
  const client = await connectToNode(await waitFor('a primary', findPrimary), 'journal');
  const { rows } = await client.query(
    'select from pg_index join pg_class on pg_class.oid = indexrelid where relname = $1 and indisvalid',
    [NEW_INDEX],
  );
  await client.end();
  return rows.length === 1 ? [] : [`the migrations did not create the index ${NEW_INDEX}`];
}

/** Writes from inside a machine that is cut off from the others. `stop` resolves with the acknowledged writes. */
function writeInside(node: Node): { stop(): Promise<number> } {
  let isStopped = false;
  let written = 0;
  const command = inNamespace(node, [
    ...['timeout', String(ISOLATED_TIMEOUT_S), 'psql', '--no-psqlrc', '--host=127.0.0.1', '--username=postgres'],
    ...['--set=ON_ERROR_STOP=1', '--command=insert into probes values (now())'],
  ]);
  async function write(): Promise<void> {
    while (!isStopped) {
      await run(command[0]!, command.slice(1), { env: { ...process.env, PGPASSWORD: SUPERUSER_PASSWORD } }).then(
        () => (written += 1),
        () => delay(200),
      );
    }
  }
  const writing = write();
  return {
    async stop() {
      isStopped = true;
      await writing;
      return written;
    },
  };
}

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'data', 'node_modules', 'screenshots', 'test-results']);
const NEW_COLUMN = 'upgrade_note';
const NEW_INDEX = 'entries_by_upgrade_note';
const MIGRATIONS = [
  ['expand', `alter table public.entries add column ${NEW_COLUMN} text`],
  ['migrate', `create index concurrently if not exists ${NEW_INDEX} on public.entries (user_id, ${NEW_COLUMN})`],
] as const;

/** Returns the folder of the program. */
async function createNewerVersion(): Promise<string> {
  const root = join(STATE, 'newer');
  await mkdir(root, { recursive: true });
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.has(name)) await cp(join(ROOT, name), join(root, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const folder = join(root, 'database', 'migrations', 'app');
  const last = (await readMigrations()).at(-1)!.number;
  for (const [index, [phase, statement]] of MIGRATIONS.entries()) {
    const number = String(last + index + 1).padStart(4, '0');
    await writeFile(join(folder, `${number}_${phase}_upgrade.sql`), `-- phase: ${phase}\n${statement};\n`);
  }
  return root;
}
