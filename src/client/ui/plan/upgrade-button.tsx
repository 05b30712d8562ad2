/** Opens the upgrade dialog. Replaced by a notice while PayPal checks a payment. */
import type { ReactNode, Ref } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { usePaymentPending } from '#client/lib/plan/use-payment-pending.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';

type UpgradeButtonProps = { button?: Ref<HTMLButtonElement>; onClick: () => void; children?: ReactNode };

/** The upgrade button within a sentence. */
export function UpgradeLink({ className, onClick }: { className: string | undefined; onClick: () => void }) {
  if (usePaymentPending()) return MESSAGES.paymentPending;
  return (
    <button type="button" className={className} onClick={onClick}>
      Upgrade to Closer
    </button>
  );
}

export function UpgradeButton({ button, onClick, children = 'Upgrade to Closer' }: UpgradeButtonProps) {
  if (usePaymentPending()) return <Notice kind="info">{MESSAGES.paymentPending}</Notice>;
  return (
    <Button ref={button ?? null} tone="primary" onClick={onClick}>
      {children}
    </Button>
  );
}
