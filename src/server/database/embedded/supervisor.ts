/** Starts PostgreSQL, restarts it after a crash, and stops it cleanly. The caller holds the directory lock. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { findBinaries } from './binaries.ts';
import { clusterAddress, clusterPaths, clusterVersion, createCluster, rotateLog } from './cluster.ts';
import { chooseEndpoint, type Endpoint } from './endpoint.ts';
import { reclaimCluster, readLockFile, signalServer, type StopMode } from './postmaster.ts';
import { chooseServerUser, childEnvironment } from './server-user.ts';
import type { Logger } from '../../log.ts';

type SupervisedServer = { endpoint: Endpoint; stop(): Promise<void> };

const POLL_MS = 10;
/** Long, because crash recovery replays the WAL first. */
const START_LIMIT_MS = 120_000;
export const STOP_LIMIT_MS = 30_000;
export const IMMEDIATE_STOP_LIMIT_MS = 5_000;
/**
 * After this many failures a fatal log line calls for an operator. Restarts go on: a full disk may have space again
 * later.
 */
const ALARM_AFTER_RESTARTS = 5;
const MAX_RESTART_DELAY_MS = 30_000;
const STABLE_AFTER_MS = 60_000;
/** Often, because a flood of refused statements writes megabytes of errors in a minute. */
const LOG_CHECK_MS = 60_000;

