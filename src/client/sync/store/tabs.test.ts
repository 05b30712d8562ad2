import { beforeEach, describe, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { EntryTransport } from '../save-requests.ts';
import { createTabs } from './tabs.ts';

const DATE = day('2026-11-21');

describe('tabs', () => {
  const held: string[] = [];
  const requested: string[] = [];
  const locks = {
    request: (name: string, ...rest: unknown[]) => {
      requested.push(name);
      held.push(name);
      return (rest.at(-1) as () => Promise<unknown>)().finally(() => void held.splice(held.indexOf(name), 1));
    },
    query: async () => ({ held: held.map((name) => ({ name })) }),
  };
  const page = new EventTarget();
  beforeEach(() => {
    held.length = requested.length = 0;
    vi.stubGlobal('navigator', { locks });
    vi.stubGlobal('document', { visibilityState: 'visible' });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  });
  const removed = { kind: 'removed' } as const;
  const transport = { remove: async () => removed } as unknown as EntryTransport;

  test('know the writers of open pages of this user alone', async () => {
    const one = createTabs('ada', 'one', () => {});
    const leave = [one, createTabs('ada', 'two', () => {}), createTabs('ben', 'three', () => {})].map((tab) =>
      tab.join(),
    );
    expect([...(await one.aliveWriters())].sort()).toEqual(['one', 'two']);
    leave[1]!();
    await new Promise((resolve) => setImmediate(resolve));
    expect([...(await one.aliveWriters())]).toEqual(['one']);
    for (const end of leave) end();
  });

  test('send in turn, also while they are hidden, but a page that is being closed sends at once', async () => {
    vi.stubGlobal('document', { visibilityState: 'hidden' });
    const tabs = createTabs('ada', 'one', () => {});
    const leave = tabs.join();
    const version = { id: 'row', revision: 1 };
    expect(await tabs.serializeWrites(transport).remove(DATE, version)).toEqual(removed);
    const send = `hustle-forge:ada:send:${DATE}`;
    expect(requested.filter((name) => name === send)).toHaveLength(1);
    page.dispatchEvent(new Event('pagehide'));
    expect(await tabs.serializeWrites(transport).remove(DATE, version)).toEqual(removed);
    expect(requested.filter((name) => name === send)).toHaveLength(1);
    leave();
  });

  test('send without the lock of the day if another tab holds it for longer than a request lasts', async () => {
    const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort('timed out'));
    const waiting = { request: async (_name: string, { signal }: LockOptions) => signal!.throwIfAborted() };
    vi.stubGlobal('navigator', { locks: waiting });
    const remove = vi.fn(transport.remove);
    const tabs = createTabs('ada', 'one', () => {});
    expect(await tabs.serializeWrites({ ...transport, remove }).remove(DATE, { id: 'row', revision: 1 })).toBe(removed);
    expect(remove).toHaveBeenCalledOnce();
    expect(limit).toHaveBeenCalledWith(60_000);
    limit.mockRestore();
  });

  test('hear what another tab of the same user stored', async () => {
    const heard: unknown[] = [];
    const [one, two] = [createTabs('ada', 'one', () => {}), createTabs('ada', 'two', (message) => heard.push(message))];
    const leave = [one.join(), two.join()];
    one.announce({ date: DATE, stored: null, at: 5 });
    await expect.poll(() => heard).toEqual([{ date: DATE, stored: null, at: 5 }]);
    for (const end of leave) end();
  });
});
