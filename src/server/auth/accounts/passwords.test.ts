import { afterAll, describe, expect, test } from 'vitest';
import { PasswordQueueFullError, createPasswords } from './passwords.ts';

const passwords = createPasswords();
afterAll(() => passwords.close());

describe('passwords', () => {
  test('match their own hash and no other', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash('correct horse')).not.toBe(hash);
    expect(await passwords.matches('correct horse', hash)).toBe(true);
    expect(await passwords.matches('correct mule', hash)).toBe(false);
    expect(await passwords.matches('', hash)).toBe(false);
  });

  test('cost as much to refuse for nobody as for somebody', async () => {
    const hash = await passwords.hash('correct horse');
    const timed = async (against: string | null): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const start = performance.now();
        expect(await passwords.matches('wrong', against)).toBe(false);
        times.push(performance.now() - start);
      }
      return times.toSorted((a, b) => a - b)[0]!;
    };
    const ratio = (await timed(null)) / (await timed(hash));
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  test('never match a hash that is none', async () => {
    await expect(passwords.matches('x', 'not a hash')).rejects.toThrow('could not be checked');
    expect(await passwords.matches('x', null)).toBe(false);
  });

  test('wait in a queue with an end, and the event loop goes on meanwhile', async () => {
    const few = createPasswords(3);
    try {
      const asked = Array.from({ length: 5 }, () => few.hash('x'));
      const settled = await Promise.allSettled(asked);
      expect(settled.map((result) => result.status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ]);
      expect(settled[3]).toMatchObject({ reason: expect.any(PasswordQueueFullError) });
      expect(await few.hash('y')).toBeTruthy();
    } finally {
      await few.close();
    }
  });

  test('that wait when the thread ends are told, and the next ones get another thread', async () => {
    const own = createPasswords();
    const waiting = own.hash('x');
    await Promise.all([expect(waiting).rejects.toThrow('ended'), own.close()]);
    expect(await own.hash('x')).toBeTruthy();
    await own.close();
  });
});
