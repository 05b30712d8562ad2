/**
 * The messages between the server, the browser's push service and the service worker (docs/specification/habit.md 6).
 * The push service sees neither: they are encrypted for the browser.
 */
import { isDay, type Day } from '../day/day.ts';

/** The constraint of the trigger `limit_push_subscriptions`. */
export const MAX_PUSH_DEVICES = 10;

/** A reminder. It has no words of the journal: a locked screen shows it to everybody. */
export type PushMessage = {
  day: Day;
  prompt: string;
  /** `POST /evening/TOKEN?entry=0` stores the first quick option. */
  tap: string;
};

/** Null for a message of another version of the server. */
export function parsePushMessage(text: string): PushMessage | null {
  try {
    const { day, prompt, tap } = JSON.parse(text) as Record<string, unknown>;
    return typeof day === 'string' && isDay(day) && typeof prompt === 'string' && typeof tap === 'string'
      ? { day, prompt, tap }
      : null;
  } catch {
    return null;
  }
}

/** The answer of the function `push-subscription`. */
export type PushDevice = {
  /** The row of `push_subscriptions`. */
  id: string;
  /** `POST /push/renew` replaces the subscription of this row. */
  renewalToken: string;
};

/** The answer of the function `send-reminder`. */
export type SentReminder = { email: string | null; devices: number };
