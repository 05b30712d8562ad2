/** The devices of one schedule, on one clock, with one user of the server. */
import { addDays, day, earliestToday, latestToday, type Day } from '#domain/day/day.ts';
import type { DayChange } from '#domain/live-event.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import type { PlanColumns, PlanId } from '#domain/plan/plan.ts';
import type { DayDraft } from '#client/sync/day-drafts.ts';
import type { Conflict } from '#client/sync/day-saver/state.ts';
import { log } from '../support/day-saver-harness.ts';
import { createDevice, withSessionOf, type Device } from './browser/device.ts';
import { APPEND_PATH, createProgram } from './program.ts';
import { createRealWork } from './browser/real-work.ts';
import { itemsOf, openTab, type Tab } from './browser/tab.ts';
import { createVirtualClock } from './browser/virtual-clock.ts';
import { createLedger } from './ledger.ts';
import type { Schedule } from './schedule.ts';
import type { ServerRequest, ServerResponse, WorldServer } from './server/world-server.ts';

const DEVICE_NAMES = ['laptop', 'phone', 'tablet', 'desktop'];
/** The time from the commit of a change until an online tab receives it from the stream of changes. */
const LIVE_MS = 60;
/** A limit, because a server process takes a second to start. */
const MAX_SERVER_PROCESSES = process.env['TEST_LONG'] ? 50 : 5;
/** The free plan cannot open a log of this age. */
export const LOCKED_AFTER_DAYS = 35;

/** Its multiples are spread evenly over the fractions, so that the jitter of retries differs. */
const GOLDEN_RATIO = 1.618_033_988_749_895;

let users = 0;

export type World = Awaited<ReturnType<typeof createWorld>>;

