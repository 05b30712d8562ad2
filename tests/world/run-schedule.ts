/** Runs one schedule against the server, and compares the logs at its end with the record of what was typed. */
import type { Day } from '#domain/day/day.ts';
import { DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import type { Schedule, Step } from './schedule.ts';
import { itemsOf } from './browser/tab.ts';
import type { WorldServer } from './server/world-server.ts';
import { answer, takeStep } from './take-step.ts';
import { createWorld, quote, type World } from './world.ts';

/** Long enough for the answers to the first reads. */
const START_MS = 500;
/** Longer than the debounce of a save, its request and the change that the stream then sends. */
const DEBOUNCE_MS = 4_000;
/** Longer than the timeout of a request (20 s) and the longest backoff of a visible tab (7.5 s with its jitter). */
const ROUND_MS = 32_000;
const MAX_ROUNDS = 8;
const RECHECK_MS = 1_200;
/**
 * Steps after which a device may not know whether its save was stored. Then a merge cannot tell which lines others have
 * deleted since, so a deleted word may come back.
 */
const UNCERTAIN = new Set<Step['do']>(['loseAnswer', 'killServer', 'offline', 'closeTab', 'crashTab']);

/**
 * Returns the history. Throws an error with it if a word is lost or doubled, if a tab shows another text than the
 * server has, or if a tab asked the user about a conflict that the merge can resolve.
 */
export async function runSchedule(server: WorldServer, schedule: Schedule): Promise<string[]> {
  const world = await createWorld(server, schedule);
  const { clock, devices, history, ledger, open, problems, work } = world;
  await work.run(async () => {
    for (const device of devices) open(device);
    await clock.advance(START_MS);
    for (const step of schedule.steps) {
      await takeStep(world, step);
      await clock.advance(step.thenMs);
    }
    await settle(world);
    const stored = await world.readLogs();
    const isCertain = !schedule.steps.some((step) => UNCERTAIN.has(step.do));
    problems.push(...ledger.problemsOf(stored.values(), isCertain), ...differencesTo(stored, world));
    await world.close();
  });
  if (problems.length > 0) throw new Error([...problems, '', ...history].join('\n'));
  return history;
}

/** Ends all outages, hidden tabs and expired sessions, and waits until no device has unsent text. */
async function settle(world: World): Promise<void> {
  const { clock, devices, note, open, problems, setPlan, tabs, tabsOf } = world;
  note('everything comes back');
  await setPlan('premium');
  for (const device of devices) {
    const { isOnline, isSessionExpired } = device;
    device.faults = [];
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
    // A read that failed is repeated after a second.
    if (!isWaiting(world)) await clock.advance(RECHECK_MS);
    if (!isWaiting(world)) return;
    for (const tab of tabs) {
      const [unsaved] = tab.unsavedDays();
      if (unsaved && !tab.unsavedDays().includes(tab.page()!.date)) tab.openDay(unsaved);
      answer(world, tab);
      tab.tryAgain();
      tab.networkChanged();
    }
  }
  problems.push('text is still unsent');
}

const isWaiting = ({ tabs, devices, isCapturing }: World): boolean =>
  isCapturing() ||
  [...tabs].some((tab) => tab.isWaiting()) ||
  devices.some(({ localStorage }) => keysUnder(localStorage, DRAFT_PREFIX).length > 0);

/** Where a tab shows another text than the server has. */
function differencesTo(stored: ReadonlyMap<Day, string>, { tabs }: World): string[] {
  return [...tabs].flatMap((tab) => {
    const { date, editor, saver } = tab.page()!;
    if (saver() === null) return [`${tab.name} does not show ${date}`];
    const [shown, expected] = [quote(editor.items), quote(itemsOf(stored.get(date) ?? ''))];
    return shown === expected ? [] : [`${tab.name} shows ${shown} on ${date}, the server has ${expected}`];
  });
}
