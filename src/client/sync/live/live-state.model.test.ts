/**
 * Model test of `live-state.ts`: several tabs of one browser under random inputs, with the browser's lock, a server and
 * a proxy that may hold all bytes back.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { LiveEvent } from '#domain/live-event.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import {
  initialLiveState,
  reduceLive,
  type IdentifiedEvent,
  type LiveEffect,
  type LiveInput,
  type LiveState,
} from './live-state.ts';

const CHANGE: LiveEvent = { event: 'change', data: { date: day('2026-11-22'), stored: true, id: 'row', revision: 2 } };
const RESYNC: LiveEvent = { event: 'resync', data: {} };
const READY: LiveEvent = { event: 'ready', data: {} };
const TWO_MINUTES = 120_000;

type Tab = {
  state: LiveState;
  isConnected: boolean;
  isRequesting: boolean;
  timerAt: number | null;
  caughtUpAt: number;
  seen: number;
};

function createBrowser(tabCount: number) {
  let now = 0;
  let holder: number | null = null;
  let changes = 0;
  const tabs: Tab[] = Array.from({ length: tabCount }, () => ({
    ...{ state: initialLiveState, isConnected: false, isRequesting: false, timerAt: null, caughtUpAt: -1, seen: 0 },
  }));
  const connects: (string | null)[] = [];
  /** Messages to the other tabs, which arrive after the effects of the step that shared them. */
  const messages: { from: number; message: IdentifiedEvent }[] = [];

  function dispatch(index: number, input: LiveInput): void {
    const tab = tabs[index]!;
    const { state, effects } = reduceLive(tab.state, input, { now, random: (now % 10) / 10 });
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    tab.state = state;
    for (const effect of effects) run(index, effect);
    expectValid();
    for (let next = messages.shift(); next; next = messages.shift()) {
      for (const other of tabs.keys())
        if (other !== next.from) dispatch(other, { type: 'eventShared', ...next.message });
    }
  }

  function run(index: number, effect: LiveEffect): void {
    const tab = tabs[index]!;
    switch (effect.type) {
      case 'requestLock':
        expect(tab.isRequesting).toBe(false);
        tab.isRequesting = true;
        return;
      case 'releaseLock':
        expect(tab.isRequesting).toBe(true);
        tab.isRequesting = false;
        if (holder === index) holder = null;
        return;
      case 'connect':
        expect(tab.isConnected).toBe(false);
        tab.isConnected = true;
        connects.push(effect.lastEventId);
        return;
      case 'disconnect':
        expect(tab.isConnected).toBe(true);
        tab.isConnected = false;
        return;
      case 'setTimer':
        tab.timerAt = effect.at;
        return;
      case 'catchUp':
        tab.caughtUpAt = now;
        tab.seen = changes;
        return;
      case 'applyChange':
        // `seen` counts the changes that the tab shows. After a missed change only a `catchUp` brings it up to date.
        if (tab.seen === changes - 1) tab.seen = changes;
        return;
      case 'share':
        messages.push({ from: index, message: { event: effect.event, id: effect.id } });
    }
  }

  function expectValid(): void {
    expect(tabs.filter(({ isConnected }) => isConnected).length).toBeLessThanOrEqual(1);
    for (const [index, { state, isConnected, isRequesting, timerAt }] of tabs.entries()) {
      expect(isConnected).toBe(state.phase === 'connecting' || state.phase === 'open');
      expect(isRequesting).toBe(state.isVisible);
      expect(timerAt).toBe(state.timerAt);
      if (!state.isVisible) expect(state).toMatchObject({ isLeader: false, phase: 'idle', timerAt: null });
      if (state.isLeader) expect(holder).toBe(index);
      else expect(state.phase).toBe('idle');
      // Without a timer nothing would ever happen again.
      expect(state.timerAt === null).toBe(state.phase === 'idle' || state.phase === 'refused');
    }
  }

  const leader = (): number => tabs.findIndex(({ state }) => state.isLeader);

  return {
    tabs,
    connects,
    leader,
    dispatch,
    show(index: number): void {
      if (tabs[index]!.state.isVisible) return dispatch(index, { type: 'pageShown' });
      dispatch(index, { type: 'pageShown' });
      if (holder !== null) return dispatch(index, { type: 'lockBusy' });
      holder = index;
      dispatch(index, { type: 'lockAcquired' });
    },
    hide(index: number): void {
      dispatch(index, { type: 'pageHidden' });
      const next = tabs.findIndex(({ isRequesting }) => isRequesting);
      if (holder !== null || next === -1) return;
      holder = next;
      dispatch(next, { type: 'lockAcquired' });
    },
    /** The server sends an event, which reaches only the tab with the connection. */
    deliver(event: LiveEvent): void {
      if (event.event === 'change') changes += 1;
      const index = tabs.findIndex(({ isConnected }) => isConnected);
      if (index !== -1) dispatch(index, { type: 'eventReceived', event, id: `e.${changes}` });
    },
    /** A day changes, but no tab receives the event. */
    changeUnheard: () => void (changes += 1),
    bytes(): void {
      const index = tabs.findIndex(({ isConnected }) => isConnected);
      if (index !== -1) dispatch(index, { type: 'bytesReceived' });
    },
    end(input: LiveInput): void {
      const index = tabs.findIndex(({ isConnected }) => isConnected);
      if (index === -1) return;
      // The driver reports an end once, after which the connection is gone.
      tabs[index]!.isConnected = false;
      dispatch(index, input);
    },
    /** Runs timers until `ms` have passed. `answer` is called after each, as the server's reaction. */
    advance(ms: number, answer: () => void = () => undefined): void {
      const end = now + ms;
      for (;;) {
        const due = tabs
          .map(({ timerAt }, index) => ({ timerAt, index }))
          .filter(({ timerAt }) => timerAt !== null && timerAt <= end)
          .sort((a, b) => a.timerAt! - b.timerAt!)[0];
        if (!due) break;
        now = Math.max(now, due.timerAt!);
        dispatch(due.index, { type: 'timerElapsed' });
        answer();
      }
      now = end;
    },
    /** Sets the clock to this many milliseconds after the time of the next timer, without running it. */
    setClock: (ms: number) => void (now = Math.min(...tabs.map(({ timerAt }) => timerAt ?? Infinity)) + ms),
    changeCount: () => changes,
  };
}

