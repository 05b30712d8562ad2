import { describe, expect, test } from 'vitest';
import { localTime, parseTimestamp } from './timestamps.ts';

describe('a stored timestamp', () => {
  test('in UTC has the day of the given zone, whatever the zone of the machine', () => {
    const at = (zone: string) => parseTimestamp('2024-03-10T09:59:30.123Z', zone);
    expect(at('UTC')).toEqual({ day: '2024-03-10', time: '09:59:30' });
    expect(at('America/Los_Angeles')).toEqual({ day: '2024-03-10', time: '01:59:30' });
    expect(at('Pacific/Kiritimati')).toEqual({ day: '2024-03-10', time: '23:59:30' });
    expect(at('Asia/Kathmandu')).toEqual({ day: '2024-03-10', time: '15:44:30' });
    // Half an hour later the clocks in Los Angeles have changed.
    expect(parseTimestamp('20240310T102930Z', 'America/Los_Angeles')?.time).toBe('03:29:30');
  });

  test('keeps the entry’s own clock where the text has an offset or no zone', () => {
    for (const text of [
      '2024-05-01T23:30:00+14:00',
      '2024-05-01 23:30:00 -0700',
      '2024-05-01T23:30',
      '2024-05-01 23:30:00',
    ])
      expect(parseTimestamp(text, 'America/Los_Angeles')).toEqual({ day: '2024-05-01', time: '23:30:00' });
    expect(parseTimestamp('2024-05-01', 'Pacific/Kiritimati')).toEqual({ day: '2024-05-01', time: '00:00:00' });
  });

  test('may be seconds or milliseconds since 1970', () => {
    const expected = { day: '2024-05-01', time: '00:00:00' };
    for (const value of [1_714_521_600, 1_714_521_600_000, '1714521600', '1714521600000'])
      expect(parseTimestamp(value, 'UTC')).toEqual(expected);
  });

  test('without an existing date is null', () => {
    for (const value of ['', 'yesterday', '2024-02-30', '2024-13-01T00:00:00Z', null, undefined, Number.NaN, 1e300, {}])
      expect(parseTimestamp(value, 'UTC')).toBeNull();
    expect(localTime(new Date(Number.NaN), 'UTC')).toBeNull();
  });
});
