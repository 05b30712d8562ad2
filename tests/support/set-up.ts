/** Starts a database or a server before the first test of a file, and ends it after the last. */
import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** Call it once in a file or a `describe`. The properties of what it returns are set before the first test. */
function setUp<World extends object>(start: () => Promise<World>, end: (world: World) => Promise<unknown>): World {
  const world = {} as World;
  beforeAll(async () => void Object.assign(world, await start()));
  afterAll(() => end(world));
  return world;
}

export const setUpWorld = <World extends { close(): Promise<unknown> }>(start: () => Promise<World>): World =>
  setUp(start, (world) => world.close());

export const setUpTestDatabase = (...options: Parameters<typeof createTestDatabase>): TestDatabase =>
  setUp(
    () => createTestDatabase(...options),
    (database) => database.drop(),
  );
