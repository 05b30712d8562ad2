import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const MORNING = new Date(2026, 10, 28, 0, 5, 9);
const AFTERNOON = new Date(2026, 10, 28, 14, 2, 0);

test.each([
  ['en-US', ['12:05 AM', '2:02 PM', '12:05:09 AM']],
  ['en-GB', ['00:05', '14:02', '00:05:09']],
  ['de-DE', ['00:05', '14:02', '00:05:09']],
  ['hi-IN', ['12:05 AM', '2:02 PM', '12:05:09 AM']],
  ['ar-EG', ['12:05 AM', '2:02 PM', '12:05:09 AM']],
  ['ja-JP', ['00:05', '14:02', '00:05:09']],
])('a browser in %s shows %j', async (locale, shown) => {
  const { DateTimeFormat } = Intl;
  // Called with `new`; an object that it returns replaces the new one.
  const LocalFormat = function (_locale: undefined, options: Intl.DateTimeFormatOptions) {
    return new DateTimeFormat(locale, options);
  };
  vi.stubGlobal('Intl', { ...Intl, DateTimeFormat: LocalFormat });
  const { clockTime } = await import('./clock-time.ts');
  expect([clockTime(MORNING), clockTime(AFTERNOON), clockTime(MORNING, true)]).toEqual(shown);
});

test('noon and midnight are 12', async () => {
  const { clockTime } = await import('./clock-time.ts');
  expect(clockTime(new Date(2026, 10, 28, 12, 0), false, true)).toBe('12:00 PM');
  expect(clockTime(new Date(2026, 10, 28, 0, 0), false, true)).toBe('12:00 AM');
});
