import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { hash as argon2 } from '@node-rs/argon2';
import { afterAll, describe, expect, test } from 'vitest';
import { createConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';
import { BusyError } from '#server/load/request-context.ts';
import { createPasswords } from './passwords.ts';

const passwords = createPasswords();
afterAll(() => passwords.close());

describe('passwords', () => {
  test('match only their own hash', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash('correct horse')).not.toBe(hash);
    expect(await passwords.matches('correct horse', hash)).toBe(true);
    expect(await passwords.matches('correct mule', hash)).toBe(false);
    expect(await passwords.matches('', hash)).toBe(false);
  });

  test('match in both forms of a letter with an accent, also hashes of the form as it was typed', async () => {
    const [composed, decomposed] = ['caf\u00e9 horse', 'cafe\u0301 horse'];
    const hash = await passwords.hash(decomposed);
    expect([await passwords.matches(composed, hash), await passwords.matches(decomposed, hash)]).toEqual([true, true]);
    const earlier = await argon2(decomposed, { memoryCost: 8, timeCost: 1, parallelism: 1 });
    expect(await passwords.matches(decomposed, earlier)).toBe(true);
    expect(await passwords.matches(decomposed, null)).toBe(false);
    expect(await passwords.matches('cafe\u0301 mule', hash)).toBe(false);
  });

  test('take as long to reject for an unknown account as for a known one', async () => {
    const hash = await passwords.hash('correct horse');
    const measured = async (against: string | null): Promise<number> => {
      const start = process.cpuUsage();
      expect(await passwords.matches('wrong', against)).toBe(false);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    // Processor time: on a busy machine the thread, whose priority is low, waits for other programs. The two cases
    // alternate, and the cheapest round of each counts, because the process also collects garbage.
    let [unknown, known] = [Infinity, Infinity];
    for (let round = 0; round < 9; round += 1) {
      unknown = Math.min(unknown, await measured(null));
      known = Math.min(known, await measured(hash));
    }
    expect(unknown / known, `${unknown} ms and ${known} ms`).toBeGreaterThan(0.5);
    expect(unknown / known, `${unknown} ms and ${known} ms`).toBeLessThan(2);
  });

  test('throw on a malformed hash and never match a missing one', async () => {
    await expect(passwords.matches('x', 'not a hash')).rejects.toThrow('cannot verify the password hash');
    expect(await passwords.matches('x', null)).toBe(false);
  });

  test('are assessed in the thread, for every input without an exception', async () => {
    expect(await passwords.isGuessable('samfox2024', ['sam.fox@example.com'])).toBe(true);
    expect(await passwords.isGuessable('tamarind kelp', ['sam.fox@example.com'])).toBe(false);
    const hostile = '()|1!4@8({[3€'.repeat(6).slice(0, 72);
    await Promise.all(Array.from({ length: 20 }, () => passwords.isGuessable(hostile, [])));
  });

  test('end their thread, with its lists of guessable ones, once it is idle, and the next one starts another', async () => {
    const threads: Worker[] = [];
    const collect = (thread: Worker): void => void threads.push(thread);
    process.on('worker', collect);
    const idle = createPasswords(undefined, 20);
    await idle.isGuessable('samfox2024', []);
    await once(threads[0]!, 'exit');
    expect(await idle.matches('x', null)).toBe(false);
    expect(threads).toHaveLength(2);
    process.off('worker', collect);
    await idle.close();
  });

  test('wait in a bounded queue and are rejected beyond it', async () => {
    const bounded = createPasswords(createConcurrencyLimiter({ maxRunning: 2, maxQueued: 1 }));
    try {
      const hashes = Array.from({ length: 5 }, () => bounded.hash('x'));
      const settled = await Promise.allSettled(hashes);
      expect(settled.map((result) => result.status)).toEqual([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ]);
      expect(settled[3]).toMatchObject({ reason: expect.any(BusyError) });
      expect(await bounded.hash('y')).toBeTruthy();
    } finally {
      await bounded.close();
    }
  });

  test('are rejected when the thread exits, and later ones start a new thread', async () => {
    const own = createPasswords();
    const pending = own.hash('x');
    await Promise.all([expect(pending).rejects.toThrow('exited'), own.close()]);
    expect(await own.hash('x')).toBeTruthy();
    await own.close();
  });
});
