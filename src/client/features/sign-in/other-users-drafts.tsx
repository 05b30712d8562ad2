/** Shown if another user's drafts are in this browser: only that user can send them, any user can discard them. */
import { useState } from 'react';
import { daysOfDrafts, documentsOfDrafts, draftsOfOthers, userOfDraft } from '#client/sync/day-drafts.ts';
import { useUser } from '#client/lib/session/session.ts';
import { SHARED_TEXTS_PREFIX } from '#client/lib/session/storage-keys.ts';
import { removeDataOf } from '#client/lib/session/wipe-user-data.ts';
import { useSignOut } from '#client/lib/session/use-sign-out.ts';
import { Button } from '#client/ui/button.tsx';
import { SignOutDialog, UnsavedDaysDialog } from '#client/ui/sign-out-dialog.tsx';

export function OtherUsersDrafts({ onClose }: { onClose: () => void }) {
  const { id } = useUser();
  const signingOut = useSignOut();
  const [keys] = useState(() => draftsOfOthers(localStorage, id));
  const discard = (): void => {
    const others = new Set(draftsOfOthers(localStorage, id).map(userOfDraft));
    others.forEach(removeDataOf);
    onClose();
  };
  return (
    <UnsavedDaysDialog
      title="Unsent text from another account"
      intro="Someone else wrote in this browser, and their text was never saved:"
      days={daysOfDrafts(keys)}
      texts={[
        ...documentsOfDrafts(keys).map(() => 'Wins document'),
        ...(keys.some((key) => key.startsWith(SHARED_TEXTS_PREFIX)) ? ['Text shared from another app'] : []),
      ]}
      why="To save it, sign in to that account. Until then, anyone who uses this browser can read it."
      onClose={onClose}
    >
      <Button
        tone="primary"
        data-autofocus
        busy={signingOut.busy !== null}
        busyLabel="Signing out..."
        onClick={() => signingOut.start('local')}
      >
        Sign out to save it
      </Button>
      <Button onClick={discard}>Discard it</Button>
      <Button tone="text" onClick={onClose}>
        Keep it for now
      </Button>
      <SignOutDialog signingOut={signingOut} />
    </UnsavedDaysDialog>
  );
}
