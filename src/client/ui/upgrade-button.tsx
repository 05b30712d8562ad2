/** The way to the offer, wherever it stands. Gives way while PayPal checks a payment. */
import type { ReactNode } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import { usePaymentPending } from '#client/lib/use-payment-pending.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

type UpgradeButtonProps = { onClick: () => void; children?: ReactNode };

export function UpgradeButton({ onClick, children = 'Upgrade to Closer' }: UpgradeButtonProps) {
  if (usePaymentPending()) return <Notice kind="info">{MESSAGES.paymentPending}</Notice>;
  return (
    <Button tone="primary" onClick={onClick}>
      {children}
    </Button>
  );
}
