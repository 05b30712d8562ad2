/**
 * The question of the day (docs/specification/time-off.md 3); null outside its hours and for users who have not turned it
 * on. The questions load only then, so the page first asks what it always asks.
 */
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { useClock } from '#client/lib/hooks/use-clock.ts';
import { storedDayEnd } from '#client/lib/session/preferences.ts';
import { PREFERENCES_PREFIX } from '#client/lib/session/storage-keys.ts';

const NOON = 12;

/** Read on every tick of the clock, so the choice applies as soon as the browser knows it. */
function isAskedNow(userId: string): boolean {
  const hour = new Date().getHours();
  // From noon until the day ends, which may be after midnight.
  if (hour < NOON && hour >= storedDayEnd()) return false;
  try {
    return (
      (JSON.parse(localStorage.getItem(PREFERENCES_PREFIX + userId) ?? '{}') as { prompts?: boolean }).prompts === true
    );
  } catch {
    return false;
  }
}

export function useDayPrompt(userId: string, date: Day, today: Day): string | null {
  const isAsked = useClock(() => (date === today && isAskedNow(userId) ? 'asked' : '')) !== '';
  const [promptOf, setPromptOf] = useState<((date: Day) => string) | null>(null);
  useEffect(() => {
    if (!isAsked) return;
    import('#domain/habit/prompts.ts').then(
      (prompts) => setPromptOf(() => prompts.promptOf),
      // Best effort: the page keeps its usual question.
      () => undefined,
    );
  }, [isAsked]);
  return isAsked && promptOf ? promptOf(date) : null;
}
