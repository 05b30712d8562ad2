/**
 * The user chooses between two versions of a day, or between two days of a moved log
 * (docs/specification/days-and-saving.md 6 and 9).
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDaySaverHarness, log, type DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
});

describe('when the day was changed elsewhere', () => {
  beforeEach(() => {
    world.row = { id: 'row', html: log('a'), revision: 1, savedAt: 0 };
    world.loadPage();
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

  test('the conflict ends when the log is moved back', async () => {
    world.type(log('a', 'b'));
    world.moveElsewhere();
    await world.advance(60_000);
    expect(world.status()).toBe('conflict');
    const { id, html } = world.moved!;
    world.moved = null;
    world.row = { id, html, revision: 1, savedAt: 0 };
    world.saver.takeRow(world.row, world.timers.now());
    await world.advance(1_000);
    expect(world.status()).toBe('saved');
    expect(world.row.html).toBe(log('a', 'b'));
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
    world.saver.takeRow(world.row, world.timers.now());
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
    world.saver.takeRow({ id: 'row', html: log('a'), revision: 1, savedAt: 0 }, world.timers.now());
    expect(world.editorText).toBe('');
    world.type(log('new'));
    await world.advance(60_000);
    expect(world.writes).toEqual([log('new')]);
  });
});
