/**
 * Durability over HTTP: kills the server and its database, and lets the database hang, during a storm of saves. The
 * writers behave like the browser's saver: a save without an answer is compared with the row, and sent again only if the
 * row lacks it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { freePort } from '#server/free-port.ts';
import { programEnvironment } from '../support/servers/program-environment.ts';
import { findChildren, waitForReadyUrl } from './app-process.ts';
import { readPostmasterPid } from './database-process.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'src', 'server', 'main.ts');
const KILLS = process.env['TEST_LONG'] ? 50 : 3;
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_122);
const WRITERS = 6;
const RETRY_MS = 50;
/** The long form also stops all processes of the database, for longer than a connection may be silent. */
const HANG_MS = process.env['TEST_LONG'] ? 30_000 : 0;
/** The server and its database are back well within this time. */
const RECOVERY_MS = 60_000;

type Row = { id: string; revision: number; content: string };
type Writer = {
  headers: Record<string, string>;
  userId: string;
  /** Items that the server has confirmed, in order. */
  acknowledged: string[];
  attempted: number;
};

const kills = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 50, max: 900 }),
    victim: fc.constantFrom<'server' | 'database' | 'both'>('server', 'database', 'both'),
  }),
  { minLength: KILLS, maxLength: KILLS },
);

test(
  `each acknowledged save is stored exactly once after ${KILLS} times kill -9 and a hang of ${HANG_MS} ms (seed ${SEED})`,
  { timeout: 60_000 + KILLS * 30_000 + 2 * HANG_MS },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-saves-'));
    const port = await freePort();
    let server = await start(dataDir, port);
    const url = `http://localhost:${port}`;
    const today = dayOf(new Date());
    const unexpected: string[] = [];
    const stopping = new AbortController();

    /** Null: no answer, or one that asks for another try. */
    async function request(writer: Writer, method: string, query: string, body?: object): Promise<Row[] | null> {
      try {
        const answer = await fetch(`${url}/rest/v1/entries?${query}select=id,revision,content`, {
          method,
          headers: { ...writer.headers, prefer: 'return=representation' },
          ...(body && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(20_000),
        });
        const text = await answer.text();
        if (answer.ok) return JSON.parse(text) as Row[];
        const isRetryable = answer.status === 503 && Number(answer.headers.get('retry-after')) > 0;
        if (!isRetryable && !text.includes('"23505"')) unexpected.push(`${method}: ${answer.status} ${text}`);
        return null;
      } catch {
        return null;
      }
    }

    const ofDay = ({ userId }: Writer): string => `user_id=eq.${userId}&date=eq.${today}&`;
    const contentOf = (items: readonly string[]): string =>
      `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

    async function write(writer: Writer): Promise<void> {
      let row: Row | null = null;
      while (!stopping.signal.aborted) {
        const item = `item ${(writer.attempted += 1)}`;
        const content = contentOf([...writer.acknowledged, item]);
        for (let isStored = false; !isStored;) {
          const answer: Row[] | null = row
            ? await request(writer, 'PATCH', `${ofDay(writer)}id=eq.${row.id}&revision=eq.${row.revision}&`, {
                content,
              })
            : await request(writer, 'POST', '', {
                id: crypto.randomUUID(),
                user_id: writer.userId,
                date: today,
                content,
              });
          if (answer?.[0]) {
            row = answer[0];
            isStored = true;
            continue;
          }
          // The save may have been stored although its answer was lost.
          const found: Row[] | null = await request(writer, 'GET', ofDay(writer));
          if (!found) await delay(RETRY_MS);
          else row = found[0] ?? null;
          isStored = found?.[0]?.content.includes(`<p>${item}</p>`) ?? false;
        }
        writer.acknowledged.push(item);
      }
    }

    try {
      const writers = await Promise.all(Array.from({ length: WRITERS }, (_, index) => signUp(url, index)));
      const writing = writers.map(write);
      const countAcknowledged = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
      for (const { afterMs, victim } of fc.sample(kills, { numRuns: 1, seed: SEED })[0]!) {
        const before = countAcknowledged();
        await expect.poll(countAcknowledged, { timeout: RECOVERY_MS }).toBeGreaterThan(before + WRITERS);
        await delay(afterMs);
        if (victim !== 'server') process.kill(readPostmasterPid(dataDir), 'SIGKILL');
        if (victim === 'database') continue;
        const exited = once(server, 'exit');
        server.kill('SIGKILL');
        await exited;
        server = await start(dataDir, port);
      }
      if (HANG_MS > 0) {
        const postmaster = readPostmasterPid(dataDir);
        const processes = [postmaster, ...findChildren(postmaster).map(({ pid }) => pid)];
        for (const pid of processes) process.kill(pid, 'SIGSTOP');
        const [health, ready] = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`), delay(HANG_MS)]);
        expect([health.status, ready.status]).toEqual([200, 503]);
        for (const pid of processes) process.kill(pid, 'SIGCONT');
      }
      const before = countAcknowledged();
      await expect.poll(countAcknowledged, { timeout: RECOVERY_MS }).toBeGreaterThan(before + WRITERS);
      stopping.abort();
      await Promise.all(writing);

      expect(unexpected).toEqual([]);
      for (const writer of writers) {
        const rows = await request(writer, 'GET', `user_id=eq.${writer.userId}&`);
        expect(rows).toHaveLength(1);
        const stored = [...rows![0]!.content.matchAll(/<p>(item \d+)<\/p>/g)].map((match) => match[1]);
        expect(stored).toEqual(writer.acknowledged);
      }
    } finally {
      stopping.abort();
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

async function start(dataDir: string, port: number): Promise<ChildProcess> {
  const settings = {
    PORT: String(port),
    DATA_DIR: dataDir,
    SANDBOX: 'off',
    AUTH_RATE_LIMITS: 'off',
    LOG_LEVEL: 'silent',
  };
  const env = { ...programEnvironment(), PUBLIC_URL: `http://localhost:${port}`, ...settings };
  const server = spawn(process.execPath, [SERVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await waitForReadyUrl(server);
  return server;
}

async function signUp(url: string, index: number): Promise<Writer> {
  const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ email: `writer-${index}@example.com`, password: 'correct horse' });
  const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body });
  const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
  return { headers: { ...headers, authorization: `Bearer ${token}` }, userId: user.id, acknowledged: [], attempted: 0 };
}