type Browser = ReturnType<typeof createBrowser>;
type Action = { run: (browser: Browser) => void; name: string };

const TABS = 3;
const tab = fc.nat(TABS - 1);
const action = (name: string, run: Action['run']): Action => ({ name, run });
const actions = fc.oneof(
  tab.map((index) => action(`show ${index}`, (browser) => browser.show(index))),
  tab.map((index) => action(`hide ${index}`, (browser) => browser.hide(index))),
  tab.map((index) => action(`network ${index}`, (browser) => browser.dispatch(index, { type: 'networkReturned' }))),
  fc.integer({ min: 1, max: 400_000 }).map((ms) => action(`advance ${ms}`, (browser) => browser.advance(ms))),
  fc
    .constantFrom<LiveEvent>(
      ...[CHANGE, RESYNC, READY],
      ...(['session', 'too_many', 'unavailable'] as const).map(
        (reason) => ({ event: 'end', data: { reason } }) as const,
      ),
    )
    .map((event) => action(`event ${event.event}`, (browser) => browser.deliver(event))),
  fc.constant(action('bytes', (browser) => browser.bytes())),
  fc.constant(action('close', (browser) => browser.end({ type: 'streamClosed' }))),
  fc
    .tuple(fc.constantFrom(401, 403, 404, 405, 429, 500, 502, 503), fc.nat(5_000))
    .map(([status, retryAfterMs]) =>
      action(`refuse ${status}`, (browser) => browser.end({ type: 'streamRefused', status, retryAfterMs })),
    ),
);

test('visible tabs share a single connection and end with the newest state', () => {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 60 }), (history) => {
      const browser = createBrowser(TABS);
      for (const { run } of history) run(browser);
      // The network works from now on, and a change is made while the stream may be down.
      browser.changeUnheard();
      const { tabs } = browser;
      for (const index of tabs.keys()) browser.hide(index);
      for (const index of tabs.keys()) browser.show(index);
      browser.deliver(RESYNC);
      expect(tabs.map(({ seen }) => seen)).toEqual(tabs.map(() => browser.changeCount()));
      browser.deliver(CHANGE);
      expect(tabs.map(({ seen }) => seen)).toEqual(tabs.map(() => browser.changeCount()));
      expect(tabs[browser.leader()]!.state.phase).toBe('open');
    }),
    { numRuns: fuzzBudget(400) },
  );
});

