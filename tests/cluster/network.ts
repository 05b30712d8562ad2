/** A network of this machine: one namespace for each part of the cluster, on a bridge that this process is on too. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PREFIX = 'hfc-';
const BRIDGE = 'hfc-bridge';
/** `ip netns exec` shows these files in the place of those in `/etc`. */
const FILES_OF_NAMESPACES = '/etc/netns';
const NETWORK = '10.77.0';
const HOST_ADDRESS = `${NETWORK}.1`;
const FIRST_CLIENT = 100;

/** The parts of the cluster, with the last byte of their addresses. */
const PARTS = { pg1: 11, pg2: 12, pg3: 13, pooler: 21, balancer: 31, app1: 41, app2: 42 } as const;
export type Part = keyof typeof PARTS;

export const addressOf = (part: Part): string => `${NETWORK}.${PARTS[part]}`;
/** The address from which a client connects. The server limits requests by address, so each client has its own. */
export const clientAddress = (index: number): string => `${NETWORK}.${FIRST_CLIENT + index}`;

const namespaceOf = (part: Part): string => PREFIX + part;
const deviceOf = (part: Part): string => PREFIX + part;
const partNames = Object.keys(PARTS) as Part[];

/** The arguments that run a command in the namespace of a part. */
export const inNamespace = (part: Part, command: readonly string[]): string[] => [
  ...['ip', 'netns', 'exec', namespaceOf(part)],
  ...command,
];

const ip = async (...args: string[]): Promise<string> => (await run('ip', args)).stdout;

/** @throws Error if this machine does not allow network namespaces, virtual devices or mounts. */
export async function checkPermissions(): Promise<void> {
  const probe = `${PREFIX}probe`;
  try {
    await ip('netns', 'add', probe);
    await ip('-n', probe, 'link', 'add', 'probe0', 'type', 'veth', 'peer', 'name', 'probe1');
    await ip('-n', probe, 'link', 'add', 'probe2', 'type', 'bridge');
    await run('ip', ['netns', 'exec', probe, 'nft', 'add', 'table', 'inet', 'probe']);
    await run('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  } finally {
    await ip('netns', 'delete', probe).catch(() => undefined);
  }
}

export async function createNetwork(clients: number): Promise<void> {
  await ip('link', 'add', BRIDGE, 'type', 'bridge');
  await ip('address', 'add', `${HOST_ADDRESS}/24`, 'dev', BRIDGE);
  await ip('link', 'set', BRIDGE, 'up');
  for (let index = 0; index < clients; index += 1) {
    await ip('address', 'add', `${clientAddress(index)}/24`, 'dev', BRIDGE);
  }
  const hosts = partNames.map((part) => `${addressOf(part)} ${part}\n`).join('');
  for (const part of partNames) {
    const namespace = namespaceOf(part);
    await ip('netns', 'add', namespace);
    await ip('link', 'add', deviceOf(part), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    await ip('link', 'set', deviceOf(part), 'master', BRIDGE, 'up');
    await ip('-n', namespace, 'address', 'add', `${addressOf(part)}/24`, 'dev', 'eth0');
    await ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    await ip('-n', namespace, 'link', 'set', 'lo', 'up');
    await mkdir(join(FILES_OF_NAMESPACES, namespace), { recursive: true });
    await writeFile(join(FILES_OF_NAMESPACES, namespace, 'hosts'), `127.0.0.1 localhost\n${hosts}`);
  }
}

/** Drops every packet from and to a part. No side hears of it, as when a cable is cut behind a switch. */
export async function cutOffNetwork(part: Part): Promise<void> {
  const rules = `table inet cut {
    chain input { type filter hook input priority 0; iifname "eth0" drop; }
    chain output { type filter hook output priority 0; oifname "eth0" drop; }
  }`;
  await run('ip', ['netns', 'exec', namespaceOf(part), 'nft', rules]);
}

export async function healNetwork(part: Part): Promise<void> {
  await run('ip', ['netns', 'exec', namespaceOf(part), 'nft', 'delete', 'table', 'inet', 'cut']);
}

/** Ends every process of a part with SIGKILL, as when its machine loses power. */
export const killProcesses = (part: Part): Promise<number> => signalAll(namespaceOf(part), 'SIGKILL');

/** Ends every process of a part but those of this program. */
export const killProcessesExcept = (part: Part, program: string): Promise<number> =>
  signalAll(namespaceOf(part), 'SIGKILL', (name) => name !== program);

/** Stops every process of a part, as when its virtual machine is paused: connections stay open, and nothing answers. */
export const pauseProcesses = (part: Part): Promise<number> => signalAll(namespaceOf(part), 'SIGSTOP');
export const resumeProcesses = (part: Part): Promise<number> => signalAll(namespaceOf(part), 'SIGCONT');

/** Resolves with the number of processes that got the signal. */
async function signalAll(
  namespace: string,
  signal: NodeJS.Signals,
  isMeant: (program: string) => boolean = () => true,
): Promise<number> {
  const pids: number[] = [];
  for (const pid of await findProcesses(namespace)) {
    const program = await readFile(`/proc/${String(pid)}/comm`, 'utf8').catch(() => '');
    if (isMeant(program.trim())) pids.push(pid);
  }
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended since it was listed.
    }
  }
  return pids.length;
}

async function findProcesses(namespace: string): Promise<number[]> {
  const pids = await ip('netns', 'pids', namespace).catch(() => '');
  return pids.split('\n').filter(Boolean).map(Number);
}

/** Removes everything that `createNetwork` made, and ends all processes in it. Also removes what a killed run left. */
export async function removeNetwork(): Promise<void> {
  const namespaces = (await ip('netns', 'list'))
    .split('\n')
    .map((line) => line.split(' ')[0]!)
    .filter((name) => name.startsWith(PREFIX));
  for (const namespace of namespaces) {
    // A process may start another one while the list is read.
    while ((await signalAll(namespace, 'SIGKILL')) > 0);
    await ip('netns', 'delete', namespace);
  }
  // The kernel removes the devices of a namespace some time after the namespace.
  const devices = JSON.parse(await ip('-json', 'link', 'show')) as { ifname: string }[];
  const names = devices.map(({ ifname }) => ifname).filter((name) => name.startsWith(PREFIX));
  // Best effort: a namespace takes its devices with it, and one end of a pair takes the other.
  for (const name of names) await ip('link', 'delete', name).catch(() => undefined);
  const folders = await readdir(FILES_OF_NAMESPACES).catch((): string[] => []);
  for (const folder of folders.filter((name) => name.startsWith(PREFIX))) {
    await rm(join(FILES_OF_NAMESPACES, folder), { recursive: true });
  }
}
