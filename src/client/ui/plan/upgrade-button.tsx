/** Opens the upgrade dialog. Replaced by a notice while PayPal checks a payment. */
import type { ReactNode, Ref, ComponentProps } from 'react';
import { MESSAGES } from '#domain/messages.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { usePaymentPending } from '#client/lib/plan/payment-queries.ts';
import { useUpgrade } from '#client/lib/plan/premium.ts';
import { Button } from '../button.tsx';
import { Notice } from '../notice.tsx';

type UpgradeButtonProps = {
  /** The feature that the dialog offers. */
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

/** The icon for features that only premium users can use. The crown without a lock is lucide's. */
export function LockedCrown(props: ComponentProps<'svg'>) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      {...props}
    >
      <path d="M11 17H5.8a1 1 0 0 1-1-.7L2 6a.5.5 0 0 1 .8-.5l4.300 3.700a1 1 0 0 0 1.500-.3l3-5.600a.5.5 0 0 1 .8 0l3 5.600a1 1 0 0 0 1.500.3l4.300-3.700A.5.5 0 0 1 22 6l-1 3.600" />
      <rect x="14.500" y="16.500" width="7.500" height="5.500" rx="1" />
      <path d="M16.300 16.500v-1.600a2 2 0 0 1 4 0v1.600" />
    </svg>
  );
}
