/** Runs one schedule against the server, and compares the logs at its end with the record of what was typed. */
import { addDays, day, earliestToday, latestToday } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { DayChange } from '#domain/live/live-event.ts';
import type { PlanColumns, PlanId } from '#domain/plan/plan.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import type { Conflict } from '#client/sync/day-saver/state.ts';
import type { DayDraft } from '#client/sync/day-drafts.ts';
import { log } from '../support/day-saver-harness.ts';
import { createDevice } from './browser/device.ts';
import type { Device } from './browser/device.ts';
import { itemsOf, openTab } from './browser/tab.ts';
import type { Tab } from './browser/tab.ts';
import { createVirtualClock } from './browser/virtual-clock.ts';
import { createRealWork } from './browser/real-work.ts';
import { createLedger } from './ledger.ts';
import type { Schedule, Step } from './schedule.ts';
import type { ServerRequest, ServerResponse, WorldServer } from './server/world-server.ts';

const DEVICE_NAMES = ['laptop', 'phone', 'tablet', 'desktop'];
const MAX_TABS = 2;
/** The time from the commit of a change until an online tab receives it from the stream of changes. */
const LIVE_MS = 60;
/** Longer than the debounce of a save, its request and the change that the stream then sends. */
const DEBOUNCE_MS = 4_000;
/** Longer than the longest backoff of a save. */
const ROUND_MS = 32_000;
const MAX_ROUNDS = 8;
/** A limit, because a server process takes a second to start. */
const MAX_SERVER_PROCESSES = process.env['TEST_LONG'] ? 200 : 5;
/**
 * Steps after which a device may not know whether its save was stored. Then a merge cannot tell which lines others have
 * deleted since, so a deleted word may come back.
 */
const UNCERTAIN = new Set<Step['do']>(['loseAnswer', 'killServer', 'offline', 'closeTab', 'crashTab']);
const DAY_MS = 86_400_000;
const MAX_NIGHT_MS = 120_000;
const LOCKED_AFTER_DAYS = 35;

let users = 0;

/**
 * Throws an error with the history if a word is lost or doubled, if a tab shows another text than the server has, or if
 * a tab asked the user about a conflict that the merge can resolve.
 */
