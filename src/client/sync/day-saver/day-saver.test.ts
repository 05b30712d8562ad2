/** The rules of saving a day, each as a story in a world where time and the network do as they are told. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDaySaverHarness, log } from '../../../../tests/support/day-saver-harness.ts';
import type { DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
});

describe('when a save leaves', () => {
  test('nothing is sent before the first edit', async () => {
    world.row = { id: 'row', html: log('old'), revision: 4, savedAt: 0 };
    world.load();
    await world.pass(60_000);
    world.saver.keepDraft();
    await world.saver.flush();
    world.detach();
    await world.pass(60_000);
    expect(world.writes).toEqual([]);
    expect(world.storage.length).toBe(0);
  });

  test('two seconds after the last edit', async () => {
    world.load();
    world.type(log('a'));
    await world.pass(1_500);
    world.type(log('ab'));
    await world.pass(1_900);
    expect(world.writes).toEqual([]);
    await world.pass(200);
    expect(world.writes).toEqual([log('ab')]);
    expect(world.status()).toBe('saved');
  });

  test('after ten seconds of typing without a pause', async () => {
    world.load();
    for (let second = 0; second < 11; second += 1) {
      world.type(log(`second ${second}`));
      await world.pass(1_000);
    }
    expect(world.writes).toEqual([log('second 9')]);
  });

  test('a quick option leaves after half a second', async () => {
    world.load();
    world.saver.write(log('I am sick'), 500);
    expect(world.shown).toBe(log('I am sick'));
    await world.pass(490);
    expect(world.writes).toEqual([]);
    await world.pass(30);
    expect(world.writes).toEqual([log('I am sick')]);
  });

  test('leaving the day sends at once, and the day goes on saving', async () => {
    world.load();
    world.type(log('a'));
    world.detach();
    await world.pass(20);
    expect(world.writes).toEqual([log('a')]);
  });

  test('one request at a time; what is typed meanwhile goes next', async () => {
    world.latencyMs = 5_000;
    world.load();
    world.type(log('a'));
    await world.pass(2_100);
    world.type(log('a', 'b'));
    await world.pass(4_000);
    expect(world.maxInFlight).toBe(1);
    expect(world.status()).toBe('saving');
    await world.pass(10_000);
    expect(world.writes).toEqual([log('a'), log('a', 'b')]);
    expect(world.maxInFlight).toBe(1);
    expect(world.status()).toBe('saved');
  });

  test('an edit that was taken back sends nothing', async () => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.load();
    world.type(log('ab'));
    world.type(log('a'));
    await world.pass(3_000);
    expect(world.writes).toEqual([]);
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('flush says whether everything is saved', async () => {
    world.load();
    world.type(log('a'));
    const saved = world.saver.flush();
    await world.pass(50);
    expect(await saved).toBe(true);
    world.serverMode = 'down';
    world.type(log('b'));
    const failed = world.saver.flush();
    await world.pass(50);
    expect(await failed).toBe(false);
  });
});

describe('an empty day', () => {
  test('is never stored', async () => {
    world.load();
    world.type('<ol><li><p></p></li></ol>');
    await world.pass(3_000);
    expect(world.writes).toEqual([]);
    expect(world.status()).toBe('empty');
  });

  test('removes what was stored, and can be written again', async () => {
    world.row = { id: 'row', html: log('a'), revision: 3, savedAt: 0 };
    world.load();
    world.type(log(''));
    await world.pass(3_000);
    expect(world.row).toBe(null);
    expect(world.acknowledged).toEqual([null]);
    world.type(log('b'));
    await world.pass(3_000);
    expect(world.row).toMatchObject({ html: log('b') });
  });
});

describe('when the network fails', () => {
  test('it is shown, the words stay in the draft, and the save is repeated', async () => {
    world.serverMode = 'down';
    world.load();
    world.type(log('a'));
    await world.pass(2_100);
    expect(world.status()).toBe('retrying');
    expect(world.storage.length).toBe(1);
    world.serverMode = 'fine';
    await world.pass(1_100);
    expect(world.writes).toEqual([log('a')]);
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('retries come ever more slowly, at most every 30 s, and coming online does not wait for them', async () => {
    world.serverMode = 'down';
    world.online = false;
    world.load();
    world.type(log('a'));
    await world.pass(120_000);
    expect(world.status()).toBe('offline');
    world.serverMode = 'fine';
    world.online = true;
    world.saver.retry();
    await world.pass(100);
    expect(world.writes).toEqual([log('a')]);
  });

  test('an insert whose answer was lost is recognised as our own', async () => {
    world.serverMode = 'lost';
    world.load();
    world.type(log('a'));
    await world.pass(2_100);
    expect(world.row).not.toBe(null);
    world.serverMode = 'fine';
    world.type(log('a', 'b'));
    await world.pass(10_000);
    expect(world.status()).toBe('saved');
    expect(world.saver.view().conflict).toBe(null);
    expect(world.row).toMatchObject({ html: log('a', 'b'), revision: 2 });
  });

  test('an emptied day whose first save looked lost is removed all the same', async () => {
    world.serverMode = 'lost';
    world.load();
    world.type(log('a'));
    await world.pass(2_100);
    world.serverMode = 'fine';
    world.type('');
    await world.pass(10_000);
    expect(world.row).toBe(null);
    expect(world.status()).toBe('empty');
  });

  test('what the server refuses is said and not repeated until the next edit', async () => {
    world.serverMode = 'refused';
    world.load();
    world.type(log('a'));
    await world.pass(60_000);
    expect(world.saver.view().status).toEqual({ kind: 'refused', reason: 'no' });
    world.serverMode = 'fine';
    await world.pass(60_000);
    expect(world.writes).toEqual([]);
    world.type(log('b'));
    await world.pass(2_100);
    expect(world.writes).toEqual([log('b')]);
  });

  test('a lost session waits, and the same save goes out after signing in', async () => {
    world.serverMode = 'signedOut';
    world.load();
    world.type(log('a'));
    await world.pass(60_000);
    expect(world.status()).toBe('signedOut');
    world.type(log('a', 'b'));
    await world.pass(60_000);
    expect(world.status()).toBe('signedOut');
    world.serverMode = 'fine';
    world.saver.retry();
    await world.pass(100);
    expect(world.writes).toEqual([log('a', 'b')]);
    expect(world.status()).toBe('saved');
  });
});

describe('when the day was changed elsewhere', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.load();
  });

  test('nothing is overwritten, and both versions can be kept', async () => {
    world.elsewhere(log('a', 'theirs'));
    world.type(log('a', 'mine'));
    await world.pass(3_000);
    expect(world.status()).toBe('conflict');
    expect(world.row?.html).toBe(log('a', 'theirs'));
    expect(world.writes).toEqual([]);
    world.saver.keepBoth();
    await world.pass(1_000);
    expect(world.shown).toBe(log('a', 'mine', 'theirs'));
    expect(world.row?.html).toBe(log('a', 'mine', 'theirs'));
    expect(world.status()).toBe('saved');
  });

  test('typing goes on while the two versions wait, and nothing is sent', async () => {
    world.elsewhere(log('theirs'));
    world.type(log('mine'));
    await world.pass(3_000);
    world.type(log('mine', 'more'));
    await world.pass(30_000);
    expect(world.writes).toEqual([]);
    world.saver.keepBoth();
    await world.pass(100);
    expect(world.row?.html).toBe(log('mine', 'more', 'theirs'));
  });

  test('the other one can be taken; undo brings mine back and saves it', async () => {
    world.elsewhere(log('theirs'));
    world.type(log('mine'));
    await world.pass(3_000);
    world.saver.takeTheirs();
    await world.pass(30_000);
    expect(world.shown).toBe(log('theirs'));
    expect(world.writes).toEqual([]);
    expect(world.status()).toBe('saved');
    world.type(log('mine'));
    await world.pass(3_000);
    expect(world.row?.html).toBe(log('mine'));
  });

  test('the same text elsewhere is no conflict', async () => {
    world.elsewhere(log('a', 'b'));
    world.type(log('a', 'b'));
    await world.pass(5_000);
    expect(world.status()).toBe('saved');
    expect(world.saver.view().conflict).toBe(null);
  });

  test('a text that holds theirs goes over it', async () => {
    world.elsewhere(log('a', 'b'));
    world.type(log('a', 'b', 'c'));
    await world.pass(5_000);
    expect(world.row?.html).toBe(log('a', 'b', 'c'));
  });

  test('a text that theirs holds gives way to it', async () => {
    world.elsewhere(log('a', 'b', 'c'));
    world.type(log('a', 'b'));
    await world.pass(5_000);
    expect(world.shown).toBe(log('a', 'b', 'c'));
    expect(world.status()).toBe('saved');
  });

  test('what was taken out here on purpose does not come back by itself', async () => {
    world.elsewhere(log('a', 'b'));
    world.type(log(''));
    await world.pass(5_000);
    expect(world.status()).toBe('conflict');
  });

  test('a higher revision of the same text is no conflict, and does not delay what is asked for after the save', async () => {
    world.raiseRevision();
    world.type(log('mine'));
    const saved = world.saver.flush();
    await world.pass(100);
    expect(await saved).toBe(true);
    expect(world.row?.html).toBe(log('mine'));
  });

  test('a revision that is another one each time is not chased without a pause', async () => {
    world.raiseRevision();
    world.type(log('mine'));
    const read = world.transport.read;
    world.transport.read = (date) => {
      world.raiseRevision();
      return read(date).finally(() => world.raiseRevision());
    };
    const saved = world.saver.flush();
    await world.pass(1_000);
    expect(await saved).toBe(false);
    expect(world.status()).toBe('retrying');
    await world.pass(60_000);
    expect(world.requests).toBeLessThan(60);
    expect(world.saver.text()).toBe(log('mine'));
    world.transport.read = read;
    await world.pass(60_000);
    expect(world.row?.html).toBe(log('mine'));
  });

  test('what was sent, never answered and taken out since does not come back with what was added to it elsewhere', async () => {
    world.serverMode = 'lost';
    world.type(log('a', 'slip'));
    await world.pass(2_100);
    world.elsewhere(log('a', 'slip', 'theirs'));
    world.serverMode = 'fine';
    world.type(log('a'));
    await world.pass(10_000);
    expect(world.status()).toBe('conflict');
    expect(world.shown).toBe(log('a'));
  });

  test('a day that was removed and begun anew elsewhere is neither overwritten nor overlooked', async () => {
    world.elsewhere(null);
    world.elsewhere(log('theirs'));
    expect(world.row?.revision).toBe(1);
    world.saver.offer(world.row, world.timers.now() + 1);
    expect(world.shown).toBe(log('theirs'));
    world.elsewhere(null);
    world.elsewhere(log('theirs again'));
    world.type(log('theirs', 'mine'));
    await world.pass(10_000);
    expect(world.status()).toBe('conflict');
    expect(world.row?.html).toBe(log('theirs again'));
  });

  test('a day removed elsewhere is written again', async () => {
    world.elsewhere(null);
    world.type(log('a', 'mine'));
    await world.pass(5_000);
    expect(world.row?.html).toBe(log('a', 'mine'));
  });

  test('an input method in the middle of a word is not disturbed', async () => {
    world.composing = true;
    world.elsewhere(log('a', 'b', 'c'));
    world.type(log('a', 'b'));
    await world.pass(5_000);
    expect(world.shown).toBe(log('a', 'b'));
    expect(world.status()).toBe('conflict');
  });

  test('a day with nothing unsaved takes over what the server has', async () => {
    world.elsewhere(log('a', 'newer'));
    world.saver.offer(world.row, world.timers.now());
    expect(world.shown).toBe(log('a', 'newer'));
    expect(world.writes).toEqual([]);
  });

  test('an answer asked for before our own save does not undo it', async () => {
    const before = world.row;
    const askedAt = world.timers.now();
    world.type(log('a', 'b'));
    await world.pass(3_000);
    world.saver.offer(before, askedAt);
    expect(world.shown).toBe(log('a', 'b'));
    world.saver.offer(null, askedAt);
    expect(world.shown).toBe(log('a', 'b'));
  });
});

/** The one draft that this device keeps. */
const draftOf = ({ storage }: DaySaverHarness): unknown => JSON.parse(storage.getItem(storage.key(0)!)!);

