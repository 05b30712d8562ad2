/** The profile page: the subscription, then name, address and password. */
import { useTitle } from '#client/lib/use-title.ts';
import { BackToJournal } from '#client/ui/back-to-journal.tsx';
import { Page, Section } from '#client/ui/page.tsx';
import { ProfileForm } from './profile-form.tsx';
import { Subscription } from './subscription.tsx';

export function ProfileScreen({ onUpgrade }: { onUpgrade: () => void }) {
  useTitle('Profile');
  return (
    <Page title="Profile" back={<BackToJournal />}>
      <Subscription onUpgrade={onUpgrade} />
      <Section title="Your details">
        <ProfileForm />
      </Section>
    </Page>
  );
}
