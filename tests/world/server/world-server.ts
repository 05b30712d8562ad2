/** The real server and its database, shared by all schedules. Each schedule has a user of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Day } from '#domain/day/day.ts';
import { withDateHeader, withoutDateHeader } from '#domain/log/entry-html.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import { createAccessTokens } from '#server/auth/keys/access-tokens.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { createLog } from '#server/log.ts';
import { programEnvironment } from '../../support/product.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { TIME_HEADER, installUserClocks } from './user-clocks.ts';

const PROGRAM = join(import.meta.dirname, 'server-program.ts');
const NO_SESSION = '00000000-0000-0000-0000-000000000000';

export type ServerRequest = { method: string; path: string; headers: Record<string, string>; body: string };
export type ServerResponse = { status: number; headers: Record<string, string>; text: string };

export const readResponse = async (response: IncomingMessage): Promise<ServerResponse> => ({
  status: response.statusCode!,
  headers: response.headers as Record<string, string>,
  text: await text(response),
});

/** The server that receives the requests of a schedule. */
export type Backend = {
  /** Rejects if the server does not answer. `now`: the time of the schedule. */
  send: (request: ServerRequest, now: number) => Promise<ServerResponse>;
  /** Ends the server with `kill -9` and starts another. */
  restart: () => Promise<void>;
  close: () => Promise<void>;
};
type ServerProcess = { program: ChildProcess; port: number };

export type WorldServer = Awaited<ReturnType<typeof startWorldServer>>;

export async function startWorldServer() {
  const log = createLog('error');
  const [db, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'hustle-forge-world-'))]);
  const { database } = db;
  const keys = await loadSigningKeys({
    signingKeyFile: null,
    dataDir,
    database,
    clock: { now: () => new Date() },
    log,
  });
  const setUserClock = await installUserClocks(db.admin);
  const agent = new Agent({ keepAlive: true });
  let processes = 0;
  const shared = await startProcess();

  async function startProcess(): Promise<ServerProcess> {
    processes += 1;
    const env = {
      ...programEnvironment(),
      DATA_DIR: dataDir,
      DATABASE_URL: db.url,
      SANDBOX: 'off',
      AUTH_RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
    };
    const program = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [message] = (await once(program, 'message')) as [{ port: number }];
    return { program, port: message.port };
  }

  async function stopProcess({ program }: ServerProcess): Promise<void> {
    const exited = once(program, 'exit');
    program.kill('SIGKILL');
    await exited;
  }

  const send = (port: number, { method, path, headers, body }: ServerRequest, now: number): Promise<ServerResponse> =>
    new Promise((resolve, reject) => {
      const options = { agent, host: 'localhost', port, method, path };
      const request = httpRequest({ ...options, headers: { ...headers, [TIME_HEADER]: String(now) } }, (response) => {
        resolve(readResponse(response));
      });
      request.on('error', reject);
      request.end(body);
    });

  return {
    setUserClock,

    /** Creates a user with this plan and these logs. */
    async addUser(userId: string, plan: PlanId, logs: ReadonlyMap<Day, string>): Promise<void> {
      await db.admin.query('insert into auth.users (id) values ($1)', [userId]);
      if (plan === 'premium') await this.setPlan(userId, plan);
      if (logs.size === 0) return;
      await db.admin.query(
        'insert into public.entries (user_id, date, content) select $1, * from unnest($2::date[], $3::text[])',
        [userId, [...logs.keys()], [...logs].map(([date, html]) => withDateHeader(date, html))],
      );
    },

    async setPlan(userId: string, plan: PlanId): Promise<void> {
      await db.admin.query('update public.profiles set subscription_plan = $2 where id = $1', [userId, plan]);
    },

    async readLogs(userId: string): Promise<Map<Day, string>> {
      const { rows } = await db.admin.query<{ date: Day; content: string }>(
        'select date, content from public.entries where user_id = $1 order by date',
        [userId],
      );
      return new Map(rows.map(({ date, content }) => [date, withoutDateHeader(content)]));
    },

    async readVersion(userId: string, date: Day): Promise<{ id: string; revision: number } | undefined> {
      const { rows } = await db.admin.query<{ id: string; revision: number }>(
        'select id, revision from public.entries where user_id = $1 and date = $2',
        [userId, date],
      );
      return rows[0];
    },

    async issueToken(userId: string, now: number): Promise<string> {
      const clock = { now: () => new Date(now) };
      const { accessToken } = await createAccessTokens({ keys, issuer: '', clock, database: db.database }).issue({
        ...{ userId, email: 'ada@example.com', phone: '', aud: 'authenticated', role: 'authenticated' },
        ...{ appMetadata: {}, userMetadata: {}, isAnonymous: false, sessionId: NO_SESSION, aal: 'aal1', amr: [] },
      });
      return accessToken;
    },

    /**
     * A schedule that kills its server gets processes of its own, because other schedules use the shared one meanwhile.
     * Once all schedules together have started `maxProcesses`, `restart` does nothing.
     */
    async openBackend(isKilled: boolean, maxProcesses: number): Promise<Backend> {
      if (!isKilled || processes >= maxProcesses) {
        return { send: (...request) => send(shared.port, ...request), restart: async () => {}, close: async () => {} };
      }
      let running = await startProcess();
      return {
        send: (...request) => send(running.port, ...request),
        async restart() {
          if (processes >= maxProcesses) return;
          await stopProcess(running);
          // The new process has another port, so the agent reuses no connection to the old one.
          running = await startProcess();
        },
        close: () => stopProcess(running),
      };
    },

    async close(): Promise<void> {
      agent.destroy();
      await stopProcess(shared);
      await db.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
