/** The application processes: `npm start` in production mode, with settings from the environment alone. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../scripts/project.ts';
import { STATE } from './state-folder.ts';
import { PUBLIC_URL } from './front.ts';
import { addressOf, inNamespace } from './network.ts';
import { waitFor } from './nodes.ts';
import { startService, type Service } from './processes.ts';

const run = promisify(execFile);

export type Application = 'app1' | 'app2';
export const OWNER_PASSWORD = 'owner-password';

/** The settings differ only in the data directory, as on two machines. */
const settingsOf = (application: Application, root: string): Record<string, string> => ({
  NODE_ENV: 'production',
  HOST: '0.0.0.0',
  PORT: '3000',
  PUBLIC_URL,
  DATA_DIR: join(STATE, application),
  DATABASE_URL: `postgres://journal:${OWNER_PASSWORD}@pg1,pg2,pg3/journal?target_session_attrs=read-write`,
  DATABASE_POOL_URL: 'postgres://pooler:6432/journal',
  CLIENT_ADDRESS_HEADER: 'X-Forwarded-For',
  // By default the compile cache lies in node_modules, which both versions share. So the newer version gets its own.
  ...(root === ROOT ? {} : { NODE_COMPILE_CACHE: join(STATE, 'compiled') }),
});

/** @param root the folder of the program */
export async function startApplication(application: Application, root = ROOT): Promise<Service> {
  await mkdir(join(STATE, application), { recursive: true, mode: 0o700 });
  return startService({
    part: application,
    name: application,
    cwd: root,
    command: [process.execPath, join(root, 'scripts', 'run.mjs'), 'start'],
    env: settingsOf(application, root),
  });
}

/** Runs an operator's command on the machine of an application. Resolves with its output. */
export async function runAdmin(application: Application, root: string, ...args: string[]): Promise<string> {
  const command = [process.execPath, join(root, 'scripts', 'run.mjs'), 'admin', ...args];
  const [program, ...rest] = inNamespace(application, command);
  const env = { PATH: process.env['PATH'], ...settingsOf(application, root) };
  return (await run(program!, rest, { cwd: root, env })).stdout;
}

export const isReady = (application: Application): Promise<boolean> =>
  fetch(`http://${addressOf(application)}:3000/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

export const waitUntilReady = (application: Application): Promise<true> =>
  waitFor(`${application} is ready`, async () => (await isReady(application)) || null);
