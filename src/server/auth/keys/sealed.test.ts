import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seal, unseal } from './sealed.ts';

const key = randomBytes(32);

test('unseals a secret with the key and context that sealed it', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (context, secret) => {
      expect(unseal(key, context, seal(key, context, secret))).toBe(secret);
    }),
  );
});

test('unseals no secret with another key, for another context, or after any change', () => {
  const sealed = seal(key, 'factor:1', 'secret');
  expect(unseal(randomBytes(32), 'factor:1', sealed)).toBeNull();
  expect(unseal(key, 'factor:2', sealed)).toBeNull();
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(unseal(key, 'factor:1', changed)).toBeNull();
    expect(unseal(key, 'factor:1', sealed.subarray(0, index))).toBeNull();
  }
});
