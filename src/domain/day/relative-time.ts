/** How long ago something happened, as docs/specification/coach.md 5 words it. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `Just now`, `5m ago`, `3h ago`, then the local date. A clock that runs behind counts as just now. */
export function relativeTime(then: Date, now: Date): string {
  const passed = now.getTime() - then.getTime();
  if (passed < MINUTE_MS) return 'Just now';
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)}m ago`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)}h ago`;
  return then.toLocaleDateString();
}
