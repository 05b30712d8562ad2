/** When a day is saved, and that an empty day is never stored (docs/specification/days-and-saving.md 5 and 7). */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDaySaverHarness, log, type DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';

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
    world.saver.rewrite(() => log('I am sick'), 500);
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