export async function createWorld(server: WorldServer, schedule: Schedule) {
  const start = Date.parse(schedule.startsAt);
  const work = createRealWork();
  const clock = createVirtualClock(start, work);
  const user = (users += 1);
  const userId = uuid(user, 0);
  const ledger = createLedger(clock.now);
  const history: string[] = [];
  const problems: string[] = [];
  const note = (text: string): void =>
    void history.push(`${new Date(clock.now()).toISOString().slice(5, 23).replace('T', ' ')}  ${text}`);

  const utcToday = day(schedule.startsAt.slice(0, 10));
  const logs = new Map<Day, string>();
  const daysAgo = schedule.plan === 'premium' ? [0, 1, LOCKED_AFTER_DAYS] : [0, 1];
  for (const date of daysAgo.map((ago) => addDays(utcToday, -ago))) {
    const items = Array.from({ length: schedule.items }, () => ledger.newWord(null));
    if (items.length === 0) continue;
    logs.set(date, log(...items));
    note(`${date} begins as ${quote(items)}`);
  }
  await server.addUser(userId, schedule.plan, logs);
  const isKilled = schedule.steps.some((step) => step.do === 'killServer');
  const backend = await server.openBackend(isKilled, MAX_SERVER_PROCESSES);

  let plan: PlanColumns = { subscription_plan: schedule.plan, access_valid_until: null };
  async function setPlan(id: PlanId): Promise<void> {
    plan = { ...plan, subscription_plan: id };
    await server.setPlan(userId, id);
  }

  let databaseDays = '';
  async function send(request: ServerRequest): Promise<ServerResponse> {
    const now = new Date(clock.now());
    const days = earliestToday(now) + latestToday(now);
    if (days !== databaseDays) {
      databaseDays = days;
      await server.setUserClock(userId, clock.now());
    }
    const response = await backend.send(request, clock.now());
    const appended = appendedDay(request, response);
    // The stream of changes names the row, which the answer of an append does not.
    const version = appended === null ? undefined : await server.readVersion(userId, appended);
    return version ? { ...response, text: JSON.stringify([version]) } : response;
  }

  let uuids = 0;
  let randoms = 0;
  let tabCount = 0;
  const tabs = new Set<Tab>();
  const devices = schedule.devices.map(({ utcOffsetMinutes, latencyMs }, index) =>
    createDevice({
      ...{ name: DEVICE_NAMES[index]!, userId, clock, work, utcOffsetMinutes, latencyMs, send, onWritten },
      issueToken: (issuedAt) => server.issueToken(userId, issuedAt),
      killServer: () => backend.restart(),
    }),
  );
  const programs = new Map(
    devices.map((device) => [
      device,
      createProgram({ device, send: withSessionOf(device)((...given) => device.fetch(...given)) }),
    ]),
  );
  const tabsOf = (device: Device): Tab[] => [...tabs].filter((tab) => tab.device === device);

  /** The stream of changes: every visible tab with a connection hears of the write. */
  function onWritten(request: ServerRequest, { text }: ServerResponse): void {
    const answer = JSON.parse(text) as { id: string; revision: number }[];
    // An append that was repeated has changed nothing.
    const row = Array.isArray(answer) ? answer[0] : undefined;
    if (!row) return;
    const written = (JSON.parse(request.body || '{}') as { date?: Day }).date;
    // The request of a move names the old day in its filter, and the new day in its body.
    const named = /date(?:=|\.)eq\.([\d-]+)/.exec(decodeURIComponent(request.path))?.[1] as Day | undefined;
    const { method } = request;
    const changes: DayChange[] = [];
    if (named && (written || method === 'DELETE')) changes.push({ date: named, stored: false });
    if (method !== 'DELETE')
      changes.push({ date: written ?? named!, stored: true, id: row.id, revision: row.revision });
    const days = changes.map(({ date }) => date).join(' to ');
    note(`server: ${method} ${days} revision ${String(row.revision)} ${quote(itemsOf(request.body))}`);
    for (const tab of tabs) {
      const { device } = tab;
      if (device.isOnline && !device.isSessionExpired && tab.isVisible())
        for (const change of changes) clock.schedule(LIVE_MS, () => tab.isClosed() || tab.applyChange(change));
    }
  }

  function open(device: Device): Tab {
    const tab = openTab({
      device,
      number: (tabCount += 1),
      findPlan: () => plan,
      randomUUID: () => uuid(user, (uuids += 1)),
      random: () => ((randoms += 1) * GOLDEN_RATIO) % 1,
      onQuestion: (conflict, draft) => checkQuestion(tab, conflict, draft),
      onKeptTwice: ({ mine, theirs }) => note(`${tab.name} keeps both of "${mine}" and "${theirs}"`),
    });
    tabs.add(tab);
    note(`${tab.name} opens ${tab.today()}`);
    tab.openDay(tab.today());
    return tab;
  }

  function checkQuestion(tab: Tab, { theirs, moved }: Conflict, json: string | null): void {
    note(`${tab.name} asks about ${quote(itemsOf(theirs?.html ?? ''))}`);
    if (moved) return;
    const draft = JSON.parse(json ?? '{}') as Partial<DayDraft>;
    const bases = [draft.base, ...(draft.sent ?? [])].filter((base) => base !== undefined);
    const isDoubtful = bases.some((base) => mergeLogs(base, draft.html ?? '', theirs?.html ?? '').isDoubtful);
    if (!isDoubtful) problems.push(`${tab.name} asked a question that the merge does not ask`);
  }

  return {
    ...{ clock, work, ledger, history, problems, note, devices, tabs, tabsOf, open, setPlan },

    /** Removes a tab that was closed or has crashed. */
    forget: (tab: Tab): void => void tabs.delete(tab),

    /** A program on the device appends a word to its today. It keeps what could not be sent, with its key. */
    capture(device: Device): void {
      const word = ledger.newWord(null);
      note(`a program on ${device.name} appends "${word}"`);
      programs.get(device)!.append(word);
    },

    isCapturing: (): boolean => [...programs.values()].some((program) => program.isWaiting()),

    readLogs: () => server.readLogs(userId),

    async close(): Promise<void> {
      for (const tab of tabs) tab.crash();
      await work.whenIdle();
      await backend.close();
    },
  };
}

/** The day that an append has changed; null for any other request, and for one that was repeated. */
function appendedDay({ path }: ServerRequest, { status, text }: ServerResponse): Day | null {
  if (path !== APPEND_PATH || status !== 200) return null;
  const { outcome, date } = JSON.parse(text) as { outcome: string; date: Day };
  return outcome === 'appended' ? date : null;
}

export const quote = (items: readonly string[]): string => `[${items.join(', ')}]`;

const uuid = (user: number, count: number): `${string}-${string}-${string}-${string}-${string}` =>
  `${user.toString(16).padStart(8, '0')}-0000-4000-8000-${count.toString(16).padStart(12, '0')}`;