export async function runSchedule(server: WorldServer, schedule: Schedule): Promise<void> {
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
    return backend.send(request, clock.now());
  }

  let uuids = 0;
  let tabCount = 0;
  let tabs: Tab[] = [];
  const devices = schedule.devices.map(({ utcOffsetMinutes, latencyMs }, index) =>
    createDevice({
      ...{ name: DEVICE_NAMES[index]!, userId, clock, work, utcOffsetMinutes, latencyMs, send, onWritten },
      issueToken: (issuedAt) => server.issueToken(userId, issuedAt),
      killServer: () => backend.restart(),
    }),
  );
  const tabsOf = (device: Device): Tab[] => tabs.filter((tab) => tab.device === device);

  /** The stream of changes: every visible tab with a connection hears of the write. */
  function onWritten(request: ServerRequest, { text }: ServerResponse): void {
    const row = (JSON.parse(text) as { id: string; revision: number }[])[0];
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
      onQuestion: (conflict, draft) => checkQuestion(tab, conflict, draft),
      onKeptTwice: ({ mine, theirs }) => note(`${tab.name} keeps both of "${mine}" and "${theirs}"`),
    });
    tabs.push(tab);
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

  async function take(step: Step): Promise<void> {
    const { do: kind, a, b } = step;
    const device = devices[step.device % devices.length]!;
    const own = tabsOf(device);
    const tab = own[step.tab % Math.max(1, own.length)];
    switch (kind) {
      case 'add':
      case 'append':
      case 'prepend':
      case 'delete':
      case 'move':
      case 'clear':
        if (tab?.page()?.saver() && tab.isVisible()) edit(tab, kind, a, b);
        return;
      case 'compose':
        if (!tab?.page()?.saver() || !tab.isVisible()) return;
        if (!tab.page()!.editor.isComposing) edit(tab, 'add', a, b);
        tab.setComposing(!tab.page()!.editor.isComposing);
        return note(`${tab.name} ${tab.page()!.editor.isComposing ? 'composes that' : 'ends the composition'}`);
      case 'moveLog': {
        if (!tab?.page()?.saver() || !tab.isVisible()) return;
        const [from, to] = [tab.page()!.date, addDays(tab.today(), -2 - (a % 2))];
        note(`${tab.name} moves the log of ${from} to ${to}`);
        void tab.moveLog(to).then((outcome) => note(`${tab.name} was told: ${outcome}`));
        return;
      }
      case 'offline':
      case 'online': {
        if (device.isOnline === (kind === 'online')) return;
        note(`${device.name} goes ${kind}`);
        if (kind === 'offline') device.goOffline();
        else device.isOnline = true;
        for (const each of own) each.networkChanged();
        return;
      }
      case 'loseRequest':
      case 'loseAnswer': {
        const lost = kind === 'loseRequest' ? 'request' : 'answer';
        const how = a % 3 === 0 ? 'silent' : 'reset';
        note(`${device.name} will lose the ${lost} of its next request${how === 'silent' ? ', silently' : ''}`);
        device.fates.push({ lost, how, killServer: false });
        return;
      }
      case 'killServer':
        note(`the server is killed ${a % 2 === 0 ? 'before' : 'after'} the next request of ${device.name}`);
        device.fates.push({ lost: a % 2 === 0 ? 'request' : 'answer', how: 'reset', killServer: true });
        return;
      case 'openTab':
        if (own.length < MAX_TABS) open(device);
        return;
      case 'closeTab':
        if (!tab) return;
        note(`${tab.name} is closed`);
        tabs = tabs.filter((other) => other !== tab);
        return tab.close();
      case 'crashTab':
        if (!tab) return;
        note(`${tab.name} crashes`);
        tabs = tabs.filter((other) => other !== tab);
        ledger.crashed(tab);
        return tab.crash();
      case 'hideTab':
      case 'showTab': {
        if (!tab || tab.isVisible() === (kind === 'showTab')) return;
        note(`${tab.name} is ${kind === 'showTab' ? 'shown' : 'hidden'}`);
        return tab.setVisible(kind === 'showTab');
      }
      case 'openDay': {
        if (!tab?.isVisible()) return;
        const date = addDays(tab.today(), -[0, 1, LOCKED_AFTER_DAYS][a % 3]!);
        note(`${tab.name} opens ${date}`);
        return tab.openDay(date);
      }
      case 'expireSession':
        note(`the session of ${device.name} expires`);
        device.isSessionExpired = true;
        return;
      case 'signIn':
        if (!device.isSessionExpired) return;
        note(`${device.name} signs in`);
        device.isSessionExpired = false;
        for (const each of own) each.renewed();
        return;
      case 'endPlan':
      case 'startPlan':
        note(`the plan ${kind === 'endPlan' ? 'ends' : 'starts'}`);
        await setPlan(kind === 'endPlan' ? 'free' : 'premium');
        if (kind === 'startPlan') for (const each of tabs) if (each.device.isOnline) void each.refreshProfile();
        return;
      case 'answer':
        return answer(tab);
      case 'waitForMidnight': {
        const msLeft = DAY_MS - ((clock.now() + device.utcOffsetMinutes * 60_000) % DAY_MS);
        // A longer wait would simulate hours of failed requests, which takes long.
        if (msLeft > MAX_NIGHT_MS) return;
        await clock.advance(msLeft + 1_000);
        return note(`midnight has come to ${device.name}`);
      }
    }
  }

  function edit(
    tab: Tab,
    kind: 'add' | 'append' | 'prepend' | 'delete' | 'move' | 'clear',
    a: number,
    b: number,
  ): void {
    const { date } = tab.page()!;
    const say = (text: string): void => note(`${tab.name} ${text} of ${date}`);
    tab.edit((items) => {
      const i = items.length === 0 ? 0 : a % items.length;
      const item = items[i];
      if (kind === 'add') {
        const word = ledger.newWord(tab);
        const at = a % (items.length + 1);
        say(`types "${word}" as item ${String(at + 1)}`);
        return items.toSpliced(at, 0, word);
      }
      if (item === undefined) {
        say('types nothing into the empty log');
        return [];
      }
      if (kind === 'clear') {
        say(`deletes all items`);
        for (const each of items) ledger.deleted(each, tab);
        return [];
      }
      if (kind === 'delete') {
        say(`deletes "${item}"`);
        ledger.deleted(item, tab);
        return items.toSpliced(i, 1);
      }
      ledger.edited(item, tab);
      if (kind === 'move') {
        const to = b % items.length;
        say(`moves "${item}" to place ${String(to + 1)}`);
        return items.toSpliced(i, 1).toSpliced(to, 0, item);
      }
      const word = ledger.newWord(tab);
      ledger.edited(word, tab);
      say(`types "${word}" ${kind === 'append' ? 'after' : 'before'} "${item}"`);
      return items.with(i, kind === 'append' ? `${item} ${word}` : `${word} ${item}`);
    });
  }

  function answer(tab: Tab | undefined): void {
    if (!tab?.page()?.saver()?.view().conflict) return;
    note(`${tab.name} answers`);
    tab.answer();
  }

  /** Ends all outages, hidden tabs and expired sessions, and waits until no device has unsent text. */
  async function settle(): Promise<void> {
    note('everything comes back');
    await setPlan('premium');
    for (const device of devices) {
      const { isOnline, isSessionExpired } = device;
      device.fates = [];
      device.isOnline = true;
      device.isSessionExpired = false;
      for (const tab of tabsOf(device)) {
        if (!isOnline) tab.networkChanged();
        if (isSessionExpired) tab.renewed();
        if (!tab.isVisible()) tab.setVisible(true);
        tab.setComposing(false);
        void tab.refreshProfile();
        tab.tryAgain();
      }
      if (tabsOf(device).length === 0) open(device);
    }
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      await clock.advance(round === 0 ? DEBOUNCE_MS : ROUND_MS);
      if (!isWaiting()) return;
      for (const tab of tabs) {
        const [unsaved] = tab.unsavedDays();
        if (unsaved && !tab.unsavedDays().includes(tab.page()!.date)) tab.openDay(unsaved);
        answer(tab);
        tab.tryAgain();
        tab.networkChanged();
      }
    }
    problems.push('text is still unsent');
  }

  const isWaiting = (): boolean =>
    tabs.some((tab) => tab.isWaiting()) || devices.some((device) => device.localStorage.length > 0);

  async function compare(): Promise<void> {
    const stored = await server.readLogs(userId);
    const isCertain = !schedule.steps.some((step) => UNCERTAIN.has(step.do));
    problems.push(...ledger.problemsOf(stored.values(), isCertain));
    for (const tab of tabs) {
      const page = tab.page()!;
      const expected = itemsOf(stored.get(page.date) ?? '');
      if (page.saver() === null) problems.push(`${tab.name} does not show ${page.date}`);
      else if (quote(page.editor.items) !== quote(expected))
        problems.push(
          `${tab.name} shows ${quote(page.editor.items)} on ${page.date}, the server has ${quote(expected)}`,
        );
    }
  }

  await work.run(async () => {
    for (const device of devices) open(device);
    await clock.advance(500);
    for (const step of schedule.steps) {
      await take(step);
      await clock.advance(step.thenMs);
    }
    await settle();
    await compare();
    for (const tab of tabs) tab.crash();
    await work.whenIdle();
  });
  await backend.close();
  if (problems.length > 0) throw new Error([...problems, '', ...history].join('\n'));
}

const quote = (items: readonly string[]): string => `[${items.join(', ')}]`;

const uuid = (user: number, count: number): `${string}-${string}-${string}-${string}-${string}` =>
  `${user.toString(16).padStart(8, '0')}-0000-4000-8000-${count.toString(16).padStart(12, '0')}`;