describe('when the log was moved to another day elsewhere', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.load();
  });

  test('what is written here since then makes no second log of it, and says where it is', async () => {
    world.type(log('a', 'b'));
    world.moveAway();
    await world.pass(60_000);
    expect(world.saver.view().conflict).toMatchObject({ theirs: null, moved: { date: '2026-11-18' } });
    expect(world.row).toBeNull();
    expect(world.writes).toEqual([]);
    expect(world.shown).toBe(log('a', 'b'));
    expect(world.storage.length).toBe(1);
  });

  test('words that the moved log has already are gone from here', async () => {
    world.serverMode = 'lost';
    world.type(log('a', 'b'));
    await world.pass(2_100);
    world.moveAway();
    world.serverMode = 'fine';
    await world.pass(60_000);
    expect(world.status()).toBe('empty');
    expect(world.shown).toBe('');
    expect(world.row).toBeNull();
    expect(world.storage.length).toBe(0);
  });

  test('a draft that a closed tab left does not bring the log back', async () => {
    world.type(log('a', 'b'));
    world.saver.keepDraft();
    world.serverMode = 'down';
    await world.pass(100);
    world.moveAway();
    world.serverMode = 'fine';
    world.saver.close();
    world.load();
    await world.pass(60_000);
    expect(world.saver.view().conflict).toMatchObject({ moved: { date: '2026-11-18' } });
    expect(world.row).toBeNull();
    expect(world.storage.length).toBe(1);
  });

  test('it is kept on this day where somebody asks for that', async () => {
    world.type(log('a', 'b'));
    world.moveAway();
    await world.pass(60_000);
    world.saver.keepBoth();
    await world.pass(1_000);
    expect(world.row).toMatchObject({ html: log('a', 'b') });
    expect(world.status()).toBe('saved');
  });

  test('nothing unsaved: the day is found empty, and an answer of before does not fill it again', async () => {
    world.moveAway();
    world.saver.replaceWith(null);
    world.saver.offer({ id: 'row', html: log('a'), revision: 1, savedAt: 0 }, world.timers.now());
    expect(world.shown).toBe('');
    world.type(log('new'));
    await world.pass(60_000);
    expect(world.writes).toEqual([log('new')]);
  });
});

