/** Asks the server to capture an order, and reduces its answer to what the screen distinguishes. */
import type { FunctionAnswer, Supabase } from '#client/lib/api/supabase.ts';

/**
 * Longer than one call of the server to PayPal (`paypal-client.ts`). A repeated request is harmless, because a capture
 * is idempotent.
 */
const ANSWER_LIMIT_MS = 45_000;

export type CaptureOutcome =
  | { kind: 'completed' }
  | { kind: 'pending' }
  /** No money moved. The order can still be paid at `approvalUrl`, with another card for example. */
  | { kind: 'created'; approvalUrl: string }
  | { kind: 'failed' }
  /** No answer, or none that states the payment's status. */
  | { kind: 'unknown' };

export async function requestCapture(
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
  if (answer.success) return { kind: answer['pending'] === true ? 'pending' : 'completed' };
  const { approval_url: approvalUrl } = answer;
  if (typeof approvalUrl === 'string') return { kind: 'created', approvalUrl };
  return isTemporary(answer.status) ? { kind: 'unknown' } : { kind: 'failed' };
}

/** An expired session, a time-out, a rate limit or a server error: a later answer may differ. */
const isTemporary = (status: number): boolean => [401, 408, 429].includes(status) || status >= 500;
