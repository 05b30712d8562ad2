/** Tests the saving of one day with virtual time and a simulated server. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDaySaverHarness, log } from '../../../../tests/support/day-saver-harness.ts';
import type { DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { reduce } from './reducer.ts';
import { initialState } from './state.ts';
import type { SaverView } from './state.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
});

describe('the time of a save', () => {
  test('a day sends no request before the first edit', async () => {
    world.row = { id: 'row', html: log('old'), revision: 4, savedAt: 0 };
    world.loadPage();
    await world.advance(60_000);
    world.saver.storeDraft();
    await world.saver.flush();
    world.detach();
    await world.advance(60_000);
    expect(world.writes).toEqual([]);
    expect(world.storage.length).toBe(0);
  });

  test('an edit is sent two seconds after the last key', async () => {
    world.loadPage();
    world.type(log('a'));
    await world.advance(1_500);
    world.type(log('ab'));
    await world.advance(1_900);
    expect(world.writes).toEqual([]);
    await world.advance(200);
    expect(world.writes).toEqual([log('ab')]);
    expect(world.status()).toBe('saved');
  });

  test('continuous typing is sent after ten seconds', async () => {
    world.loadPage();
    for (let second = 0; second < 11; second += 1) {
      world.type(log(`second ${second}`));
      await world.advance(1_000);
    }
    expect(world.writes).toEqual([log('second 9')]);
  });

  test('a quick entry is sent after half a second', async () => {
    world.loadPage();
    world.saver.write(log('I am sick'), 500);
    expect(world.editorText).toBe(log('I am sick'));
    await world.advance(490);
    expect(world.writes).toEqual([]);
    await world.advance(30);
    expect(world.writes).toEqual([log('I am sick')]);
  });

  test('the text includes an edit that the editor has just reported', () => {
    world.loadPage();
    world.type(log('a'));
    expect(world.saver.text()).toBe(log('a'));
  });

  test('closing the editor sends at once', async () => {
    world.loadPage();
    world.type(log('a'));
    world.detach();
    await world.advance(20);
    expect(world.writes).toEqual([log('a')]);
  });

  test('text typed during a request is sent by the next one', async () => {
    world.latencyMs = 5_000;
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    world.type(log('a', 'b'));
    await world.advance(4_000);
    expect(world.maxInFlight).toBe(1);
    expect(world.status()).toBe('saving');
    await world.advance(10_000);
    expect(world.writes).toEqual([log('a'), log('a', 'b')]);
    expect(world.maxInFlight).toBe(1);
    expect(world.status()).toBe('saved');
  });

  test('an undone edit is not sent', async () => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.loadPage();
    world.type(log('ab'));
    world.type(log('a'));
    await world.advance(3_000);
    expect(world.writes).toEqual([]);
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('flush resolves with whether all text is saved', async () => {
    world.loadPage();
    world.type(log('a'));
    const saved = world.saver.flush();
    await world.advance(50);
    expect(await saved).toBe(true);
    world.serverMode = 'down';
    world.type(log('b'));
    const failed = world.saver.flush();
    await world.advance(50);
    expect(await failed).toBe(false);
  });
});

describe('an empty day', () => {
  test('is never stored', async () => {
    world.loadPage();
    world.type('<ol><li><p></p></li></ol>');
    await world.advance(3_000);
    expect(world.writes).toEqual([]);
    expect(world.status()).toBe('empty');
  });

  test('removes the stored row, and can be written again', async () => {
    world.row = { id: 'row', html: log('a'), revision: 3, savedAt: 0 };
    world.loadPage();
    world.type(log(''));
    await world.advance(3_000);
    expect(world.row).toBe(null);
    expect(world.acknowledged).toEqual([null]);
    world.type(log('b'));
    await world.advance(3_000);
    expect(world.row).toMatchObject({ html: log('b') });
  });
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

/** The only stored draft. */
const draftOf = ({ storage }: DaySaverHarness): unknown => JSON.parse(storage.getItem(storage.key(0)!)!);

