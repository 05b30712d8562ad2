import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBanDuration } from './user-attributes.ts';

test.each([
  ['none', 0],
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['300ms', 300],
  ['2m3.5s', 123_500],
  ['876000h', 3_153_600_000_000],
])('reads %s as %d ms', (text, milliseconds) => {
  expect(parseBanDuration(text)).toBe(milliseconds);
});

test.each(['', '24', 'h', '-1h', '1d', '1h 30m', '.5h', '1e3h', '9999999h', 'None', '1h'.repeat(51)])(
  'rejects %j',
  (text) => {
    expect(parseBanDuration(text)).toBeNull();
  },
);

test('reads any text as a bounded duration or not at all', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^(\d{1,12}(\.\d{0,9})?(ns|us|ms|s|m|h|d)){1,6}$/));
  fc.assert(
    fc.property(text, (duration) => {
      const milliseconds = parseBanDuration(duration);
      if (milliseconds === null) return;
      expect(milliseconds).toBeGreaterThanOrEqual(0);
      // The end of a ban that starts today is a date that JavaScript and PostgreSQL can hold.
      expect(new Date(Date.now() + milliseconds).getFullYear()).toBeLessThan(2_400);
    }),
  );
});
