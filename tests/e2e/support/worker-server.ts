/** Starts the server of one Playwright worker, in a process of its own, with its own database and simulators. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '#server/free-port.ts';

export type WorkerServer = {
  readonly url: string;
  stop(): Promise<void>;
};

/**
 * @param settings environment variables for this server only; `server.ts` overwrites those of `sandboxedServerSettings`
 * @throws Error if the server exits before it is ready; its reason is on stderr
 */
export async function startWorkerServer(settings: Readonly<Record<string, string>>): Promise<WorkerServer> {
  const port = await freePort();
  const server = spawn(process.execPath, [join(import.meta.dirname, 'server.ts')], {
    env: { ...process.env, ...settings, PORT: String(port) },
    // The server exits when this IPC channel closes, so it does not outlive a worker that is killed.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(server, 'exit');
  const failed = exited.then(([code]) => {
    throw new Error(`the server on port ${port} exited with ${String(code)}`);
  });
  const ready = new Promise<void>((resolve) => {
    let output = '';
    server.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Hustle Forge is ready')) resolve();
    });
  });
  await Promise.race([ready, failed]);
  failed.catch(() => undefined);
  return {
    url: `http://localhost:${port}`,
    async stop() {
      server.kill('SIGTERM');
      await exited;
    },
  };
}
