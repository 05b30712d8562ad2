/** Asks before a way to sign in is removed from the account, and removes it. */
import type { UserIdentity } from '@supabase/auth-js';
import { recoveryMessage } from '#domain/messages.ts';
import { useAuthRequest } from '#client/lib/api/auth-request.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useToast } from '#client/ui/toast.tsx';
import { ConfirmChangeDialog } from './confirm-change-dialog.tsx';
import { useRecentSignIn } from './recent-sign-in.tsx';
import { identityLabel } from './identity-label.ts';

const TEXTS: Readonly<Record<string, string>> = {
  single_identity_not_deletable:
    'This is the only way left to sign in. Link another one or set a password first. A new one counts after a week.',
  email_conflict_identity_not_deletable:
    'Without it your account would have an address that belongs to another account, so it cannot be removed.',
};

/** The consequences that the server's removal of the identity has (docs/specification/accounts.md 15). */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  email: 'Your password and mailed codes will no longer sign you in, and your other devices are signed out.',
  phone: 'Texted codes will no longer sign you in, and your other devices are signed out.',
};

export function RemoveIdentity({ identity, onClose }: { identity: UserIdentity; onClose: () => void }) {
  const { auth } = useSupabase();
  const { providers } = useClientConfig().signIn;
  const request = useAuthRequest();
  const toast = useToast();
  const { applyChange, dialog } = useRecentSignIn();
  const label = identityLabel(identity.provider, providers);
  return (
    <>
      <ConfirmChangeDialog
        title={`Remove ${identity.provider === 'phone' ? 'your phone number' : label}?`}
        onClose={onClose}
        onConfirm={async () => {
          const error = await applyChange((nonce) =>
            request('DELETE', `/user/identities/${identity.identity_id}?${new URLSearchParams({ nonce }).toString()}`),
          );
          if (error === 'cancelled') return null;
          // Refreshes the stored user, also after an error: another tab may have removed the identity before.
          await auth.refreshSession();
          if (error && error.code !== 'identity_not_found')
            return { kind: 'error', text: TEXTS[error.code ?? ''] ?? recoveryMessage(error) };
          toast({ kind: 'success', text: `Removed: ${label}.` });
          onClose();
          return null;
        }}
      >
        <p>
          {CONSEQUENCES[identity.provider] ??
            `${label} will no longer sign you in. Devices that signed in with it are signed out.`}
        </p>
      </ConfirmChangeDialog>
      {dialog}
    </>
  );
}
