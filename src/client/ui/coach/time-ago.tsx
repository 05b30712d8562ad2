/** How long ago something happened, which goes on while the page is open. Read out to nobody by itself. */
import { relativeTime } from '#domain/day/relative-time.ts';
import { useClock } from '#client/lib/hooks/use-clock.ts';

/** `at`: ISO time. The moment itself is what the pointer finds. */
export function TimeAgo({ at }: { at: string }) {
  const then = new Date(at);
  const words = useClock(() => relativeTime(then, new Date()));
  return (
    <time dateTime={at} title={then.toLocaleString([], { dateStyle: 'long', timeStyle: 'short' })}>
      {words}
    </time>
  );
}
