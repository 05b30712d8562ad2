/** Parses `ban_duration` of the admin routes: `none`, or a duration in the notation of Go such as `1h30m`. */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const DURATION = /^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h)/g;
const MAX_LENGTH = 100;
/** As in Go, whose durations are nanoseconds in 64 bits: about 292 years. */
const MAX_MS = 2 ** 63 / 1e6;

/** Returns milliseconds, 0 for `none`, and null for a malformed or too long duration. */
export function parseBanDuration(text: string): number | null {
  if (text === 'none') return 0;
  if (text.length > MAX_LENGTH || !DURATION.test(text)) return null;
  const total = [...text.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  return total > MAX_MS ? null : total;
}
