/**
 * Drafts of unsaved text, and the page that takes over those of an earlier one
 * (docs/specification/days-and-saving.md 8).
 */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createDaySaverHarness,
  draftOf,
  log,
  type DaySaverHarness,
} from '../../../../tests/support/day-saver-harness.ts';
import { day } from '#domain/day/day.ts';
import { mergeLogs } from '#domain/merge/merge-logs.ts';
import { createDayDrafts, type DayDraft } from '../day-drafts.ts';
import { reduce } from './reducer.ts';
import { initialState } from './state.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
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
    expect(world.saver.view().isSafe).toBe(true);
    world.type(log('a'));
    expect(world.saver.storeDraft()).toBe(false);
    expect(world.saver.view().isSafe).toBe(false);
    await world.advance(3_000);
    expect(world.saver.view().isSafe).toBe(true);
  });

  test('that the browser rejected are stored with the next failed save, once there is room', async () => {
    world.serverMode = 'down';
    world.storage.maxValueLength = 0;
    world.loadPage();
    world.type(log('a'));
    await world.advance(2_100);
    expect(world.saver.view().isSafe).toBe(false);
    world.storage.maxValueLength = Infinity;
    await world.advance(5_000);
    expect(world.saver.view().isSafe).toBe(true);
    expect(draftOf(world)).toMatchObject({ html: log('a') });
  });

  test('stay small while the reads of a day succeed and its writes fail', async () => {
    const sentTexts = () => (draftOf(world) as { sent: string[] }).sent;
    world.transport = { ...world.transport, insert: async () => ({ kind: 'unreachable' }) };
    world.loadPage();
    world.type(log('a'));
    await world.advance(60_000);
    expect(new Set(sentTexts())).toEqual(new Set([log('a')]));
    expect(sentTexts().length).toBeLessThanOrEqual(2);
    for (let line = 0; line < 20; line += 1) {
      world.type(log('a', `b${line}`));
      await world.advance(10_000);
    }
    expect(sentTexts()).toHaveLength(10);
    expect(sentTexts().at(-1)).toBe(log('a', 'b19'));
  });

  test.each([true, false])(
    'of two bases keep a line typed again after its deletion elsewhere (at once: %s)',
    async (isAtOnce) => {
      world.row = { id: 'row', html: log('m'), revision: 2, savedAt: 0 };
      const newer = { html: log('l', 'm', 'n'), base: log('l', 'm'), baseId: 'row', baseRevision: 1, at: 2 };
      const typedAgain = { html: log('l', 'm'), base: log('m'), baseId: 'row', baseRevision: 2, at: 1 };
      const storeAs = (writer: string, draft: DayDraft) =>
        createDayDrafts(world.storage, 'ada', writer).store(day('2026-11-21'), draft);
      void storeAs('one', newer);
      if (isAtOnce) void storeAs('two', typedAgain);
      world.isMergeLoaded = isAtOnce;
      world.loadPage();
      world.isMergeLoaded = true;
      if (!isAtOnce) world.saver.restore(typedAgain);
      await world.advance(10_000);
      expect(world.row.html).toBe(log('l', 'm', 'n'));
    },
  );
});
