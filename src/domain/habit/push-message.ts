/**
 * The messages that the server sends to the service worker (docs/specification/habit.md 6). They are encrypted, so the
 * browser's push service, which delivers them, cannot read them.
 */
import { isDay, type Day } from '../day/day.ts';

/** The trigger `limit_push_subscriptions` has the same limit. */
export const MAX_PUSH_DEVICES = 10;

/** A reminder. It contains no text of the journal, because a locked screen shows it to everybody. */
export type PushMessage = {
  day: Day;
  prompt: string;
  /** A mail token: `POST /evening/TOKEN?entry=0` stores the first quick entry. */
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
  /** The id of the row in `push_subscriptions`. */
  id: string;
  /** `POST /push/renew` replaces the subscription of this row. */
  renewalToken: string;
};

/** The answer of the function `send-reminder`. */
export type SentReminder = { email: string | null; devices: number };
