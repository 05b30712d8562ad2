/** The way back from PayPal: what was written is sent first, the address is cleared, the payment is finished. */
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { isOrderId } from '#domain/payment/payment.ts';
import { mentionsSupport, supportHref } from '#domain/account/support.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { Button } from '#client/ui/button.tsx';
import { useSupportAddress } from '#client/ui/account/support-link.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { requestCapture } from './request-capture.ts';
import styles from './payment-return.module.css';
import { useLeaving } from './use-redirecting.ts';

/** What PayPal wrote into the address. */
export type ReturnParameters = { payment?: string | undefined; token?: string | undefined };

type PaymentReturnProps = {
  parameters: ReturnParameters;
  /** Sends what is unsaved; bounds itself, because the payment waits for it. What cannot be sent stays in its draft. */
  sendAll: () => Promise<unknown>;
  clearAddress: () => void;
  /** Back to the journal. */
  onEnd: () => void;
  /** Loads the page again retryTime, once nothing is unsaved. */
  onPaid: () => void;
};

type State = { kind: 'processing' } | { kind: 'unknown' } | { kind: 'created'; approvalUrl: string };

export function PaymentReturn({ parameters, sendAll, clearAddress, onEnd, onPaid }: PaymentReturnProps) {
  const { auth, callFunction } = useSupabase();
  const { refreshProfile } = useSession();
  const user = useUser();
  const toast = useToast();
  const address = useSupportAddress();
  const [state, setState] = useState<State>({ kind: 'processing' });
  const begun = useRef(false);
  const { payment, token = '' } = parameters;

  const end = (kind: 'success' | 'error' | 'info', text: string): void => {
    const link = address !== undefined &&
      mentionsSupport(text) && { label: address, href: supportHref(address, 'payment') };
    toast({ kind, text, ...(link && { link }) });
    onEnd();
  };

  const finish = async (): Promise<void> => {
    setState({ kind: 'processing' });
    const outcome = await requestCapture(callFunction, { order_id: token, user_id: user.id });
    switch (outcome.kind) {
      case 'completed':
        // Read before the journal comes back: it then opens every day at once, whether or not the page loads again.
        await refreshProfile();
        end('success', MESSAGES.paymentDone);
        return onPaid();
      case 'pending':
        return end('info', MESSAGES.paymentPending);
      case 'failed':
        return end('error', MESSAGES.paymentFailed);
      case 'created':
      case 'unknown':
        return setState(outcome);
    }
  };

  const begin = async (): Promise<void> => {
    if (payment === 'success' && isOrderId(token)) {
      await sendAll();
      clearAddress();
      return finish();
    }
    clearAddress();
    if (payment === 'success') end('error', MESSAGES.paymentTokenInvalid);
    else if (payment === 'cancelled') end('error', MESSAGES.paymentCancelled);
    else onEnd();
  };

  const onBegin = useEffectEvent(() => void begin());
  useEffect(() => {
    // Once, although React mounts everything twice while developing.
    if (begun.current) return;
    begun.current = true;
    onBegin();
  }, []);

  const onReachable = useEffectEvent(() => void (state.kind === 'unknown' && finish()));
  useEffect(() => {
    const { data } = auth.onAuthStateChange((event) => {
      // Not within the callback: the client holds its own queue while it calls.
      if (event === 'SIGNED_IN' || event === 'TOKEN_REFRESHED') setTimeout(onReachable);
    });
    const onOnline = (): void => onReachable();
    addEventListener('online', onOnline);
    return () => {
      data.subscription.unsubscribe();
      removeEventListener('online', onOnline);
    };
  }, [auth]);

  if (state.kind === 'created') return <NotPaid approvalUrl={state.approvalUrl} onEnd={onEnd} />;
  if (state.kind === 'unknown') return <Unknown onRetry={() => void finish()} onEnd={onEnd} />;
  return (
    <Screen title="Processing your payment..." busy>
      <p>This takes a few seconds. You may leave: what you paid is booked without this page as well.</p>
    </Screen>
  );
}

function NotPaid({ approvalUrl, onEnd }: { approvalUrl: string; onEnd: () => void }) {
  const [leaving, setLeaving] = useLeaving();
  return (
    <Screen title="PayPal could not take this payment.">
      <p>No money was taken, and nothing has changed. Another card or account may do.</p>
      <Actions onEnd={onEnd}>
        <Button
          tone="primary"
          busy={leaving}
          busyLabel="Redirecting to PayPal..."
          onClick={() => {
            setLeaving(true);
            location.assign(approvalUrl);
          }}
        >
          Try again at PayPal
        </Button>
      </Actions>
    </Screen>
  );
}

function Unknown({ onRetry, onEnd }: { onRetry: () => void; onEnd: () => void }) {
  return (
    <Screen title="No word about your payment yet.">
      <p>
        The server could not be asked. Nothing is lost: what PayPal has taken is booked within minutes, with or without
        this page, and nothing is taken twice. Your logs are safe.
      </p>
      <Actions onEnd={onEnd}>
        <Button tone="primary" onClick={onRetry}>
          Try again
        </Button>
      </Actions>
    </Screen>
  );
}

/** What can be done about it, and the way that is always open. */
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

function Screen({ title, busy = false, children }: { title: string; busy?: boolean; children: ReactNode }) {
  useTitle(title.replace(/\.+$/, ''));
  const heading = useRef<HTMLHeadingElement>(null);
  // Whoever cannot see the page hears what it says now.
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
