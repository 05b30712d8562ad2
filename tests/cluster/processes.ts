/**
 * Starts the programs of the cluster, each in the network namespace of its part (`network.ts`). Their output goes to
 * `test-results/cluster`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/project.ts';
import { LOGS } from './state-folder.ts';
import { inNamespace, type Part } from './network.ts';

type Command = {
  part: Part;
  /** The name of the log file. */
  name: string;
  command: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** A user other than root. */
  user?: string;
  /** The folder that the process sees as `/run/postgresql`, because machines do not share their sockets. */
  sockets?: string;
};

const MOUNT_SOCKETS = 'mount --bind "$1" /run/postgresql && shift && exec "$@"';

export type StartedProcess = {
  readonly child: ChildProcess;
  /** Resolves once the process has ended. */
  readonly ended: Promise<void>;
  stop(signal: NodeJS.Signals): Promise<void>;
};

export function startProcess({ part, name, command, env = {}, cwd = ROOT, user, sockets }: Command): StartedProcess {
  const asUser = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'];
  // `ip netns exec` gives the process a mount namespace, so no other process sees this bind mount.
  const mounting = sockets === undefined ? [] : ['sh', '-c', MOUNT_SOCKETS, 'sh', sockets];
  const [program, ...args] = inNamespace(part, [...mounting, ...asUser, ...command]);
  const child = spawn(program!, args, {
    cwd,
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in a terminal reaches this program alone, which then ends the others in order.
    detached: true,
  });
  const log = createWriteStream(join(LOGS, `${name}.log`), { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  // If the program does not exist, the child emits `error` instead of `exit`, which rejects `once`.
  const ended = once(child, 'exit').then(
    () => undefined,
    (error: Error) => void log.write(`${error.message}\n`),
  );
  return {
    child,
    ended,
    async stop(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

/** A process that is started again one second after it ended, as by systemd with `Restart=always`. */
export type Service = {
  /** Resolves when the process has ended; the next one starts a second later. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

const RESTART_MS = 1_000;

let areRestartsOver = false;
/** Call before all processes are killed at the end of the run, so that none is started again. */
export const stopRestarting = (): void => void (areRestartsOver = true);

export function startService(command: Command): Service {
  let isStopped = false;
  let running = startProcess(command);
  let timer: NodeJS.Timeout | undefined;
  function supervise(): void {
    void running.ended.then(() => {
      if (isStopped || areRestartsOver) return;
      timer = setTimeout(() => {
        if (areRestartsOver) return;
        running = startProcess(command);
        supervise();
      }, RESTART_MS);
    });
  }
  supervise();
  return {
    kill: () => running.stop('SIGKILL'),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      if (running.child.exitCode === null && running.child.signalCode === null) await running.stop('SIGTERM');
    },
  };
}