describe('when the day was changed elsewhere', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.loadPage();
  });

  test('lines of both devices are merged and saved, without a question', async () => {
    world.writeElsewhere(log('a', 'theirs'));
    world.type(log('a', 'mine'));
    const views: SaverView[] = [];
    world.saver.subscribe(() => views.push(world.saver.view()));
    await world.advance(3_000);
    expect(world.status()).toBe('saved');
    expect(world.editorText).toBe(log('a', 'mine', 'theirs'));
    expect(world.row).toMatchObject({ html: log('a', 'mine', 'theirs'), revision: 3 });
    expect(views.filter(({ conflict, doubts }) => conflict ?? doubts[0])).toEqual([]);
    expect(world.storage.length).toBe(0);
  });

  test('an item edited on both devices is kept twice, one below the other, and reported until a screen shows it', async () => {
    world.writeElsewhere(log('a plan', 'b'));
    world.type(log('new a', 'mine'));
    await world.advance(3_000);
    expect(world.row?.html).toBe(log('new a', 'a plan', 'mine', 'b'));
    expect(world.saver.view().doubts).toEqual([{ kind: 'editedTwice', mine: 'new a', theirs: 'a plan', line: 0 }]);
    world.writeElsewhere(log('new a', 'a plan', 'mine', 'b too'));
    world.type(log('new a', 'a plan', 'mine', 'my b'));
    await world.advance(3_000);
    expect(world.saver.view().doubts).toMatchObject([{ mine: 'new a' }, { mine: 'my b', theirs: 'b too' }]);
    world.saver.dismissDoubts();
    expect(world.saver.view().doubts).toEqual([]);
  });

  test('the merge says where the caret goes and is no undo step', async () => {
    world.writeElsewhere(log('theirs', 'a'));
    world.type(log('a', 'mine'));
    await world.advance(3_000);
    expect(world.editorText).toBe(log('theirs', 'a', 'mine'));
    expect(world.editorChange?.isUndoable).toBe(false);
    expect(world.editorChange?.mapPosition?.({ line: 1, offset: 4 })).toEqual({ line: 2, offset: 4 });
  });

  test('text typed after the merge is saved on top of it', async () => {
    world.writeElsewhere(log('a', 'theirs'));
    world.type(log('a', 'mine'));
    world.latencyMs = 1_000;
    await world.advance(3_500);
    world.type(log('a', 'mine', 'more'));
    await world.advance(30_000);
    expect(world.row?.html).toBe(log('a', 'mine', 'more', 'theirs'));
    expect(world.status()).toBe('saved');
  });

  describe('with most lines edited on both devices', () => {
    const [MINE, THEIRS] = [log('one m', 'two m', 'three m', 'four m'), log('t one', 't two', 't three', 't four')];
    const BOTH = log('one m', 't one', 'two m', 't two', 'three m', 't three', 'four m', 't four');

    beforeEach(() => {
      world.row = { id: 'row', html: log('one', 'two', 'three', 'four'), revision: 1, savedAt: 0 };
      world.loadPage();
      world.writeElsewhere(THEIRS);
    });

    test('a conflict overwrites neither version, and both can be kept', async () => {
      world.type(MINE);
      await world.advance(3_000);
      expect(world.status()).toBe('conflict');
      expect(world.row?.html).toBe(THEIRS);
      expect(world.writes).toEqual([]);
      world.saver.keepBoth();
      await world.advance(1_000);
      expect(world.editorText).toBe(BOTH);
      expect(world.editorChange?.isUndoable).toBe(true);
      expect(world.row?.html).toBe(BOTH);
      expect(world.status()).toBe('saved');
      expect(world.saver.view().doubts).toEqual([]);
    });

    test('typing during a conflict sends no request', async () => {
      world.type(MINE);
      await world.advance(3_000);
      world.type(MINE.replace('four m', 'four more'));
      await world.advance(30_000);
      expect(world.writes).toEqual([]);
      world.saver.keepBoth();
      await world.advance(100);
      expect(world.row?.html).toBe(BOTH.replace('four m', 'four more'));
    });

    test('the other version can be chosen, and undo restores and saves this one', async () => {
      world.type(MINE);
      await world.advance(3_000);
      world.saver.takeTheirs();
      await world.advance(30_000);
      expect(world.editorText).toBe(THEIRS);
      expect(world.editorChange?.isUndoable).toBe(true);
      expect(world.writes).toEqual([]);
      expect(world.status()).toBe('saved');
      world.type(MINE);
      await world.advance(3_000);
      expect(world.row?.html).toBe(MINE);
    });

    test('text typed during the conflict of a restored draft is in the next draft', async () => {
      world.type(MINE);
      world.saver.close();
      world.loadPage();
      expect(world.status()).toBe('conflict');
      world.type(MINE.replace('four m', 'four more'));
      world.saver.close();
      world.loadPage();
      expect(world.editorText).toBe(MINE.replace('four m', 'four more'));
      expect(world.status()).toBe('conflict');
    });
  });

  test('the merge loads with the first refused save', async () => {
    world.isMergeLoaded = false;
    world.writeElsewhere(log('a', 'theirs'));
    world.type(log('a', 'mine'));
    await world.advance(2_100);
    expect(world.row?.html).toBe(log('a', 'mine', 'theirs'));
    expect(world.status()).toBe('saved');
  });

  describe('and the merge cannot be loaded', () => {
    beforeEach(() => {
      world.canMerge = false;
      world.writeElsewhere(log('a', 'theirs'));
      world.type(log('a', 'mine'));
    });

    test('the status asks for a reload, the draft keeps the text, and a retry merges once the merge loads', async () => {
      await world.advance(10_000);
      expect(world.status()).toBe('outdated');
      expect(world.editorText).toBe(log('a', 'mine'));
      expect(world.row?.html).toBe(log('a', 'theirs'));
      expect(draftOf(world)).toMatchObject({ html: log('a', 'mine'), base: log('a') });
      world.isOnline = false;
      world.saver.retry();
      await world.advance(100);
      expect(world.status()).toBe('offline');
      world.isOnline = true;
      world.canMerge = true;
      await world.advance(30_000);
      expect(world.status()).toBe('saved');
      expect(world.row?.html).toBe(log('a', 'mine', 'theirs'));
    });

    test('the reloaded page merges', async () => {
      await world.advance(10_000);
      world.saver.close();
      world.canMerge = true;
      world.loadPage();
      await world.advance(100);
      expect(world.row?.html).toBe(log('a', 'mine', 'theirs'));
      expect(world.storage.length).toBe(0);
    });

    test('a save whose response was lost is recognised without it', async () => {
      world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
      world.serverMode = 'lost';
      await world.advance(2_100);
      world.serverMode = 'fine';
      world.type(log('a', 'mine', 'more'));
      await world.advance(10_000);
      expect(world.status()).toBe('saved');
      expect(world.writes).toEqual([log('a', 'mine'), log('a', 'mine', 'more')]);
    });

    test('a restored draft waits for the merge and is not shown as failed', async () => {
      world.saver.close();
      world.loadPage();
      expect(world.status()).toBe('unsaved');
      expect(world.editorText).toBe(log('a', 'mine'));
      world.canMerge = true;
      await world.advance(100);
      expect(world.row?.html).toBe(log('a', 'mine', 'theirs'));
    });
  });

  describe('and the newer row is offered while text is unsaved', () => {
    const offer = () => world.saver.receiveRow(world.row, world.timers.now() + 1);

    test('the text is merged with it at once and saved later', async () => {
      world.writeElsewhere(log('a', 'theirs'));
      world.type(log('a', 'mine'));
      offer();
      expect(world.editorText).toBe(log('a', 'mine', 'theirs'));
      expect(world.writes).toEqual([]);
      expect(draftOf(world)).toMatchObject({
        html: log('a', 'mine', 'theirs'),
        base: log('a', 'theirs'),
        baseRevision: 2,
      });
      await world.advance(2_100);
      expect(world.writes).toEqual([log('a', 'mine', 'theirs')]);
      expect(world.status()).toBe('saved');
    });

    test('a row that has the text needs no save', async () => {
      world.writeElsewhere(log('a', 'mine', 'theirs'));
      world.type(log('a', 'mine'));
      offer();
      expect(world.editorText).toBe(log('a', 'mine', 'theirs'));
      expect(world.status()).toBe('saved');
      await world.advance(10_000);
      expect(world.writes).toEqual([]);
      expect(world.storage.length).toBe(0);
    });

    test.each([
      ['is an older revision', () => (world.row = { ...world.row!, revision: 0, html: log('older') })],
      ['is gone', () => (world.row = null)],
      ['is another row', () => (world.row = { id: 'other', html: log('other'), revision: 9, savedAt: 0 })],
    ])('the text stays until the save if the row %s', (_, change) => {
      world.type(log('a', 'mine'));
      change();
      offer();
      expect(world.editorText).toBe(log('a', 'mine'));
      expect(world.status()).toBe('unsaved');
    });

    test.each([
      ['an input method composes a word', () => (world.isComposing = true)],
      ['a save is in flight', () => void world.saver.flush()],
      ['the merge has not loaded', () => (world.canMerge = false)],
    ])('the text stays if %s', (_, change) => {
      world.writeElsewhere(log('a', 'theirs'));
      world.type(log('a', 'mine'));
      change();
      offer();
      expect(world.editorText).toBe(log('a', 'mine'));
      expect(['unsaved', 'saving']).toContain(world.status());
    });
  });

  test.each([
    { name: 'written', isComposing: false, before: null, after: log('theirs') },
    { name: 'deleted', isComposing: false, before: log('old'), after: null },
    { name: 'written during a composition', isComposing: true, before: null, after: log('theirs') },
  ])('a log $name elsewhere shows once the user has taken an edit back', async (row) => {
    const { isComposing, before, after } = row;
    world.writeElsewhere(before);
    world.loadPage();
    world.type(log('mine'));
    await world.advance(10);
    world.isComposing = isComposing;
    world.writeElsewhere(after);
    world.saver.receiveRow(world.row, world.timers.now());
    world.isComposing = false;
    world.type(before ?? '');
    await world.advance(2_100);
    expect(world.editorText).toBe(after ?? '');
    expect(world.saver.view()).toMatchObject({ unsaved: false, stored: world.row });
    expect(world.writes).toEqual([]);
    expect(world.requests).toBe(1);
  });

  test('a row is merged after the composition although the user has taken the edit back', async () => {
    world.isComposing = true;
    world.writeElsewhere(log('a', 'theirs'));
    world.type(log('a', 'mine'));
    world.saver.receiveRow(world.row, world.timers.now());
    world.type(log('a'));
    await world.advance(5_000);
    expect(world.editorText).toBe(log('a'));
    world.isComposing = false;
    await world.advance(2_000);
    expect(world.editorText).toBe(log('a', 'theirs'));
    expect(world.status()).toBe('saved');
  });

  test('the same text elsewhere is no conflict', async () => {
    world.writeElsewhere(log('a', 'b'));
    world.type(log('a', 'b'));
    await world.advance(5_000);
    expect(world.status()).toBe('saved');
    expect(world.saver.view().conflict).toBe(null);
  });

  test('a text that contains every line of theirs replaces it', async () => {
    world.writeElsewhere(log('a', 'b'));
    world.type(log('a', 'b', 'c'));
    await world.advance(5_000);
    expect(world.row?.html).toBe(log('a', 'b', 'c'));
  });

  test('theirs replaces a text whose every line it contains', async () => {
    world.writeElsewhere(log('a', 'b', 'c'));
    world.type(log('a', 'b'));
    await world.advance(5_000);
    expect(world.editorText).toBe(log('a', 'b', 'c'));
    expect(world.status()).toBe('saved');
    expect(world.acknowledged).toEqual([world.row]);
  });

  test('lines deleted here stay deleted, and lines added elsewhere stay', async () => {
    world.writeElsewhere(log('a', 'b'));
    world.type(log(''));
    await world.advance(5_000);
    expect(world.row?.html).toBe(log('', 'b'));
    expect(world.editorText).toBe(log('', 'b'));
    expect(world.status()).toBe('saved');
  });

  test('a higher revision of the same text is no conflict and does not fail the flush', async () => {
    world.raiseRevision();
    world.type(log('mine'));
    const saved = world.saver.flush();
    await world.advance(100);
    expect(await saved).toBe(true);
    expect(world.row?.html).toBe(log('mine'));
  });

  test('a revision that changes at every read makes the save back off', async () => {
    world.raiseRevision();
    world.type(log('mine'));
    const read = world.transport.read;
    world.transport.read = (date) => {
      world.raiseRevision();
      return read(date).finally(() => world.raiseRevision());
    };
    const saved = world.saver.flush();
    await world.advance(1_000);
    expect(await saved).toBe(false);
    expect(world.status()).toBe('retrying');
    await world.advance(60_000);
    expect(world.requests).toBeLessThan(100);
    expect(world.saver.text()).toBe(log('mine'));
    world.transport.read = read;
    await world.advance(60_000);
    expect(world.row?.html).toBe(log('mine'));
  });

  test('a sent line that was deleted before its response does not return with a change from elsewhere', async () => {
    world.serverMode = 'lost';
    world.type(log('a', 'slip'));
    await world.advance(2_100);
    world.writeElsewhere(log('a', 'slip', 'theirs'));
    world.serverMode = 'fine';
    world.type(log('a'));
    await world.advance(10_000);
    expect(world.status()).toBe('saved');
    expect(world.editorText).toBe(log('a', 'theirs'));
    expect(world.row?.html).toBe(log('a', 'theirs'));
  });

  test('a sent line that was deleted since stays deleted if its save arrives before the next one', async () => {
    world.serverMode = 'down';
    world.type(log('a', 'slip'));
    await world.advance(2_100);
    world.serverMode = 'fine';
    world.type(log('a', 'mine'));
    const { update } = world.transport;
    world.transport.update = (...request) => {
      world.transport.update = update;
      world.writeElsewhere(log('a', 'slip'));
      return update(...request);
    };
    await world.advance(10_000);
    expect(world.status()).toBe('saved');
    expect(world.row?.html).toBe(log('a', 'mine'));
  });

  test('a day that was removed and created again elsewhere is merged', async () => {
    world.writeElsewhere(null);
    world.writeElsewhere(log('theirs'));
    expect(world.row?.revision).toBe(1);
    world.saver.receiveRow(world.row, world.timers.now() + 1);
    expect(world.editorText).toBe(log('theirs'));
    world.writeElsewhere(null);
    world.writeElsewhere(log('theirs again'));
    world.type(log('theirs', 'mine'));
    await world.advance(10_000);
    expect(world.status()).toBe('saved');
    expect(world.row?.html).toBe(log('theirs again', 'mine'));
  });

  test('a day that was removed elsewhere keeps what was written here since', async () => {
    world.writeElsewhere(null);
    world.type(log('a', 'mine'));
    await world.advance(5_000);
    expect(world.row?.html).toBe(log('mine'));
    expect(world.editorText).toBe(log('mine'));
  });

  test('the text is not changed while an input method composes a word, and is merged after it', async () => {
    world.isComposing = true;
    world.writeElsewhere(log('a', 'b', 'c'));
    world.type(log('a', 'b'));
    await world.advance(5_000);
    expect(world.editorText).toBe(log('a', 'b'));
    expect(world.saver.view().conflict).toBe(null);
    expect(world.requests).toBeLessThan(12);
    world.isComposing = false;
    await world.advance(2_000);
    expect(world.editorText).toBe(log('a', 'b', 'c'));
    expect(world.status()).toBe('saved');
  });

  test('a composed word is saved at once if the merge leaves the text as it is', async () => {
    world.isComposing = true;
    world.writeElsewhere(log('a', 'b'));
    world.type(log('a', 'b', 'c'));
    await world.advance(3_000);
    expect(world.row?.html).toBe(log('a', 'b', 'c'));
  });

  test('a day without unsaved text takes over a newer row', async () => {
    world.writeElsewhere(log('a', 'newer'));
    world.saver.receiveRow(world.row, world.timers.now());
    expect(world.editorText).toBe(log('a', 'newer'));
    expect(world.writes).toEqual([]);
  });

  test('a stale read does not undo our own save', async () => {
    const before = world.row;
    const requestedAt = world.timers.now();
    world.type(log('a', 'b'));
    await world.advance(3_000);
    world.saver.receiveRow(before, requestedAt);
    expect(world.editorText).toBe(log('a', 'b'));
    world.saver.receiveRow(null, requestedAt);
    expect(world.editorText).toBe(log('a', 'b'));
  });
});