describe('drafts', () => {
  test('a page that went before its save is made good by the next one', async () => {
    world.load();
    world.type(log('a'));
    world.saver.keepDraft();
    world.serverMode = 'down';
    world.saver.close();
    world.serverMode = 'fine';
    world.load();
    expect(world.shown).toBe(log('a'));
    await world.pass(100);
    expect(world.row?.html).toBe(log('a'));
    expect(world.storage.length).toBe(0);
  });

  test('a draft on an older revision is compared, not stored over the newer one, however often the page is loaded', async () => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.load();
    world.type(log('mine'));
    world.saver.close();
    world.elsewhere(log('theirs'));
    world.load();
    expect(world.status()).toBe('conflict');
    expect(world.shown).toBe(log('mine'));
    world.saver.close();
    world.load();
    await world.pass(30_000);
    expect(world.status()).toBe('conflict');
    expect(world.row.html).toBe(log('theirs'));
  });

  describe('of a page that went before its save', () => {
    /** The page goes with this on it; nothing that it still sends arrives. */
    const leaveWith = (html: string): void => {
      world.type(html);
      world.saver.close();
    };

    beforeEach(() => {
      world.row = { id: 'row', html: log('a', 'b'), revision: 1, savedAt: 0 };
      world.load();
    });

    test.each([
      ['a line deleted', log('a')],
      ['every line deleted', log()],
      ['a line changed', log('a', 'c')],
      ['a line added', log('a', 'b', 'c')],
    ])('%s: a revision raised for something else does not keep it back', async (_, mine) => {
      leaveWith(mine);
      world.raiseRevision();
      world.load();
      expect(world.status()).not.toBe('conflict');
      expect(world.shown).toBe(mine);
      await world.pass(1_000);
      expect(world.row?.html ?? '').toBe(mine);
      expect(world.storage.length).toBe(0);
    });

    test('a deletion is no lack: where the day was changed as well, both versions are shown', async () => {
      leaveWith(log('a'));
      world.elsewhere(log('a', 'b', 'theirs'));
      world.load();
      await world.pass(30_000);
      expect(world.status()).toBe('conflict');
      expect(world.shown).toBe(log('a'));
      expect(world.storage.length).toBe(1);
      expect(world.row?.html).toBe(log('a', 'b', 'theirs'));
    });

    test('what is taken out while its last save is still on its way stays out', async () => {
      world.type(log('a', 'b', 'slip'));
      world.saver.keepDraft();
      void world.saver.flush();
      world.load();
      world.type(log('a', 'b'));
      await world.pass(5_000);
      expect(world.writes).toEqual([log('a', 'b', 'slip'), log('a', 'b')]);
      expect(world.shown).toBe(log('a', 'b'));
      expect(world.status()).toBe('saved');
    });

    test('a day that was deleted and begun anew elsewhere is another one, although its revision is the same', async () => {
      leaveWith(log('a', 'mine'));
      world.row = { id: 'another', html: log('theirs'), revision: 1, savedAt: 0 };
      world.load();
      await world.pass(30_000);
      expect(world.status()).toBe('conflict');
      expect(world.row.html).toBe(log('theirs'));
    });

    test('what is typed while a found draft waits for an answer is in the next draft', async () => {
      leaveWith(log('a'));
      world.elsewhere(log('theirs'));
      world.load();
      expect(world.status()).toBe('conflict');
      world.type(log('a', 'typed since'));
      world.saver.close();
      world.load();
      expect(world.shown).toBe(log('a', 'typed since'));
    });

    test('once both were kept, what of them is taken out at once stays out', async () => {
      leaveWith(log('a'));
      world.elsewhere(log('a', 'b', 'theirs'));
      world.load();
      world.saver.keepBoth();
      world.type(log('a', 'theirs'));
      await world.pass(5_000);
      expect(world.status()).toBe('saved');
      expect(world.row?.html).toBe(log('a', 'theirs'));
    });

    test('where nothing was deleted and the other version holds all of it, nobody is asked', async () => {
      leaveWith(log('a', 'b', 'mine'));
      world.elsewhere(log('a', 'b', 'mine', 'theirs'));
      world.load();
      expect(world.status()).toBe('saved');
      expect(world.shown).toBe(log('a', 'b', 'mine', 'theirs'));
      expect(world.storage.length).toBe(0);
    });

    test('what was sent, never answered and taken out since stays out', async () => {
      world.serverMode = 'lost';
      world.type(log('a', 'b', 'slip'));
      await world.pass(2_100);
      leaveWith(log('a', 'b'));
      world.serverMode = 'fine';
      world.load();
      await world.pass(1_000);
      expect(world.shown).toBe(log('a', 'b'));
      expect(world.row?.html).toBe(log('a', 'b'));
      expect(world.status()).toBe('saved');
    });

    test.each([1, 2])(
      'a draft that does not say what it was written on (revision %i) is never taken for a mere lack',
      async (revision) => {
        world.storage.maxValueLength = 100;
        leaveWith(log('a'));
        expect(draftOf(world)).not.toHaveProperty('base');
        world.row = { id: 'row', html: log('a', 'b'), revision, savedAt: 0 };
        for (let load = 0; load < 2; load += 1) {
          world.load();
          await world.pass(30_000);
          expect(world.shown).toBe(log('a'));
          if (revision === 1) expect(world.row.html).toBe(log('a'));
          else expect(world.status()).toBe('conflict');
          world.saver.close();
        }
      },
    );
  });

  test('a draft that the server has already is thrown away', async () => {
    world.load();
    world.type(log('a'));
    world.saver.keepDraft();
    world.serverMode = 'lost';
    void world.saver.flush();
    await world.pass(100);
    world.saver.close();
    world.serverMode = 'fine';
    world.load();
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('follow the typing within half a second of a pause', async () => {
    world.load();
    world.type(log('a'));
    await world.pass(450);
    expect(world.storage.length).toBe(1);
  });

  test('a browser that keeps nothing makes the page unsafe to close', async () => {
    world.storage.maxValueLength = 0;
    world.load();
    expect(world.saver.isSafe()).toBe(true);
    world.type(log('a'));
    expect(world.saver.keepDraft()).toBe(false);
    expect(world.saver.isSafe()).toBe(false);
    await world.pass(3_000);
    expect(world.saver.isSafe()).toBe(true);
  });
});

describe('when the plan no longer opens the day', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('old'), revision: 7, savedAt: 0 };
    world.load();
  });

  test('what is unsaved stays, says why, and is not sent again and again', async () => {
    world.locked = true;
    world.type(log('old', 'new'));
    await world.pass(2_100);
    expect(world.status()).toBe('locked');
    expect(world.saver.text()).toBe(log('old', 'new'));
    expect(world.storage.length).toBe(1);
    const asked = world.requests;
    await world.pass(600_000);
    expect(world.requests).toBe(asked);
    world.type(log('old', 'new', 'newer'));
    await world.pass(600_000);
    expect(world.requests).toBe(asked);
    expect(world.status()).toBe('locked');
    expect(world.saver.isSafe()).toBe(true);
  });

  test('an emptied day is not believed to be removed', async () => {
    world.locked = true;
    world.type('');
    await world.pass(2_100);
    expect(world.status()).toBe('locked');
    expect(world.acknowledged).toEqual([]);
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.row).toBe(null);
  });

  test('the words go out when the plan opens it again, on the revision they were written on', async () => {
    world.locked = true;
    world.type(log('mine'));
    await world.pass(2_100);
    world.hearOfLock();
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.row).toMatchObject({ html: log('mine'), revision: 8 });
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('a try that finds it still locked keeps saying so throughout', async () => {
    world.locked = true;
    world.type(log('mine'));
    await world.pass(2_100);
    const said = new Set<string>();
    world.saver.subscribe(() => said.add(world.status()));
    world.saver.retry();
    await world.pass(30_000);
    expect([...said].filter((kind) => kind !== 'locked')).toEqual([]);
  });

  test('a connection that fails while it opens is tried again', async () => {
    world.locked = true;
    world.type(log('mine'));
    await world.pass(2_100);
    world.locked = false;
    world.serverMode = 'down';
    world.hearOfOpening();
    await world.pass(100);
    world.serverMode = 'fine';
    await world.pass(2_000);
    expect(world.row).toMatchObject({ html: log('mine') });
  });

  test('a draft found on a locked day waits, and still names the revision it was written on', async () => {
    world.type(log('mine'));
    world.saver.close();
    world.locked = true;
    for (const revision of [7, 7]) {
      world.load();
      expect(draftOf(world)).toMatchObject({ html: log('mine'), baseRevision: revision });
      expect(world.status()).toBe('locked');
      expect(world.saver.text()).toBe(log('mine'));
      await world.pass(60_000);
      world.saver.close();
    }
    expect(world.writes).toEqual([]);
    world.load();
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.row).toMatchObject({ html: log('mine'), revision: 8 });
    expect(world.saver.view().conflict).toBe(null);
  });

  test('a day that was emptied, locked and loaded again is removed when it opens', async () => {
    world.type('');
    world.saver.close();
    world.locked = true;
    world.load();
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.row).toBe(null);
    expect(world.storage.length).toBe(0);
  });

  test('a line deleted before the day was locked stays out of it when it opens', async () => {
    world.elsewhere(log('old', 'slip'));
    world.load();
    world.type(log('old'));
    world.saver.close();
    world.locked = true;
    world.load();
    world.raiseRevision();
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.row?.html).toBe(log('old'));
    expect(world.status()).toBe('saved');
  });

  test('a draft of a locked day that was changed elsewhere meanwhile is compared when it opens', async () => {
    world.type(log('mine'));
    world.saver.close();
    world.locked = true;
    world.load();
    world.elsewhere(log('theirs'));
    world.locked = false;
    world.hearOfOpening();
    await world.pass(100);
    expect(world.status()).toBe('conflict');
    expect(world.row?.html).toBe(log('theirs'));
  });
});