describe('a single tab', () => {
  function openTab(): Browser {
    const browser = createBrowser(1);
    browser.show(0);
    return browser;
  }
  const phase = (browser: Browser): string => browser.tabs[0]!.state.phase;

  test('connects when it is shown, and not while it is hidden', () => {
    const browser = openTab();
    expect(phase(browser)).toBe('connecting');
    browser.hide(0);
    browser.advance(TWO_MINUTES);
    expect(browser.connects).toEqual([null]);
    browser.show(0);
    expect(browser.connects).toHaveLength(2);
  });

  test('continues after the last event, also one that another tab has received', () => {
    const browser = createBrowser(2);
    browser.show(0);
    browser.show(1);
    browser.deliver(CHANGE);
    browser.hide(0);
    expect(browser.connects).toEqual([null, 'e.1']);
    expect(browser.leader()).toBe(1);
  });

  test('polls behind a proxy that delivers nothing, and tries the stream again', () => {
    const browser = openTab();
    browser.advance(6_000);
    expect(phase(browser)).toBe('polling');
    expect(browser.tabs[0]!.caughtUpAt).toBe(6_000);
    browser.changeUnheard();
    browser.advance(30_000);
    expect(browser.tabs[0]!.seen).toBe(browser.changeCount());
    browser.advance(270_000);
    expect(browser.connects.length).toBe(2);
    browser.bytes();
    expect(phase(browser)).toBe('open');
  });

  test('stays connected while heartbeats arrive, and reconnects when they stop', () => {
    const browser = openTab();
    browser.bytes();
    for (let beat = 0; beat < 12; beat += 1) {
      browser.advance(10_000);
      browser.bytes();
    }
    expect(browser.connects).toHaveLength(1);
    browser.advance(25_000);
    expect(phase(browser)).toBe('waiting');
    browser.advance(1_000);
    expect(browser.connects).toHaveLength(2);
  });

  test('backs off longer after each failure, and polls after the third', () => {
    const browser = openTab();
    const waits: number[] = [];
    while (phase(browser) !== 'polling') {
      browser.end({ type: 'streamClosed' });
      if (phase(browser) !== 'waiting') break;
      const before = browser.connects.length;
      let waited = 0;
      for (; browser.connects.length === before; waited += 100) browser.advance(100);
      waits.push(waited);
    }
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(500);
    expect(waits[1]).toBeGreaterThanOrEqual(1_000);
    expect(waits[1]).toBeLessThanOrEqual(2_100);
  });

  test('connects again with the next poll once an outage of several failures is over', () => {
    const browser = openTab();
    while (phase(browser) !== 'polling') {
      browser.end({ type: 'streamClosed' });
      if (phase(browser) === 'waiting') browser.advance(2_100);
    }
    const failed = browser.connects.length;
    browser.advance(30_000);
    expect(browser.connects).toHaveLength(failed + 1);
    browser.bytes();
    expect(phase(browser)).toBe('open');
  });

  test('waits as long as the server asks', () => {
    const browser = openTab();
    browser.end({ type: 'streamRefused', status: 503, retryAfterMs: 20_000 });
    browser.advance(20_400);
    expect(browser.connects).toHaveLength(1);
    // The backoff of 0.5 to 1 second comes on top.
    browser.advance(600);
    expect(browser.connects).toHaveLength(2);
  });

  test('renews its session at once, but not in a loop', () => {
    const browser = openTab();
    const expire = (): void => browser.deliver({ event: 'end', data: { reason: 'session' } });
    browser.deliver(READY);
    expire();
    expect(browser.connects).toHaveLength(2);
    expire();
    expect(browser.connects).toHaveLength(2);
    expect(phase(browser)).toBe('waiting');
  });

  test.each([401, 403])('does not ask again after %i', (status) => {
    const browser = openTab();
    browser.end({ type: 'streamRefused', status, retryAfterMs: 0 });
    browser.advance(TWO_MINUTES);
    browser.dispatch(0, { type: 'networkReturned' });
    expect(browser.connects).toHaveLength(1);
  });

  test('only polls a server without the stream, and after too many streams', () => {
    for (const end of [
      (browser: Browser) => browser.end({ type: 'streamRefused', status: 404, retryAfterMs: 0 }),
      (browser: Browser) => browser.deliver({ event: 'end', data: { reason: 'too_many' } }),
    ]) {
      const browser = openTab();
      end(browser);
      browser.advance(3_600_000);
      expect(browser.connects).toHaveLength(1);
      expect(phase(browser)).toBe('polling');
    }
  });

  test.each([-1, -2 * 86_400_000])('connects again by a timer that elapses %i ms early by the clock', (ms) => {
    const browser = openTab();
    browser.end({ type: 'streamClosed' });
    browser.setClock(ms);
    browser.dispatch(0, { type: 'timerElapsed' });
    expect(phase(browser)).toBe('connecting');
  });

  test('connects at once when the network returns', () => {
    const browser = openTab();
    browser.end({ type: 'streamClosed' });
    browser.dispatch(0, { type: 'networkReturned' });
    expect(browser.connects).toHaveLength(2);
  });
});

test('a tab that is shown beside the connected one catches up and then hears its events', () => {
  const browser = createBrowser(2);
  browser.show(0);
  browser.deliver(READY);
  browser.changeUnheard();
  browser.show(1);
  expect(browser.tabs[1]).toMatchObject({ isConnected: false, seen: 1 });
  browser.deliver(CHANGE);
  expect(browser.tabs[1]!.seen).toBe(2);
  browser.hide(1);
  browser.deliver(CHANGE);
  expect(browser.tabs[1]!.seen).toBe(2);
});
