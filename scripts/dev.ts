/**
 * `npm run dev`: restarts the server and refreshes the browser when a file changes. Vite serves the pages and proxies
 * API requests to the server. The sandbox keeps running across restarts, so its mail is kept.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { toolCommand } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { loadEnvFile, ROOT } from './project.ts';
import { offerSsoProvider } from './sandbox/register-sso-provider.ts';
import { startSandbox } from './sandbox/start-sandbox.ts';

const SERVER_PORT_OFFSET = 1;

loadEnvFile();
const pagesPort = Number(process.env['PORT'] ?? 3000);
const serverPort = pagesPort + SERVER_PORT_OFFSET;
const publicUrl = `http://localhost:${pagesPort}`;
const dataDir = resolve(process.env['DATA_DIR'] || 'data');

const children: ChildProcess[] = [];
const start = (args: readonly string[], env: Record<string, string>): void => {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' });
  children.push(child);
  child.on('exit', () => stop());
};

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  void Promise.all(ended).then(() => process.exit(0));
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
exitWithParent();

const sandbox = process.env['SANDBOX'] === 'off' ? null : await startSandbox({ publicUrl, dataDir });
const serverSettings = { ...sandbox, PORT: String(serverPort), PUBLIC_URL: publicUrl };
start(['--watch', '--watch-preserve-output', join('src', 'server', 'main.ts')], serverSettings);
start(toolCommand('vite', ['--clearScreen', 'false']), {
  VITE_PORT: String(pagesPort),
  DEV_SERVER_URL: `http://127.0.0.1:${serverPort}`,
});
if (sandbox !== null) await offerSsoProvider({ ...process.env, ...serverSettings });
