/** Opens the upgrade dialog. Replaced by a notice while PayPal checks a payment. */
import type { ReactNode, Ref } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { usePaymentPending } from '#client/lib/plan/use-payment-pending.ts';
import { useUpgrade } from '#client/lib/plan/use-upgrade.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';

type UpgradeButtonProps = {
  /** What the dialog offers first. */
  feature: UpgradeFeature;
  button?: Ref<HTMLButtonElement>;
  children?: ReactNode;
};

type UpgradeLinkProps = { feature: UpgradeFeature; className: string | undefined };

/** The upgrade button within a sentence. */
export function UpgradeLink({ feature, className }: UpgradeLinkProps) {
  const upgrade = useUpgrade();
  if (usePaymentPending()) return MESSAGES.paymentPending;
  return (
    <button type="button" className={className} onClick={() => upgrade(feature)}>
      Upgrade to Closer
    </button>
  );
}

export function UpgradeButton({ feature, button, children = 'Upgrade to Closer' }: UpgradeButtonProps) {
  const upgrade = useUpgrade();
  if (usePaymentPending()) return <Notice kind="info">{MESSAGES.paymentPending}</Notice>;
  return (
    <Button ref={button ?? null} tone="primary" onClick={() => upgrade(feature)}>
      {children}
    </Button>
  );
}
