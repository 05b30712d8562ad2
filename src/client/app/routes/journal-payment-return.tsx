/** The return from PayPal: sends unsaved text, captures the order, and reloads once no day has unsaved text. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ROUTES } from '#domain/routes.ts';
import { PaymentReturn } from '#client/features/billing/payment-return.tsx';
import type { ReturnParameters } from '#client/features/billing/payment-return.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import type { DaySavers } from '#client/sync/day-savers.ts';

const RELOAD_MS = 2_000;

export function JournalPaymentReturn({ onEnd }: { onEnd: () => void }) {
  const { savers } = useJournal();
  const navigate = useNavigate();
  const search: ReturnParameters & { PayerID?: string } = useSearch({ strict: false });
  // Read once: `clearAddress` removes them from the URL.
  const [parameters] = useState(search);

  return (
    <PaymentReturn
      parameters={parameters}
      sendAll={() => savers.sendAll()}
      clearAddress={() => {
        const { payment: _payment, token: _token, PayerID: _payer, ...others } = search;
        void navigate({ to: ROUTES.journal.path, search: others as never, replace: true });
      }}
      onEnd={onEnd}
      onPaid={() => setTimeout(() => reloadWhenSaved(savers), RELOAD_MS)}
    />
  );
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
