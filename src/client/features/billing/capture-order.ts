/** Asks the server to finish a payment, and sorts every answer into the few that the screen knows. */
import type { FunctionAnswer, Supabase } from '#client/lib/supabase.ts';

/** The server itself gives PayPal less. Asking again is harmless: a payment is captured and booked once. */
const ANSWER_LIMIT_MS = 45_000;

export type CaptureOutcome =
  | { kind: 'done' }
  | { kind: 'pending' }
  /** No money moved; the same order may be paid another way at `approvalUrl`. */
  | { kind: 'declined'; approvalUrl: string }
  | { kind: 'failed' }
  /** No answer, or none that says how the payment stands. */
  | { kind: 'unknown' };

export async function captureOrder(
  callFunction: Supabase['callFunction'],
  order: { order_id: string; user_id: string },
): Promise<CaptureOutcome> {
  let stop: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<null>((resolve) => (stop = setTimeout(() => resolve(null), ANSWER_LIMIT_MS)));
  try {
    const answer = await Promise.race([callFunction('paypal-capture-order', order), limit]);
    return answer === null ? { kind: 'unknown' } : outcomeOf(answer);
  } catch {
    return { kind: 'unknown' };
  } finally {
    clearTimeout(stop);
  }
}

function outcomeOf(answer: FunctionAnswer): CaptureOutcome {
  if (answer.success) return { kind: answer['pending'] === true ? 'pending' : 'done' };
  const { approval_url: approvalUrl } = answer;
  if (typeof approvalUrl === 'string') return { kind: 'declined', approvalUrl };
  return mayStillCome(answer.status) ? { kind: 'unknown' } : { kind: 'failed' };
}

/** A session to renew, too many requests, a server in trouble: the next answer may be another. */
const mayStillCome = (status: number): boolean => [401, 408, 429].includes(status) || status >= 500;
