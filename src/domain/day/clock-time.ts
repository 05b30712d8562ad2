/** Times of day as English text, with the 12 or 24 hours of the browser's locale. */

let hasTwelveHours: boolean | undefined;

const localHasTwelveHours = (): boolean =>
  (hasTwelveHours ??= new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === true);

const pad = (part: number): string => String(part).padStart(2, '0');

/**
 * `14:02` or `2:02 PM`, with seconds `14:02:09` or `2:02:09 PM`, in the machine's time zone (in the browser: the
 * user's).
 */
export function clockTime(at: Date, hasSeconds = false, twelveHours = localHasTwelveHours()): string {
  const hours = at.getHours();
  const rest = `:${pad(at.getMinutes())}${hasSeconds ? `:${pad(at.getSeconds())}` : ''}`;
  if (!twelveHours) return pad(hours) + rest;
  return `${hours % 12 || 12}${rest} ${hours < 12 ? 'AM' : 'PM'}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `Just now`, `5m ago`, `3h ago`, then the date in the browser's locale. A time in the future is `Just now`. */
export function relativeTime(then: Date, now: Date): string {
  const elapsed = now.getTime() - then.getTime();
  if (elapsed < MINUTE_MS) return 'Just now';
  if (elapsed < HOUR_MS) return `${Math.floor(elapsed / MINUTE_MS)}m ago`;
  if (elapsed < DAY_MS) return `${Math.floor(elapsed / HOUR_MS)}h ago`;
  return then.toLocaleDateString();
}
