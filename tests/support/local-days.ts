/** Time zone data for day tests: all UTC offsets, and local midnights around clock changes. */
import { day, type Day } from '#domain/day/day.ts';

/** UTC offsets in minutes: every whole hour from -12 to +14, and three offsets between whole hours. */
export const OFFSETS: readonly number[] = [
  ...Array.from({ length: 27 }, (_, index) => (index - 12) * 60),
  5 * 60 + 30,
  5 * 60 + 45,
  12 * 60 + 45,
];

/** Formats an offset as a name, for example `UTC-05:00`. */
export function offsetName(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

export const dayAtOffset = (instant: Date, minutes: number): Day =>
  day(new Date(instant.getTime() + minutes * 60_000).toISOString().slice(0, 10));

/** Local midnights with the day that ends and the day that begins, written by hand from each zone's rules. */
export const MIDNIGHTS: readonly (readonly [zone: string, instant: string, ends: string, begins: string])[] = [
  // Clock changes in Berlin and New York: the day in March has 23 hours, the day in October or November has 25.
  ['Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-28', '2026-03-29'],
  ['Europe/Berlin', '2026-03-29T22:00:00.000Z', '2026-03-29', '2026-03-30'],
  ['Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-10-24', '2026-10-25'],
  ['Europe/Berlin', '2026-10-25T23:00:00.000Z', '2026-10-25', '2026-10-26'],
  ['America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-07', '2026-03-08'],
  ['America/New_York', '2026-03-09T04:00:00.000Z', '2026-03-08', '2026-03-09'],
  ['America/New_York', '2026-11-01T04:00:00.000Z', '2026-10-31', '2026-11-01'],
  ['America/New_York', '2026-11-02T05:00:00.000Z', '2026-11-01', '2026-11-02'],
  // In November summer time began at midnight, so the day began at 01:00. In February summer time ended at midnight, so
  // the hour before midnight repeated.
  ['America/Sao_Paulo', '2018-11-04T03:00:00.000Z', '2018-11-03', '2018-11-04'],
  ['America/Sao_Paulo', '2018-02-18T03:00:00.000Z', '2018-02-17', '2018-02-18'],
  // Lord Howe Island advances its clocks by only half an hour for summer time.
  ['Australia/Lord_Howe', '2026-04-04T13:00:00.000Z', '2026-04-04', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-04-05T13:30:00.000Z', '2026-04-05', '2026-04-06'],
  ['Australia/Lord_Howe', '2026-10-03T13:30:00.000Z', '2026-10-03', '2026-10-04'],
  ['Australia/Lord_Howe', '2026-10-04T13:00:00.000Z', '2026-10-04', '2026-10-05'],
  // Samoa crossed the date line and skipped December 30.
  ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-29', '2011-12-31'],
  ['Pacific/Apia', '2011-12-31T10:00:00.000Z', '2011-12-31', '2012-01-01'],
  // Morocco is at UTC+1 all year, except for Ramadan, when it is at UTC.
  ['Africa/Casablanca', '2024-03-09T23:00:00.000Z', '2024-03-09', '2024-03-10'],
  ['Africa/Casablanca', '2024-03-11T00:00:00.000Z', '2024-03-10', '2024-03-11'],
  ['Africa/Casablanca', '2024-04-14T00:00:00.000Z', '2024-04-13', '2024-04-14'],
  ['Africa/Casablanca', '2024-04-14T23:00:00.000Z', '2024-04-14', '2024-04-15'],
  ['Asia/Kolkata', '2026-11-20T18:30:00.000Z', '2026-11-20', '2026-11-21'],
  ['Asia/Kathmandu', '2026-11-20T18:15:00.000Z', '2026-11-20', '2026-11-21'],
  ['Pacific/Chatham', '2026-04-04T10:15:00.000Z', '2026-04-04', '2026-04-05'],
  ['Pacific/Chatham', '2026-04-05T11:15:00.000Z', '2026-04-05', '2026-04-06'],
  // The first zone on Earth to begin a day (UTC+14) begins the leap day, and the last zone (UTC-12) ends it.
  ['Pacific/Kiritimati', '2028-02-28T10:00:00.000Z', '2028-02-28', '2028-02-29'],
  ['Etc/GMT+12', '2028-03-01T12:00:00.000Z', '2028-02-29', '2028-03-01'],
];

/** The instants just before and at each midnight, with the local date. */
export const LOCAL_DAYS: readonly { readonly zone: string; readonly instant: string; readonly today: Day }[] =
  MIDNIGHTS.flatMap(([zone, instant, ends, begins]) => [
    { zone, instant: new Date(Date.parse(instant) - 1).toISOString(), today: day(ends) },
    { zone, instant, today: day(begins) },
  ]);