describe('when the log was moved to another day elsewhere', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.loadPage();
  });

  test('later edits do not create a second log, and the conflict names the new day', async () => {
    world.type(log('a', 'b'));
    world.moveElsewhere();
    await world.advance(60_000);
    expect(world.saver.view().conflict).toMatchObject({ theirs: null, moved: { date: '2026-11-18' } });
    expect(world.row).toBeNull();
    expect(world.writes).toEqual([]);
    expect(world.editorText).toBe(log('a', 'b'));
    expect(world.storage.length).toBe(1);
  });

  test('text that the moved log contains is removed from this day', async () => {
    world.serverMode = 'lost';
    world.type(log('a', 'b'));
    await world.advance(2_100);
    world.moveElsewhere();
    world.serverMode = 'fine';
    await world.advance(60_000);
    expect(world.status()).toBe('empty');
    expect(world.editorText).toBe('');
    expect(world.row).toBeNull();
    expect(world.storage.length).toBe(0);
  });

  test('a draft of a closed tab does not create the log again', async () => {
    world.type(log('a', 'b'));
    world.saver.storeDraft();
    world.serverMode = 'down';
    await world.advance(100);
    world.moveElsewhere();
    world.serverMode = 'fine';
    world.saver.close();
    world.loadPage();
    await world.advance(60_000);
    expect(world.saver.view().conflict).toMatchObject({ moved: { date: '2026-11-18' } });
    expect(world.row).toBeNull();
    expect(world.storage.length).toBe(1);
  });

  test('a new log of this day shows once the text is added to the moved log', async () => {
    world.moveElsewhere();
    world.type(log('a', 'mine'));
    await world.advance(2_100);
    expect(world.status()).toBe('conflict');
    world.row = { id: 'new', html: log('new'), revision: 1, savedAt: 0 };
    world.saver.receiveRow(world.row, world.timers.now());
    world.saver.takeTheirs();
    expect(world.editorText).toBe(log('new'));
    expect(world.saver.view()).toMatchObject({ unsaved: false, conflict: null, stored: world.row });
  });

  test('the text stays on this day if the user keeps both', async () => {
    world.type(log('a', 'b'));
    world.moveElsewhere();
    await world.advance(60_000);
    world.saver.keepBoth();
    await world.advance(1_000);
    expect(world.row).toMatchObject({ html: log('a', 'b') });
    expect(world.status()).toBe('saved');
  });

  test('a day without unsaved text becomes empty, and a stale read does not fill it again', async () => {
    world.moveElsewhere();
    world.saver.replaceWith(null);
    world.saver.receiveRow({ id: 'row', html: log('a'), revision: 1, savedAt: 0 }, world.timers.now());
    expect(world.editorText).toBe('');
    world.type(log('new'));
    await world.advance(60_000);
    expect(world.writes).toEqual([log('new')]);
  });
});

