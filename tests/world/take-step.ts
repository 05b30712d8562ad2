/** Takes one step of a schedule, and notes it in the history. A step that is not possible now changes nothing. */
import { addDays } from '#domain/day/day.ts';
import type { Tab } from './browser/tab.ts';
import type { Step } from './schedule.ts';
import { LOCKED_AFTER_DAYS, type World } from './world.ts';

const MAX_TABS = 2;
const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;
/** A longer wait would simulate hours of failed requests, which takes long. */
const MAX_NIGHT_MS = 2 * MS_PER_MINUTE;

export async function takeStep(world: World, step: Step): Promise<void> {
  const { clock, devices, ledger, note, open, setPlan, tabs, tabsOf } = world;
  const { do: kind, a } = step;
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
      if (tab?.page()?.saver() && tab.isVisible()) edit(world, tab, step);
      return;
    case 'compose':
      if (!tab?.page()?.saver() || !tab.isVisible()) return;
      if (!tab.page()!.editor.isComposing) edit(world, tab, { ...step, do: 'add' });
      tab.setComposing(!tab.page()!.editor.isComposing);
      return note(`${tab.name} ${tab.page()!.editor.isComposing ? 'composes that' : 'ends the composition'}`);
    case 'capture':
      return world.capture(device);
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
      device.faults.push({ lost, how, killServer: false });
      return;
    }
    case 'killServer':
      note(`the server is killed ${a % 2 === 0 ? 'before' : 'after'} the next request of ${device.name}`);
      device.faults.push({ lost: a % 2 === 0 ? 'request' : 'answer', how: 'reset', killServer: true });
      return;
    case 'openTab':
      if (own.length < MAX_TABS) open(device);
      return;
    case 'closeTab':
      if (!tab) return;
      note(`${tab.name} is closed`);
      world.forget(tab);
      return tab.close();
    case 'crashTab':
      if (!tab) return;
      note(`${tab.name} crashes`);
      world.forget(tab);
      ledger.recordCrash(tab);
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
      if (tab) answer(world, tab);
      return;
    case 'waitForMidnight': {
      const msLeft = MS_PER_DAY - ((clock.now() + device.utcOffsetMinutes * MS_PER_MINUTE) % MS_PER_DAY);
      if (msLeft > MAX_NIGHT_MS) return;
      await clock.advance(msLeft + 1_000);
      return note(`midnight has come to ${device.name}`);
    }
  }
}

function edit({ ledger, note }: World, tab: Tab, { do: kind, a, b }: Step): void {
  const { date } = tab.page()!;
  const noteEdit = (text: string): void => note(`${tab.name} ${text} of ${date}`);
  tab.edit((items) => {
    const i = items.length === 0 ? 0 : a % items.length;
    const item = items[i];
    if (kind === 'add') {
      const word = ledger.newWord(tab);
      const at = a % (items.length + 1);
      noteEdit(`types "${word}" as item ${String(at + 1)}`);
      return items.toSpliced(at, 0, word);
    }
    if (item === undefined) {
      noteEdit('types nothing into the empty log');
      return [];
    }
    if (kind === 'clear') {
      noteEdit(`deletes all items`);
      for (const each of items) ledger.recordDeletion(each, tab);
      return [];
    }
    if (kind === 'delete') {
      noteEdit(`deletes "${item}"`);
      ledger.recordDeletion(item, tab);
      return items.toSpliced(i, 1);
    }
    ledger.recordEdit(item, tab);
    if (kind === 'move') {
      const to = b % items.length;
      for (const passed of items.slice(Math.min(i, to), Math.max(i, to) + 1)) ledger.recordPassing(passed, tab);
      noteEdit(`moves "${item}" to place ${String(to + 1)}`);
      return items.toSpliced(i, 1).toSpliced(to, 0, item);
    }
    const word = ledger.newWord(tab);
    ledger.recordEdit(word, tab);
    noteEdit(`types "${word}" ${kind === 'append' ? 'after' : 'before'} "${item}"`);
    return items.with(i, kind === 'append' ? `${item} ${word}` : `${word} ${item}`);
  });
}

/** Answers the question that the tab asks, if any. */
export function answer({ note }: World, tab: Tab): void {
  if (!tab.page()?.saver()?.view().conflict) return;
  note(`${tab.name} answers`);
  tab.answer();
}