export async function superviseServer(
  dataDir: string,
  log: Logger,
  extra: Record<string, string>,
): Promise<SupervisedServer> {
  const paths = clusterPaths(dataDir);
  const user = await chooseServerUser(paths.cluster);
  const existing = await clusterVersion(dataDir);
  const binaries = await findBinaries(dataDir, user, existing);
  if (existing === null) await createCluster(dataDir, binaries, user);
  const endpoint = await chooseEndpoint(paths.cluster);
  const settings = Object.entries({ ...serverSettings(endpoint, binaries.version), ...extra });
  const settingFlags = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  // A full disk must not keep the database from starting.
  const rotate = () =>
    rotateLog(paths).catch((error: unknown) => log.warn({ err: error }, "the database's log cannot be rotated"));
  const logCheck = setInterval(() => void rotate(), LOG_CHECK_MS).unref();

  let child: ChildProcess | null = null;
  const stopping = new AbortController();
  let restarting: Promise<void> | null = null;

  async function launch(): Promise<void> {
    await reclaimCluster(paths.cluster, binaries, (pid) => log.warn({ pid }, 'stopping an orphaned database server'));
    await rotate();
    const output = await open(paths.logFile, 'a', 0o600);
    const started = spawn(binaries.postgres, ['-D', clusterAddress(paths.cluster, user), ...settingFlags], {
      ...user,
      cwd: paths.cluster,
      env: childEnvironment(),
      // PostgreSQL gets a session of its own. Ctrl-C signals the whole foreground process group, and would otherwise
      // stop the database while requests are in flight.
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    try {
      await once(started, 'spawn');
    } finally {
      await output.close();
    }
    started.unref();
    child = started;
    await untilReady(started, paths.cluster, paths.logFile);
    const readyAt = Date.now();
    const onExit = () => {
      if (!stopping.signal.aborted) restarting = restart(Date.now() - readyAt);
    };
    if (hasEnded(started)) onExit();
    else started.once('exit', onExit);
  }

  let failures = 0;
  async function restart(servedMs: number): Promise<void> {
    failures = servedMs > STABLE_AFTER_MS ? 0 : failures;
    while (!stopping.signal.aborted) {
      log.error({ logFile: paths.logFile }, 'the database exited unexpectedly, restarting it');
      failures += 1;
      if (failures === ALARM_AFTER_RESTARTS)
        log.fatal({ logFile: paths.logFile }, 'the database keeps crashing: check its log, its disk and its memory');
      try {
        return await launch();
      } catch (error) {
        log.error({ err: error }, 'the database restart failed');
        const delayMs = Math.min(2 ** failures * 100, MAX_RESTART_DELAY_MS);
        await delay(delayMs, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  const signal = (mode: StopMode) => {
    if (child?.pid && !hasEnded(child)) signalServer(child.pid, mode, binaries);
  };
  const unregister = stopOnProcessExit(() => signal('fast'));

  async function stop(): Promise<void> {
    stopping.abort();
    clearInterval(logCheck);
    await restarting;
    if (child && !hasEnded(child)) {
      signal('fast');
      if (!(await endsWithin(child, STOP_LIMIT_MS))) signal('immediate');
      // A process that is stopped, or that waits for a disk that hangs, handles no signal. The next start waits for it,
      // up to a minute.
      if (!(await endsWithin(child, IMMEDIATE_STOP_LIMIT_MS)))
        log.error({ pid: child.pid }, 'the database hangs: it ends by itself once it goes on');
    }
    unregister();
  }

  try {
    await launch();
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, stop };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function endsWithin(child: ChildProcess, limitMs: number): Promise<boolean> {
  if (hasEnded(child)) return true;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limitMs);
  await once(child, 'exit', { signal: late.signal }).catch(() => undefined);
  clearTimeout(timer);
  return hasEnded(child);
}

/** Resolves once the lock file says that the server accepts connections. */
async function untilReady(child: ChildProcess, cluster: string, logFile: string): Promise<void> {
  const since = Date.now();
  for (;;) {
    const lock = await readLockFile(cluster);
    if (lock?.ready && lock.pid === child.pid) return;
    if (hasEnded(child) || Date.now() - since > START_LIMIT_MS) {
      const logTail = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
      throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${logTail}`);
    }
    await delay(POLL_MS);
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const endsDatabase = Symbol('ends the database');

/**
 * Calls `stopNow` (synchronous) when the process exits by itself, or by one of `SIGNALS` that the program does not
 * handle. Returns a function that removes the listeners.
 *
 * A signal without a listener ends Node before `exit` is emitted, so this function registers a listener. If the program
 * has a listener of its own, the program stops the database gracefully. Otherwise this listener calls `stopNow` and
 * sends the signal again, so that the process ends by the signal.
 */
function stopOnProcessExit(stopNow: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals) => {
      const handledByProgram = process.listeners(signal).some((listener) => !(endsDatabase in listener));
      if (handledByProgram) return;
      stopNow();
      unregister();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
    { [endsDatabase]: true },
  );
  const unregister = () => {
    process.off('exit', stopNow);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.on('exit', stopNow);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return unregister;
}

// Settings of the embedded server: sized for a small machine, and no journal text in its log.

/** Enough for the server's pool, an operator's command and psql together. */
const MAX_CONNECTIONS = 50;
/** The pool of one more process, its listener and a spare one. */
const CONNECTIONS_PER_WORKER = 18;

/** `max_connections` for several processes. During a rolling restart one of them exists twice. */
export const connectionsFor = (workers: number): string => String(MAX_CONNECTIONS + workers * CONNECTIONS_PER_WORKER);

/** @param version such as `18.4` */
export function serverSettings(endpoint: Endpoint, version: string): Record<string, string> {
  return {
    port: String(endpoint.port),
    // Relative to the server's working directory (the cluster): a short path that needs no traversal from `/`.
    unix_socket_directories: endpoint.kind === 'socket' ? '.' : '',
    unix_socket_permissions: '0700',
    listen_addresses: endpoint.kind === 'loopback' ? '127.0.0.1' : '',
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '64MB',
    // Fewer processes: no launcher of logical replication, and from version 18 on no I/O workers.
    max_logical_replication_workers: '0',
    ...(Number.parseInt(version, 10) >= 18 && { io_method: 'sync' }),
    // Our statements are short: JIT compilation would cost more than it saves.
    jit: 'off',
    // An acknowledged save is on disk. Set here, because a setting of the command line overrides postgresql.conf.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Threat: the DETAIL of an error quotes the rejected row, and a failed statement may contain values. Neither is
    // logged, because the log must not contain journal text.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  };
}
