/** Unsaved text of a day that the plan locks (docs/specification/days-and-saving.md 2 and 8). */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  createDaySaverHarness,
  draftOf,
  log,
  type DaySaverHarness,
} from '../../../../tests/support/day-saver-harness.ts';

let world: DaySaverHarness;
beforeEach(() => {
  world = createDaySaverHarness();
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
    expect(world.saver.view().isSafe).toBe(true);
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