describe('the backoff', () => {
  const context = { now: 5_000, random: 0, isComposing: false, isHidden: false, newRowId: 'new', merge: mergeLogs };

  /** The milliseconds until the next save, after `failures` attempts without an answer. */
  function waitAfter(failures: number, retryAfterMs?: number, { random = 0, isHidden = false } = {}): number {
    const failure = { kind: 'unreachable', ...(retryAfterMs && { retryAfterMs }) } as const;
    let { state } = reduce(initialState(null), { type: 'textReplaced', html: log('a'), delayMs: 0 }, context);
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

describe('drafts', () => {
  test('a draft that is merged with the row replaces the text of the editor once', () => {
    const state = initialState({ id: 'row', html: log('a', 'on screen'), revision: 2, savedAt: 0 });
    const draft = { html: log('a', 'left'), base: log('a'), baseId: 'row', baseRevision: 1, at: 0 };
    const context = { now: 1, random: 0, isComposing: false, isHidden: false, newRowId: 'new', merge: mergeLogs };
    const { effects } = reduce(state, { type: 'draftFound', draft, isReadable: true }, context);
    expect(effects.filter(({ type }) => type === 'replaceEditorText')).toEqual([
      {
        type: 'replaceEditorText',
        html: log('a', 'left', 'on screen'),
        // The merge maps lines of the draft, but the caret is in a line of the row.
        change: { isUndoable: false, mappedLines: null },
      },
    ]);
  });

  test('the next page sends the draft of a page that closed before its save', async () => {
    world.loadPage();
    world.type(log('a'));
    world.saver.storeDraft();
    world.serverMode = 'down';
    world.saver.close();
    world.serverMode = 'fine';
    world.loadPage();
    expect(world.editorText).toBe(log('a'));
    await world.advance(100);
    expect(world.row?.html).toBe(log('a'));
    expect(world.storage.length).toBe(0);
  });

  test('a draft of an older revision is merged with the newer one', async () => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.loadPage();
    world.type(log('mine'));
    world.saver.close();
    world.writeElsewhere(log('theirs'));
    world.loadPage();
    expect(world.editorText).toBe(log('mine', 'theirs'));
    await world.advance(100);
    expect(world.row.html).toBe(log('mine', 'theirs'));
    expect(world.storage.length).toBe(0);
  });

  test.each([
    { name: 'with a line that it lacks', copy: log('a'), mine: log('a', 'theirs', 'mine') },
    { name: 'with its text', copy: log('a'), mine: log('a') },
    { name: 'that is empty like it', copy: null, mine: log() },
  ])('a draft $name is not compared with a copy that is older than its base', async ({ copy, mine }) => {
    world.row = { id: 'row', html: log('a', 'theirs'), revision: 2, savedAt: 0 };
    world.loadPage();
    world.type(mine);
    world.saver.close();
    const newest = world.row;
    world.row = copy === null ? null : { id: 'row', html: copy, revision: 1, savedAt: 0 };
    world.loadPage();
    world.row = newest;
    expect(world.editorText).toBe(mine);
    await world.advance(100);
    expect(world.row?.html ?? '').toBe(mine);
    expect(world.storage.length).toBe(0);
  });

  describe('of a page that closed before its save', () => {
    /** Types the text and closes the page before a request is sent; only the draft remains. */
    const leaveWith = (html: string): void => {
      world.type(html);
      world.saver.close();
    };

    beforeEach(() => {
      world.row = { id: 'row', html: log('a', 'b'), revision: 1, savedAt: 0 };
      world.loadPage();
    });

    test.each([
      ['a deleted line', log('a')],
      ['a deletion of all lines', log()],
      ['a changed line', log('a', 'c')],
      ['an added line', log('a', 'b', 'c')],
    ])('%s is sent although the revision was raised without a change of the text', async (_, mine) => {
      leaveWith(mine);
      world.raiseRevision();
      world.loadPage();
      expect(world.status()).not.toBe('conflict');
      expect(world.editorText).toBe(mine);
      await world.advance(1_000);
      expect(world.row?.html ?? '').toBe(mine);
      expect(world.storage.length).toBe(0);
    });

    test('a line deleted here stays deleted, and a line added elsewhere stays', async () => {
      leaveWith(log('a'));
      world.writeElsewhere(log('a', 'b', 'theirs'));
      world.loadPage();
      expect(world.editorText).toBe(log('a', 'theirs'));
      await world.advance(100);
      expect(world.row?.html).toBe(log('a', 'theirs'));
      expect(world.storage.length).toBe(0);
    });

    test('a line deleted while its save is in flight stays deleted', async () => {
      world.type(log('a', 'b', 'slip'));
      world.saver.storeDraft();
      void world.saver.flush();
      world.loadPage();
      world.type(log('a', 'b'));
      await world.advance(5_000);
      expect(world.writes).toEqual([log('a', 'b', 'slip'), log('a', 'b')]);
      expect(world.editorText).toBe(log('a', 'b'));
      expect(world.status()).toBe('saved');
    });

    test('a day that was deleted and created again elsewhere is merged, although its revision is the same', async () => {
      leaveWith(log('a', 'mine'));
      world.row = { id: 'another', html: log('theirs'), revision: 1, savedAt: 0 };
      world.loadPage();
      await world.advance(30_000);
      expect(world.row.html).toBe(log('mine', 'theirs'));
    });

    test('a line deleted right after the merge stays deleted', async () => {
      leaveWith(log('a'));
      world.writeElsewhere(log('a', 'b', 'theirs'));
      world.loadPage();
      world.type(log('theirs'));
      await world.advance(5_000);
      expect(world.status()).toBe('saved');
      expect(world.row?.html).toBe(log('theirs'));
    });

    test('a draft without deletions gives way to a version that contains all of its lines', async () => {
      leaveWith(log('a', 'b', 'mine'));
      world.writeElsewhere(log('a', 'b', 'mine', 'theirs'));
      world.loadPage();
      expect(world.status()).toBe('saved');
      expect(world.editorText).toBe(log('a', 'b', 'mine', 'theirs'));
      expect(world.storage.length).toBe(0);
    });

    test('a sent line that was deleted before its response stays deleted', async () => {
      world.serverMode = 'lost';
      world.type(log('a', 'b', 'slip'));
      await world.advance(2_100);
      leaveWith(log('a', 'b'));
      world.serverMode = 'fine';
      world.loadPage();
      await world.advance(1_000);
      expect(world.editorText).toBe(log('a', 'b'));
      expect(world.row?.html).toBe(log('a', 'b'));
      expect(world.status()).toBe('saved');
    });

    test.each([1, 2])(
      'a draft without its base text (revision %i) is never treated as an unedited older version',
      async (revision) => {
        world.storage.maxValueLength = 100;
        leaveWith(log('a'));
        expect(draftOf(world)).not.toHaveProperty('base');
        world.row = { id: 'row', html: log('a', 'b'), revision, savedAt: 0 };
        for (let load = 0; load < 2; load += 1) {
          world.loadPage();
          await world.advance(30_000);
          expect(world.editorText).toBe(log('a'));
          if (revision === 1) expect(world.row.html).toBe(log('a'));
          else expect(world.status()).toBe('conflict');
          world.saver.close();
        }
      },
    );
  });

  describe('without their base text, because the storage was full', () => {
    beforeEach(() => {
      world.row = { id: 'row', html: log('a', 'b'), revision: 1, savedAt: 0 };
      world.loadPage();
      world.storage.maxValueLength = 100;
      world.type(log('a', 'c'));
      world.saver.close();
      expect(draftOf(world)).not.toHaveProperty('base');
    });

    test('keep every line if the user keeps both versions', async () => {
      world.writeElsewhere(log('a', 'b', 'theirs'));
      world.loadPage();
      await world.advance(1_000);
      expect(world.status()).toBe('conflict');
      world.saver.keepBoth();
      await world.advance(1_000);
      expect(world.row?.html).toBe(log('a', 'c', 'b', 'theirs'));
    });

    test('are sent if they have every line of the row', async () => {
      world.writeElsewhere(log('c'));
      world.loadPage();
      await world.advance(1_000);
      expect(world.row?.html).toBe(log('a', 'c'));
      expect(world.storage.length).toBe(0);
    });
  });

  test('a draft whose text is stored is dropped', async () => {
    world.loadPage();
    world.type(log('a'));
    world.saver.storeDraft();
    world.serverMode = 'lost';
    void world.saver.flush();
    await world.advance(100);
    world.saver.close();
    world.serverMode = 'fine';
    world.loadPage();
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('are stored within 100 ms, also while the user types on', async () => {
    world.loadPage();
    world.type(log('a'));
    await world.advance(60);
    world.type(log('ab'));
    await world.advance(40);
    expect(world.storage.getItem(world.storage.key(0)!)).toContain('ab');
  });

  test('that only the database can take are safe once it has them', async () => {
    const answers: ((isStored: boolean) => void)[] = [];
    world.storeDraft = () => new Promise<boolean>((resolve) => answers.push(resolve));
    world.loadPage();
    world.type(log('a'));
    await world.advance(100);
    expect(world.saver.view().isSafe).toBe(false);
    world.type(log('a', 'b'));
    await world.advance(100);
    // The outcome of an older draft says nothing about the newest.
    answers[0]!(true);
    await world.advance(0);
    expect(world.saver.view().isSafe).toBe(false);
    answers[1]!(true);
    await world.advance(0);
    expect(world.saver.view().isSafe).toBe(true);
  });

  test('the page is unsafe to close if the browser stores no draft', async () => {
    world.storage.maxValueLength = 0;
    world.loadPage();
    expect(world.saver.isSafe()).toBe(true);
    world.type(log('a'));
    expect(world.saver.storeDraft()).toBe(false);
    expect(world.saver.isSafe()).toBe(false);
    await world.advance(3_000);
    expect(world.saver.isSafe()).toBe(true);
  });
});

describe('when the plan locks the day', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('old'), revision: 7, savedAt: 0 };
    world.loadPage();
  });

  test('unsaved text stays in a draft, shows why, and is not retried', async () => {
    world.isLocked = true;
    world.type(log('old', 'new'));
    await world.advance(2_100);
    expect(world.status()).toBe('locked');
    expect(world.saver.text()).toBe(log('old', 'new'));
    expect(world.storage.length).toBe(1);
    const asked = world.requests;
    await world.advance(600_000);
    expect(world.requests).toBe(asked);
    world.type(log('old', 'new', 'newer'));
    await world.advance(600_000);
    expect(world.requests).toBe(asked);
    expect(world.status()).toBe('locked');
    expect(world.saver.isSafe()).toBe(true);
  });

  test('an emptied day does not count as removed', async () => {
    world.isLocked = true;
    world.type('');
    await world.advance(2_100);
    expect(world.status()).toBe('locked');
    expect(world.acknowledged).toEqual([]);
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row).toBe(null);
  });

  test('the text is sent when the plan unlocks the day, based on its own revision', async () => {
    world.isLocked = true;
    world.type(log('mine'));
    await world.advance(2_100);
    world.showLockedView();
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row).toMatchObject({ html: log('mine'), revision: 8 });
    expect(world.status()).toBe('saved');
    expect(world.storage.length).toBe(0);
  });

  test('a retry of a day that is still locked shows no other status', async () => {
    world.isLocked = true;
    world.type(log('mine'));
    await world.advance(2_100);
    const statuses = new Set<string>();
    world.saver.subscribe(() => statuses.add(world.status()));
    world.saver.retry();
    await world.advance(30_000);
    expect([...statuses].filter((kind) => kind !== 'locked')).toEqual([]);
  });

  test('a save that fails while the day is unlocked is retried', async () => {
    world.isLocked = true;
    world.type(log('mine'));
    await world.advance(2_100);
    world.isLocked = false;
    world.serverMode = 'down';
    world.showUnlockedDay();
    await world.advance(100);
    world.serverMode = 'fine';
    await world.advance(2_000);
    expect(world.row).toMatchObject({ html: log('mine') });
  });

  test('a draft restored on a locked day keeps its base revision until it is sent', async () => {
    world.type(log('mine'));
    world.saver.close();
    world.isLocked = true;
    for (const revision of [7, 7]) {
      world.loadPage();
      expect(draftOf(world)).toMatchObject({ html: log('mine'), baseRevision: revision });
      expect(world.status()).toBe('locked');
      expect(world.saver.text()).toBe(log('mine'));
      await world.advance(60_000);
      world.saver.close();
    }
    expect(world.writes).toEqual([]);
    world.loadPage();
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row).toMatchObject({ html: log('mine'), revision: 8 });
    expect(world.saver.view().conflict).toBe(null);
  });

  test('a day that was emptied, locked and reloaded is removed when it is unlocked', async () => {
    world.type('');
    world.saver.close();
    world.isLocked = true;
    world.loadPage();
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row).toBe(null);
    expect(world.storage.length).toBe(0);
  });

  test('a line deleted before the lock stays deleted after it', async () => {
    world.writeElsewhere(log('old', 'slip'));
    world.loadPage();
    world.type(log('old'));
    world.saver.close();
    world.isLocked = true;
    world.loadPage();
    world.raiseRevision();
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row?.html).toBe(log('old'));
    expect(world.status()).toBe('saved');
  });

  test('a draft of a locked day is merged with a change from elsewhere when it is unlocked', async () => {
    world.type(log('mine'));
    world.saver.close();
    world.isLocked = true;
    world.loadPage();
    world.writeElsewhere(log('theirs'));
    world.isLocked = false;
    world.showUnlockedDay();
    await world.advance(100);
    expect(world.row?.html).toBe(log('mine', 'theirs'));
    expect(world.status()).toBe('saved');
  });
});
