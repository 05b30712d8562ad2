/** The return from PayPal: saves unsaved text, clears the query parameters, then captures the order. */
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { isOrderId } from '#domain/payment/payment.ts';
import { mentionsSupport, supportHref } from '#domain/account/support.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase, type FunctionAnswer, type Supabase } from '#client/lib/api/supabase.ts';
import { useTitle } from '#client/lib/navigation.ts';
import { Button } from '#client/ui/button.tsx';
import { useSupportAddress } from '#client/ui/support-link.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { useRedirecting } from './leave-for-paypal.ts';
import styles from './payment-return.module.css';

/** The query parameters of the return: `payment` from the server's return URL, and PayPal's `token`, the order's id. */
export type ReturnParameters = { payment?: string | undefined; token?: string | undefined };

type PaymentReturnProps = {
  parameters: ReturnParameters;
  /**
   * Saves unsaved text, with a time limit because the capture waits for it. Text that cannot be saved stays in its
   * draft.
   */
  sendAll: () => Promise<unknown>;
  clearAddress: () => void;
  /** Returns to the journal. */
  onEnd: () => void;
  /** Goes back to where the purchase began, and reloads the page as soon as nothing is unsaved. */
  onPaid: () => void;
};

type State = { kind: 'processing' } | { kind: 'unknown' } | { kind: 'created'; approvalUrl: string };

export function PaymentReturn({ parameters, sendAll, clearAddress, onEnd, onPaid }: PaymentReturnProps) {
  const { callFunction, onAuthStateChange } = useSupabase();
  const { refreshProfile } = useSession();
  const user = useUser();
  const toast = useToast();
  const supportAddress = useSupportAddress();
  const [state, setState] = useState<State>({ kind: 'processing' });
  const hasStarted = useRef(false);
  const { payment, token = '' } = parameters;

  const exit = (kind: 'success' | 'error' | 'info', text: string): void => {
    const link = supportAddress !== undefined &&
      mentionsSupport(text) && { label: supportAddress, href: supportHref(supportAddress, 'payment') };
    toast({ kind, text, ...(link && { link }) });
    onEnd();
  };

  const finish = async (): Promise<void> => {
    setState({ kind: 'processing' });
    const outcome = await requestCapture(callFunction, { order_id: token, user_id: user.id });
    switch (outcome.kind) {
      case 'completed':
        // Refresh the profile first, so the journal opens every day without waiting for the reload.
        await refreshProfile();
        exit('success', MESSAGES.paymentDone);
        return onPaid();
      case 'pending':
        return exit('info', MESSAGES.paymentPending);
      case 'failed':
        return exit('error', MESSAGES.paymentFailed);
      case 'created':
      case 'unknown':
        return setState(outcome);
    }
  };

  const start = async (): Promise<void> => {
    if (payment === 'success' && isOrderId(token)) {
      await sendAll();
      clearAddress();
      return finish();
    }
    clearAddress();
    if (payment === 'success') exit('error', MESSAGES.paymentTokenInvalid);
    else if (payment === 'cancelled') exit('error', MESSAGES.paymentCancelled);
    else onEnd();
  };

  const onStart = useEffectEvent(() => void start());
  useEffect(() => {
    // Strict mode runs effects twice, but the order is captured once.
    if (hasStarted.current) return;
    hasStarted.current = true;
    onStart();
  }, []);

  const onReconnected = useEffectEvent(() => void (state.kind === 'unknown' && finish()));
  useEffect(() => {
    const stopListening = onAuthStateChange((event) => {
      // Deferred: auth-js waits for its listeners before it ends a renewal, and the request may need one.
      if (event === 'SIGNED_IN' || event === 'TOKEN_REFRESHED') setTimeout(onReconnected);
    });
    const onOnline = (): void => onReconnected();
    addEventListener('online', onOnline);
    return () => {
      stopListening();
      removeEventListener('online', onOnline);
    };
  }, [onAuthStateChange]);

  if (state.kind === 'created') return <PaymentDeclined approvalUrl={state.approvalUrl} onEnd={onEnd} />;
  if (state.kind === 'unknown') return <PaymentUnknown onRetry={() => void finish()} onEnd={onEnd} />;
  return (
    <StatusScreen title="Processing your payment..." busy>
      <p>This takes a few seconds. You can close this page: your payment will be recorded.</p>
    </StatusScreen>
  );
}

function PaymentDeclined({ approvalUrl, onEnd }: { approvalUrl: string; onEnd: () => void }) {
  const [isRedirecting, setRedirecting] = useRedirecting();
  return (
    <StatusScreen title="PayPal declined this payment.">
      <p>You were not charged, and your plan has not changed. Try again with another card or PayPal account.</p>
      <Actions onEnd={onEnd}>
        <Button
          tone="primary"
          busy={isRedirecting}
          busyLabel="Redirecting to PayPal..."
          onClick={() => {
            setRedirecting(true);
            location.assign(approvalUrl);
          }}
        >
          Try again at PayPal
        </Button>
      </Actions>
    </StatusScreen>
  );
}

function PaymentUnknown({ onRetry, onEnd }: { onRetry: () => void; onEnd: () => void }) {
  return (
    <StatusScreen title="Couldn't check your payment.">
      <p>
        The server did not respond. If you paid, your payment will be recorded within minutes, even if you close this
        page. You will not be charged twice, and your logs are safe.
      </p>
      <Actions onEnd={onEnd}>
        <Button tone="primary" onClick={onRetry}>
          Try again
        </Button>
      </Actions>
    </StatusScreen>
  );
}

/** The action of a screen, and the way back to the journal. */
function Actions({ onEnd, children }: { onEnd: () => void; children: ReactNode }) {
  return (
    <div className={styles.actions}>
      {children}
      <Button tone="text" onClick={onEnd}>
        Back to the journal
      </Button>
    </div>
  );
}

function StatusScreen({ title, busy = false, children }: { title: string; busy?: boolean; children: ReactNode }) {
  useTitle(title.replace(/\.+$/, ''));
  const heading = useRef<HTMLHeadingElement>(null);
  // Screen readers announce the new heading.
  useEffect(() => heading.current?.focus(), []);
  return (
    <main className={styles.screen} aria-busy={busy || undefined}>
      <h1 ref={heading} className={styles.title} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </main>
  );
}

/**
 * Longer than one call of the server to PayPal (`paypal-client.ts`). A repeated request is harmless, because a capture
 * is idempotent.
 */
const ANSWER_LIMIT_MS = 45_000;

// Asks the server to capture an order, and reduces its answer to what the screen distinguishes.

type CaptureOutcome =
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
