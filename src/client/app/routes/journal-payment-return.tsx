/**
 * The return from PayPal: sends unsaved text, captures the order, goes back to the page where the purchase began, and
 * reloads once no day has unsaved text.
 */
import { useEffect, useEffectEvent, useState } from 'react';
import { isDay, type Day } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { useSearchParams, useNavigate } from '#client/lib/navigation.ts';
import { PaymentReturn, type ReturnParameters } from '#client/features/billing/payment-return.tsx';
import { OPEN_FEEDBACK, takePurchaseOrigin } from '#client/features/billing/leave-for-paypal.ts';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import type { DaySavers } from '#client/sync/day-savers.ts';

const RELOAD_MS = 2_000;

/** `onEnd` gets the day whose feedback the purchase was for. */
type JournalPaymentReturnProps = { onEnd: (feedbackOn?: Day) => void };

export function JournalPaymentReturn({ onEnd }: JournalPaymentReturnProps) {
  const { savers } = useJournal();
  const navigate = useNavigate();
  const search = useSearchParams();
  // Read once: `clearAddress` removes the parameters from the URL.
  const [parameters] = useState<ReturnParameters & { date?: string }>(() => Object.fromEntries(search));
  const clearAddress = (): void => {
    const others = new URLSearchParams(search);
    for (const name of ['payment', 'token', 'PayerID']) others.delete(name);
    void navigate(others.size === 0 ? ROUTES.journal.path : `${ROUTES.journal.path}?${others}`, { replace: true });
  };
  if (parameters.payment === OPEN_FEEDBACK) {
    const { date } = parameters;
    return <FeedbackAfterPurchase clearAddress={clearAddress} onEnd={() => onEnd(isDay(date) ? date : undefined)} />;
  }
  return (
    <PaymentReturn
      parameters={parameters}
      sendAll={() => savers.sendAll()}
      clearAddress={clearAddress}
      onEnd={() => onEnd()}
      onPaid={() => {
        const origin = takePurchaseOrigin();
        if (origin !== null) void navigate(origin, { replace: true });
        setTimeout(() => reloadWhenSaved(savers), RELOAD_MS);
      }}
    />
  );
}

/** After the reload that follows a payment for feedback: ends the return, which opens the feedback again. */
function FeedbackAfterPurchase({ clearAddress, onEnd }: { clearAddress: () => void; onEnd: () => void }): null {
  const open = useEffectEvent(() => {
    clearAddress();
    onEnd();
  });
  useEffect(() => open(), []);
  return null;
}

/** Defers the reload while any day has unsaved text. The reload can wait: the page already knows the paid plan. */
function reloadWhenSaved(savers: DaySavers): void {
  if (savers.unsavedDays().length === 0) return location.reload();
  const stop = savers.subscribe(() => {
    if (savers.unsavedDays().length > 0) return;
    stop();
    location.reload();
  });
}
