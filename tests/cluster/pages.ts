/**
 * Simulated pages: the product's own saving engine, drafts, merge and transport (tests/world) on the real clock,
 * against the cluster over HTTP. Every other user has two devices, which hear of each other's saves as from the stream
 * of changes.
 */
import { randomUUID } from 'node:crypto';
import type { DayChange } from '#domain/live-event.ts';
import { loadMerge } from '#client/sync/merge-loader.ts';
import { log } from '../support/day-saver-harness.ts';
import { createDevice } from '../world/browser/device.ts';
import { createRealWork } from '../world/browser/real-work.ts';
import { installRealms } from '../world/browser/realm.ts';
import { itemsOf, openTab, type Tab } from '../world/browser/tab.ts';
import { createLedger as createWordLedger } from '../world/ledger.ts';
import type { ServerRequest, ServerResponse } from '../world/server/world-server.ts';
import { createClient, signUp } from './client.ts';
import type { Ledger } from './ledger.ts';
import { createRealClock } from './real-clock.ts';

/** The time from the commit of a change until another device receives it. */
const LIVE_MS = 60;
const TYPE_MS = 3_000;
const POLL_MS = 200;
const FREE_PLAN = { subscription_plan: 'free', access_valid_until: null } as const;

export type Pages = {
  /** Conflicts that pages asked about, and lines that a merge doubled. Users who only add lines must cause neither. */
  readonly problems: readonly string[];
  /** Resolves once every page has saved something that was sent after `since`; rejects after `timeoutMs`. */
  waitUntilAllSaved(since: number, timeoutMs: number): Promise<void>;
  /** Stops typing, and resolves when nothing is unsent. */
  finish(timeoutMs: number): Promise<void>;
  /** Describes each typed word that is missing or doubled in `stored`, the items of each user's logs. */
  problemsOf(stored: ReadonlyMap<string, readonly string[]>): string[];
  close(): void;
};

/** @param firstClient the index of the first client address */
export async function openPages(
  users: number,
  certificate: string,
  ledger: Ledger,
  firstClient: number,
): Promise<Pages> {
  await loadMerge();
  const restoreGlobals = installRealms();
  const clock = createRealClock();
  const work = createRealWork();
  const words = createWordLedger(clock.now);
  const problems: string[] = [];
  const tabs: Tab[] = [];
  /** When each tab sent its last acknowledged save. */
  const savedAt = new Map<Tab, number>();
  let isTyping = true;

  const accounts = await Promise.all(
    Array.from({ length: users }, async (_, index) => {
      const client = createClient(firstClient + index, certificate);
      return { client, session: await signUp(client, `page-${String(index)}`) };
    }),
  );

  function openUser({ client, session }: (typeof accounts)[number], index: number): void {
    const userId = session.user.id;
    const own: Tab[] = [];

    function tellOthers(writer: Tab, { revision, id }: { revision: number; id: string }): void {
      const change: DayChange = { date: writer.page()!.date, stored: true, id, revision };
      for (const tab of own) if (tab !== writer) clock.schedule(LIVE_MS, () => tab.applyChange(change));
    }

    for (const name of index % 2 === 0 ? ['laptop'] : ['laptop', 'phone']) {
      const send = async (request: ServerRequest): Promise<ServerResponse> => {
        const sentAt = clock.now();
        const response = await client.send(request);
        if (request.method !== 'GET' && response.status < 300) {
          const row = (JSON.parse(response.text) as { id: string; revision: number }[])[0];
          if (row) {
            ledger.acknowledge(userId, itemsOf(request.body));
            savedAt.set(tab, sentAt);
            tellOthers(tab, row);
          }
        }
        return response;
      };
      const device = createDevice({
        ...{ name: `${name} of user ${String(index)}`, userId, clock, work, send },
        ...{ utcOffsetMinutes: 0, latencyMs: 0, onWritten: () => undefined },
        issueToken: async () => session.access_token,
        killServer: async () => undefined,
      });
      const tab: Tab = openTab({
        device,
        number: 1,
        findPlan: () => FREE_PLAN,
        randomUUID,
        onQuestion: () => problems.push(`${device.name} was asked about a conflict`),
        onKeptTwice: () => problems.push(`${device.name} keeps a line twice`),
      });
      own.push(tab);
      tabs.push(tab);
      tab.openDay(tab.today());
    }
  }

  accounts.forEach(openUser);

  const type = (tab: Tab): void => {
    if (!isTyping) return;
    if (tab.page()?.saver()) tab.edit((items) => [...items, words.newWord(tab)]);
    clock.schedule(TYPE_MS, () => type(tab));
  };
  tabs.forEach((tab, index) => clock.schedule((TYPE_MS * index) / tabs.length, () => type(tab)));

  async function waitUntil(what: string, isDone: () => boolean, timeoutMs: number): Promise<void> {
    for (const until = clock.now() + timeoutMs; !isDone();) {
      if (clock.now() > until) throw new Error(`${what}: not within ${String(timeoutMs / 1_000)} s`);
      await clock.delay(POLL_MS);
    }
  }

  return {
    problems,
    waitUntilAllSaved: (since, timeoutMs) =>
      waitUntil('every page saves', () => tabs.every((tab) => (savedAt.get(tab) ?? 0) > since), timeoutMs),
    async finish(timeoutMs) {
      isTyping = false;
      await waitUntil('nothing is unsent', () => !tabs.some((tab) => tab.isWaiting()), timeoutMs);
    },
    problemsOf: (stored) =>
      words.problemsOf(
        accounts.map(({ session }) => log(...(stored.get(session.user.id) ?? []))),
        false,
      ),
    close() {
      for (const tab of tabs) tab.crash();
      for (const { client } of accounts) client.close();
      restoreGlobals();
    },
  };
}
