import { expect, test } from 'vitest';
import { withoutMethods } from './unused-library-code.ts';

const CODE = `class Client {
    async used(a) {
        return a;
    }
    /** Not used. */
    async unused(a, { b } = {}) {
        if (a) {
            return b;
        }
    }
    async last() {
        return 1;
    }
}`;

test('empties a method and leaves the others', () => {
  expect(withoutMethods(CODE, ['unused'])).toBe(CODE.replace(/async unused[^]*?\n {4}\}/, 'async unused() {}'));
});

test('fails for a method that the library no longer has', () => {
  expect(() => withoutMethods(CODE, ['unused', 'gone'])).toThrow('gone');
});
