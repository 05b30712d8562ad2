/**
 * A disk that turns read-only under a running server, as Linux does to a file system whose device fails a write. Needs
 * the right to mount one.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dayOf } from '#domain/day/day.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { createBreakableDisk } from './mounted-disk.ts';
import { startWriters, type SavingWriters } from './saving-writers.ts';
import { serverEnvironment, signUpAt, spawnServer, type SignedUp } from './processes.ts';

const WRITERS = 6;
/** How often the restart of the database fails before the disk is repaired. Its backoff doubles each time. */
const FAILED_RESTARTS = process.env['TEST_LONG'] ? 5 : 2;
/** The server and its database are back, or have stopped, well within this time. */
const LIMIT_MS = 60_000;

const disk = createBreakableDisk('read-only-disk.test.ts');

describe.skipIf(!disk.isMounted)('on a file system of its own (skipped without the right to mount)', () => {
  let url: string;
  let server: ReturnType<typeof spawnServer>;
  let account: SignedUp;
  let writers: SavingWriters | null = null;
  const lines: string[] = [];

  beforeAll(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    server = spawnServer(serverEnvironment(port, disk.folder, { LOG_LEVEL: 'error' }));
    createInterface({ input: server.stdout }).on('line', (line) => lines.push(line));
    await vi.waitUntil(() => lines.includes(`Hustle Forge is ready at ${url}`), { timeout: LIMIT_MS });
    account = await signUpAt(url);
    const row = { id: crypto.randomUUID(), user_id: account.userId, date: dayOf(new Date()), content: '<p>first</p>' };
    expect((await send('POST', '', row)).status).toBe(201);
  });
  afterAll(async () => {
    writers?.abandon();
    try {
      await stopServer();
    } finally {
      server.kill('SIGKILL');
      disk.remove();
    }
  });

  const send = (method: string, query: string, body?: object): Promise<Response> =>
    fetch(`${url}/rest/v1/entries?${query}select=revision`, {
      method,
      headers: { ...account.headers, prefer: 'return=representation' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
  const save = (content: string): Promise<Response> => send('PATCH', `user_id=eq.${account.userId}&`, { content });

  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null;
  async function stopServer(): Promise<void> {
    if (hasEnded()) return;
    const exited = once(server, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) });
    server.kill('SIGTERM');
    await exited;
  }

  /** Fails unless the answer asks the browser to keep the text and to send it again. */
  async function expectRefused(answer: Response): Promise<void> {
    expect(await answer.json()).toMatchObject({ code: 'PGRST000' });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }

  /** Repeats a save until the server stores it, and returns the revision. */
  async function saveUntilStored(content: string): Promise<number> {
    let stored: Response | null = null;
    const isStored = async (): Promise<boolean> => (stored = await save(content)).ok;
    await expect.poll(isStored, { timeout: LIMIT_MS }).toBe(true);
    return ((await stored!.json()) as { revision: number }[])[0]!.revision;
  }

  async function repairDisk(): Promise<void> {
    // The database ends by itself, because it cannot write, and its restarts fail.
    await expect.poll(() => disk.unmount(), { timeout: LIMIT_MS }).toBe(true);
    disk.repair();
  }

  test('a save on a disk that turned read-only gets 503, and is stored once after the repair', async () => {
    disk.makeReadOnly();
    await expectRefused(await save('<p>second</p>'));
    await repairDisk();
    expect(await saveUntilStored('<p>second</p>')).toBe(2);
  });

  test('concurrent saves get 503 until the repair, and each is stored exactly once', async () => {
    writers = await startWriters(url, WRITERS);
    await writers.waitForSaves();
    lines.splice(0);
    disk.makeReadOnly();
    const readOnlyAt = performance.now();
    const failedRestarts = () => lines.filter((line) => line.includes('the database restart failed'));
    while (failedRestarts().length < FAILED_RESTARTS) {
      const [saved, read, health] = await Promise.all([save('<p>lost</p>'), send('GET', ''), fetch(`${url}/healthz`)]);
      await expectRefused(saved);
      expect([200, 503]).toContain(read.status);
      expect(health.status).toBe(200);
    }
    expect(failedRestarts()[0]).toContain('EROFS');
    expect(writers.saves.filter(({ sentAt, status }) => sentAt > readOnlyAt && status !== 503)).toEqual([]);

    await repairDisk();
    await writers.waitForSaves();
    await writers.stop();
    expect(writers.unexpected).toEqual([]);
    expect(writers.saves.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(WRITERS);
    await writers.expectStoredOnce();
    // The revision counts what was stored, so no refused save was.
    expect(await saveUntilStored('<p>third</p>')).toBe(3);
    expect(hasEnded()).toBe(false);
  });

  test('a server on a read-only disk stops', async () => {
    disk.makeReadOnly();
    await expectRefused(await save('<p>fourth</p>'));
    await stopServer();
    expect(server.exitCode).toBe(0);
  });
});
