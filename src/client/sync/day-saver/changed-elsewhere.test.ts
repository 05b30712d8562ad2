/** A day that another device has changed is merged (docs/specification/days-and-saving.md 6 and 13). */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createDaySaverHarness,
  draftOf,
  log,
  type DaySaverHarness,
} from '../../../../tests/support/day-saver-harness.ts';
import type { SaverView } from './state.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
});

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
    const offer = () => world.saver.takeRow(world.row, world.timers.now() + 1);

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
    world.saver.takeRow(world.row, world.timers.now());
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
    world.saver.takeRow(world.row, world.timers.now());
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

  test('a line of a refused save that another device wrote too stays when it is replaced here', async () => {
    world.latencyMs = 1_000;
    world.writeElsewhere(log('a', 'same'));
    world.type(log('a', 'same'));
    await world.advance(2_500);
    world.type(log('a', 'other'));
    await world.advance(30_000);
    expect(world.row?.html).toBe(log('a', 'other', 'same'));
    expect(world.editorText).toBe(log('a', 'other', 'same'));
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
    world.saver.takeRow(world.row, world.timers.now() + 1);
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
    world.saver.takeRow(world.row, world.timers.now());
    expect(world.editorText).toBe(log('a', 'newer'));
    expect(world.writes).toEqual([]);
  });

  test('a stale read does not undo our own save', async () => {
    const before = world.row;
    const readAt = world.timers.now();
    world.type(log('a', 'b'));
    await world.advance(3_000);
    world.saver.takeRow(before, readAt);
    expect(world.editorText).toBe(log('a', 'b'));
    world.saver.takeRow(null, readAt);
    expect(world.editorText).toBe(log('a', 'b'));
  });

  test('a newer row is shown although the clock was set back since our own save', async () => {
    world.type(log('a', 'b'));
    await world.advance(3_000);
    world.writeElsewhere(log('a', 'b', 'newer'));
    world.setClockBack(2 * 86_400_000);
    world.saver.takeRow(world.row, world.timers.now());
    expect(world.editorText).toBe(log('a', 'b', 'newer'));
  });
});
