/** The profile page: subscription, details, sign-in, consent to the coach, payments, deletion of the account. */
import { useTitle } from '#client/lib/hooks/use-title.ts';
import { BackToJournal } from '#client/ui/page/back-to-journal.tsx';
import { Page, Section } from '#client/ui/page/page.tsx';
import { CoachConsentSection } from './coach-consent-section.tsx';
import { DeleteAccountSection } from './delete-account/delete-account-section.tsx';
import { PaymentHistory } from './payment-history.tsx';
import { PendingAddress } from './pending-address.tsx';
import { ProfileForm } from './profile-form.tsx';
import { SignInSections } from './sign-in-sections.tsx';
import { Subscription } from './subscription.tsx';

export function ProfileScreen({ onUpgrade }: { onUpgrade: () => void }) {
  useTitle('Profile');
  return (
    <Page title="Profile" back={<BackToJournal />}>
      <Subscription onUpgrade={onUpgrade} />
      <Section title="Your details">
        <PendingAddress />
        <ProfileForm />
      </Section>
      <SignInSections />
      <CoachConsentSection />
      <PaymentHistory />
      <DeleteAccountSection />
    </Page>
  );
}
