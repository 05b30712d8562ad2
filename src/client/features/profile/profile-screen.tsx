/** The profile page: subscription, details, sign-in, consent to the coach, payments, deletion of the account. */
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { BackToJournal } from '#client/ui/page/back-to-journal.tsx';
import { Page } from '#client/ui/page/page.tsx';
import { CoachConsentSection } from './coach-consent-section.tsx';
import { DeleteAccountSection } from './delete-account/delete-account-section.tsx';
import { DetailsSection } from './details/details-section.tsx';
import { PaymentHistory } from './payment-history.tsx';
import { SignInSections } from './sign-in-sections.tsx';
import { Subscription } from './subscription.tsx';

export function ProfileScreen({ onUpgrade }: { onUpgrade: () => void }) {
  useTitle('Profile');
  return (
    <Page title="Profile" back={<BackToJournal />}>
      <Subscription onUpgrade={onUpgrade} />
      <DetailsSection />
      <SignInSections />
      <CoachConsentSection />
      <PaymentHistory />
      <DeleteAccountSection />
    </Page>
  );
}
