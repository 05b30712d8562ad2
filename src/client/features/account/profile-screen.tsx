/** The profile page: subscription, details, sign-in, consent to the coach, payments, deletion of the account. */
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useData } from '#client/lib/api/data-client.ts';
import { planChangesQuery } from '#client/lib/plan/payment-queries.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { useTitle } from '#client/lib/navigation.ts';
import { BackToJournal, Page, Section } from '#client/ui/page/page.tsx';
import { Button } from '#client/ui/button.tsx';
import { Quiet } from '#client/ui/stack.tsx';
import { lazyChunk, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { DetailsSection } from './details.tsx';
import { PaymentHistory, Subscription } from './subscription.tsx';
import { SecuritySection } from './security-sections.tsx';

/** `coach`: the section on the consent to the coach. */
export function ProfileScreen({ coach }: { coach: ReactNode }) {
  useTitle('Profile');
  const { profileState } = useSession();
  // The notice for a user of the free plan (Dabbler) depends on earlier plans, so the page waits for them.
  const history = useQuery({ ...planChangesQuery(useData(), useUser().id), enabled: usePremium() !== true });
  const isLoading = profileState === 'loading' || (history.isLoading && history.failureCount === 0);
  return (
    <Page title="Profile" back={<BackToJournal />}>
      {isLoading && <LoadingText />}
      {/* The first section's height depends on the plan, so everything below would shift if it were visible before. */}
      <div hidden={isLoading}>
        <Subscription />
        <DetailsSection />
        <SecuritySection isShown={!isLoading} />
        {coach}
        <PaymentHistory />
        <DeleteAccountSection />
      </div>
    </Page>
  );
}

const dialog = lazyChunk(async () => (await import('./delete-account-dialog.tsx')).DeleteAccountDialog);

/** Offers to delete the account. The dialog is a chunk of its own. */
function DeleteAccountSection() {
  const [isOpen, setOpen] = useState(false);
  const openChunk = useOpenChunk();
  return (
    <Section title="Delete account">
      <Quiet>
        Deletes your account and every log in it. You can download all your logs first, and undo the deletion for one
        hour.
      </Quiet>
      <Button aria-haspopup="dialog" onClick={() => openChunk(dialog, () => setOpen(true))}>
        Delete account
      </Button>
      {isOpen && <dialog.View onClose={() => setOpen(false)} />}
    </Section>
  );
}
