/**
 * Saves that fail: offline, a lost response, a refusal, an ended session, and the backoff
 * (docs/specification/days-and-saving.md 8).
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDaySaverHarness, log, type DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { reduce } from './reducer.ts';
import { initialState } from './state.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
});

describe('when the network fails', () => {
  test('the status shows it, the draft keeps the text, and the save is retried', async () => {
    world.serverMode = 'down';
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    expect(world.status()).toBe('retrying');
    expect(world.storage.length).toBe(1);
    world.serverMode = 'fine';
    await world.advance(1_100);
    expect(world.writes).toEqual([log('a')]);
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('retries back off to 30 s, and coming online retries at once', async () => {
    world.serverMode = 'down';
    world.isOnline = false;
    world.loadPage();
    world.type(log('a'));
    await world.advance(120_000);
    expect(world.status()).toBe('offline');
    world.serverMode = 'fine';
    world.isOnline = true;
    world.saver.retry();
    await world.advance(100);
    expect(world.writes).toEqual([log('a')]);
  });

  test('an insert with a lost response is recognised as our own', async () => {
    world.serverMode = 'lost';
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    expect(world.row).not.toBe(null);
    world.serverMode = 'fine';
    world.type(log('a', 'b'));
    await world.advance(10_000);
    expect(world.status()).toBe('saved');
    expect(world.saver.view().conflict).toBe(null);
    expect(world.row).toMatchObject({ html: log('a', 'b'), revision: 2 });
  });

  test.each(['here', 'on the next page'])(
    'a first save with a lost response, of a log that was moved meanwhile, makes no second day %s',
    async (where) => {
      world.serverMode = 'lost';
      world.loadPage();
      world.type(log('a'));
      await world.advance(2_100);
      world.moveElsewhere();
      world.serverMode = 'fine';
      if (where === 'on the next page') {
        world.saver.close();
        world.loadPage();
      }
      await world.advance(60_000);
      expect(world.writes).toEqual([log('a')]);
      expect(world.row).toBe(null);
      expect(world.editorText).toBe('');
      expect(world.status()).toBe('empty');
    },
  );

  test('a new log is stored although its id belongs to a row on a day that the plan locks', async () => {
    world.serverMode = 'lost';
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    world.moveElsewhere();
    world.isMovedHidden = true;
    world.serverMode = 'fine';
    world.type(log('a', 'b'));
    await world.advance(10_000);
    expect(world.row?.html).toBe(log('a', 'b'));
  });

  test('a line that was deleted while its late insert and the retry of it were in flight stays deleted', async () => {
    let inserts = 0;
    world.transport = {
      ...world.transport,
      async insert(_date, html, id) {
        inserts += 1;
        if (inserts === 1) return { kind: 'unreachable' };
        // The first request arrives now, before the second one.
        world.row = { id, html, revision: 1, savedAt: 0 };
        world.type(log('b'));
        return { kind: 'changed' };
      },
    };
    world.loadPage();
    world.type(log('a', 'b'));
    await world.advance(10_000);
    expect(world.row?.html).toBe(log('b'));
    expect(world.status()).toBe('saved');
  });

  test.each(['', log('a')])('a late write of "%s" does not undo that the user took this edit back', async (edited) => {
    world.loadPage();
    world.type(log('a', 'b'));
    await world.advance(2_100);
    const { update, remove } = world.transport;
    let arrive: () => Promise<unknown> = () => Promise.reject(new Error('not sent'));
    const delay = (write: typeof arrive) => {
      Object.assign(world.transport, { update, remove });
      arrive = write;
      return Promise.resolve({ kind: 'unreachable' } as const);
    };
    world.transport.update = (...write) => delay(() => update(...write));
    world.transport.remove = (...write) => delay(() => remove(...write));
    world.type(edited);
    await world.advance(2_050);
    world.type(log('a', 'b'));
    await world.advance(10_000);
    expect(world.status()).toBe('saved');
    void arrive();
    await world.advance(100);
    expect(world.row?.html).toBe(log('a', 'b'));
  });

  test('a line that a second draft has again is kept when the earlier write of its page arrives', async () => {
    world.loadPage();
    world.type(log('a', 'b'));
    await world.advance(2_100);
    const { id, html: base } = world.row!;
    world.type(log('a', 'b', 'd'));
    const draft = { html: log('a', 'b', 'c'), base, baseId: id, baseRevision: 1, at: 0 };
    world.saver.restore({ ...draft, sent: [log('a')] });
    world.writeElsewhere(log('a'));
    await world.advance(10_000);
    expect(world.row!.html.match(/[a-d](?=<)/g)!.sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('keeping the lines of a moved log also on its old day makes a new row', async () => {
    world.serverMode = 'lost';
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    const { id } = world.row!;
    world.moveElsewhere();
    world.serverMode = 'fine';
    world.type(log('a', 'b'));
    await world.advance(10_000);
    expect(world.status()).toBe('conflict');
    world.saver.keepBoth();
    await world.advance(1_000);
    expect(world.row).toMatchObject({ html: log('a', 'b'), revision: 1 });
    expect(world.row!.id).not.toBe(id);
  });

  test('every attempt to insert a row uses the same id, also on the next page', async () => {
    const ids: string[] = [];
    const { insert } = world.transport;
    world.transport.insert = (date, html, id) => (ids.push(id), insert(date, html, id));
    world.serverMode = 'down';
    world.loadPage();
    world.type(log('a'));
    await world.advance(20_000);
    world.saver.close();
    world.loadPage();
    await world.advance(20_000);
    expect(world.requests).toBeGreaterThan(3);
    world.serverMode = 'fine';
    await world.advance(60_000);
    expect(new Set(ids).size).toBe(1);
    expect(world.row?.id).toBe(ids[0]);
    // A deleted row's id is not used again.
    world.type('');
    await world.advance(3_000);
    expect(world.row).toBe(null);
    world.type(log('b'));
    await world.advance(3_000);
    expect(world.row).toMatchObject({ id: ids.at(-1), html: log('b') });
    expect(new Set(ids).size).toBe(2);
  });

  test('an emptied day is removed although the response to its insert was lost', async () => {
    world.serverMode = 'lost';
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    world.serverMode = 'fine';
    world.type('');
    await world.advance(10_000);
    expect(world.row).toBe(null);
    expect(world.status()).toBe('empty');
  });

  describe('a line typed again while the removal of the day is in flight', () => {
    beforeEach(async () => {
      world.loadPage();
      world.type(log('a', 'b'));
      await world.advance(2_100);
      world.type('');
      void world.saver.flush();
      world.type(log('a'));
      // The request to remove the row continues.
      world.saver.close();
    });

    test('survives a reload', async () => {
      // The new page reads the row before the removal arrives.
      world.loadPage();
      await world.advance(60_000);
      expect(world.row?.html).toBe(log('a'));
      expect(world.editorText).toBe(log('a'));
    });

    test('survives a reload, also if another device writes after the removal', async () => {
      await world.advance(5);
      world.loadPage();
      // The removal arrives. The read of the new page, 5 ms later, gets no answer.
      await world.advance(7);
      world.serverMode = 'down';
      await world.advance(300);
      world.writeElsewhere(log('x'));
      world.serverMode = 'fine';
      await world.advance(60_000);
      expect(new Set(world.row?.html.match(/[ax](?=<)/g))).toEqual(new Set(['a', 'x']));
      expect(world.editorText).toBe(world.row?.html);
    });
  });

  test('a refused save shows its reason and is not retried until the next edit', async () => {
    world.serverMode = 'refused';
    world.loadPage();
    world.type(log('a'));
    await world.advance(60_000);
    expect(world.saver.view().status).toEqual({ kind: 'refused', reason: 'no' });
    world.serverMode = 'fine';
    await world.advance(60_000);
    expect(world.writes).toEqual([]);
    world.type(log('b'));
    await world.advance(2_100);
    expect(world.writes).toEqual([log('b')]);
  });

  test('a save without a session is sent after the user signs in', async () => {
    world.serverMode = 'signedOut';
    world.loadPage();
    world.type(log('a'));
    await world.advance(60_000);
    expect(world.status()).toBe('signedOut');
    world.type(log('a', 'b'));
    await world.advance(60_000);
    expect(world.status()).toBe('signedOut');
    world.serverMode = 'fine';
    world.saver.retry();
    await world.advance(100);
    expect(world.writes).toEqual([log('a', 'b')]);
    expect(world.status()).toBe('saved');
  });
});

describe('the backoff', () => {
  const context = { now: 5_000, random: 0, isComposing: false, isHidden: false, newRowId: 'new', merge: mergeLogs };

  /** The milliseconds until the next save, after `failures` attempts without an answer. */
  function waitAfter(failures: number, retryAfterMs?: number, { random = 0, isHidden = false } = {}): number {
    const failure = { kind: 'unreachable', ...(retryAfterMs && { retryAfterMs }) } as const;
    const edit = { type: 'textReplaced', replaced: '', html: log('a'), delayMs: 0 } as const;
    let { state } = reduce(initialState(null), edit, context);
    for (let count = 0; count < failures; count += 1) {
      for (const event of [{ type: 'flushRequested' }, { type: 'requestFailed', failure }] as const)
        state = reduce(state, event, { ...context, random, isHidden }).state;
    }
    return state.saveDueAt - context.now;
  }

  test('doubles up to five seconds', () => {
    expect([1, 2, 3, 4, 50].map((failures) => waitAfter(failures))).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  test('doubles up to thirty seconds while the page is hidden', () => {
    const waits = [3, 5, 6, 50].map((failures) => waitAfter(failures, undefined, { isHidden: true }));
    expect(waits).toEqual([4_000, 16_000, 30_000, 30_000]);
  });

  test('is lengthened by up to half at random', () => {
    expect(waitAfter(1, undefined, { random: 0.5 })).toBe(1_250);
    expect(waitAfter(50, undefined, { random: 0.5 })).toBe(6_250);
  });

  test('lasts at least as long as a busy server asks for, up to thirty seconds', () => {
    expect(waitAfter(1, 3_000, { random: 0.5 })).toBe(3_750);
    expect(waitAfter(50, 20_000)).toBe(20_000);
    expect(waitAfter(1, 3_600_000)).toBe(30_000);
  });

  test('brings every page on screen back within eight seconds, and not at once', () => {
    const pages = 1_000;
    const outageMs = 60_000;
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    /** How many pages reach the server in each second after the outage. The last number counts all later seconds. */
    const arrivals = Array.from({ length: 9 }, () => 0);
    for (let page = 0; page < pages; page += 1) {
      // The page's first save fails at a random moment of the outage.
      let at = random() * outageMs;
      for (let failures = 1; at < outageMs; failures += 1) {
        at += waitAfter(Math.min(failures, 5), undefined, { random: random() });
      }
      arrivals[Math.min(8, Math.floor((at - outageMs) / 1_000))]! += 1;
    }
    expect(arrivals[8]).toBe(0);
    expect(Math.max(...arrivals)).toBeLessThan(pages / 5);
  });
});
