/** Entry point of a worker process: serves like `main.ts`, and starts and stops as its supervisor says. */
import cluster from 'node:cluster';
import { flushCompileCache } from 'node:module';
import { readConfig } from '#server/config/config.ts';
import { openDatabase } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';
import { startServer, type StartedServer } from '#server/serve.ts';
import type { ToSupervisor, ToWorker } from './supervisor.ts';
import type { WorkerMetrics } from '../metrics/prom-client.ts';

const { promise: started, resolve: start } = Promise.withResolvers<number>();
const scrapes = new Map<number, (workers: WorkerMetrics[]) => void>();
let scrapeCount = 0;
let server: StartedServer | null = null;
let stopping: Promise<void> | null = null;

// Ctrl-C and a closed terminal signal all processes of the group: the supervisor decides.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('SIGTERM', stop);
process.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'start':
      return start(message.slot);
    case 'drain':
      return drain();
    case 'stop':
      return stop();
    case 'describe metrics':
      return void server
        ?.describeMetrics()
        .then((metrics) => sendMessage({ type: 'metrics', scrape: message.scrape, metrics }));
    case 'metrics of all': {
      scrapes.get(message.scrape)?.(message.workers);
      return void scrapes.delete(message.scrape);
    }
  }
});

const slot = await started;
const config = readConfig();
const log = createLog(config.logLevel).child({ worker: slot });

try {
  // The supervisor has started the embedded database.
  const database = await openDatabase({ config, log, whenRunning: config.databaseUrl === null ? 'join' : 'refuse' });
  server = await startServer({ config, database, log, scrape });
} catch (error) {
  process.stderr.write(`Hustle Forge cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
sendMessage({ type: 'ready' });
server.startJobs();
// Writes the compile cache now: Node also does so on exit, but not after SIGKILL.
flushCompileCache();

function sendMessage(message: ToSupervisor): void {
  if (process.connected) cluster.worker!.send(message);
}

/** The answer may never come if the supervisor ends; then this process ends as well. */
function scrape(): Promise<WorkerMetrics[]> {
  const { promise, resolve } = Promise.withResolvers<WorkerMetrics[]>();
  scrapeCount += 1;
  scrapes.set(scrapeCount, resolve);
  sendMessage({ type: 'scrape', scrape: scrapeCount });
  return promise;
}

function drain(): void {
  // A worker that was started again after a crash may get this while it starts, if its successor is ready first.
  if (server === null) stop();
  else void server.drain().then(stop, stop);
}

function stop(): void {
  // A worker that has not begun to serve has nothing to finish.
  stopping ??= (server?.stop() ?? Promise.resolve()).then(
    () => process.exit(0),
    (error: unknown) => {
      log.error({ err: error }, 'shutdown failed');
      process.exit(1);
    },
  );
}
