/** Joins the payment's return with the journal's unsaved text: it is sent before, and never lost to the page's reload. */
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
  // Read once: on the way the address loses them.
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

/** Whoever began to write meanwhile goes on until that is saved: every gate is open already. */
function reloadWhenSaved(savers: DaySavers): void {
  if (savers.unsavedDays().length === 0) return location.reload();
  const stop = savers.subscribe(() => {
    if (savers.unsavedDays().length > 0) return;
    stop();
    location.reload();
  });
}
