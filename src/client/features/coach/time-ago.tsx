/** A relative time that updates while the page is open. Updates are not announced to screen readers. */
import { clockTime } from '#domain/day/clock-time.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { relativeTime } from '#domain/day/relative-time.ts';
import { useClock } from '#client/lib/hooks/use-clock.ts';

/** `at`: ISO time. The tooltip shows the absolute time. */
export function TimeAgo({ at }: { at: string }) {
  const then = new Date(at);
  const text = useClock(() => relativeTime(then, new Date()));
  return (
    <time dateTime={at} title={`${dateLabel(dayOf(then))}, ${clockTime(then)}`}>
      {text}
    </time>
  );
}
