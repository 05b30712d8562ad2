/** Links providers to the account, and removes linked sign-ins of any kind. */
import type { UserIdentity } from '@supabase/auth-js';
import { useState } from 'react';
import { createPkceAuth, flowReturnUrl } from '#client/lib/api/pkce-auth.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { useRestoreCount } from '#client/lib/hooks/use-restore-count.ts';
import { useSubmit } from '#client/lib/hooks/use-submit.ts';
import { Button } from '#client/ui/button.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';
import { Hint, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { useAuthRequest } from '#client/lib/api/own-account.ts';
import { useToast } from '#client/ui/toast.tsx';
import { PanelView, ConfirmChangeDialog } from './panel.tsx';
import { toOutcome, useRecentSignIn } from './prove-identity.tsx';
import { identityDetail, useLinkedSignIns, identityLabel } from './linked-sign-ins.ts';

export function LinkedPanel() {
  const { identities, labelOf, canRemove, hasPasswordBesides, unlinked } = useLinkedSignIns();
  const [removing, setRemoving] = useState<UserIdentity | null>(null);
  // Resets the forms on a page that the back button restores, which would still show "Redirecting...".
  const restoreCount = useRestoreCount();
  return (
    <PanelView>
      <p>Each of these signs you in to this account.</p>
      <Rows aria-label="Linked sign-ins">
        {identities.map((identity) => {
          const label = labelOf(identity);
          return (
            <Row key={identity.identity_id}>
              <div>
                <RowName>{label}</RowName>
                <Hint>{identityDetail(identity)}</Hint>
              </div>
              {canRemove && (
                <Button onClick={() => setRemoving(identity)}>
                  Remove<span className="unseen"> {label}</span>
                </Button>
              )}
            </Row>
          );
        })}
      </Rows>
      {hasPasswordBesides && <Hint>Your password signs you in as well.</Hint>}
      {identities.length === 1 && !hasPasswordBesides && (
        <Hint>This is the only one, so it cannot be removed.{unlinked.length > 0 && ' Link another one first.'}</Hint>
      )}
      {unlinked.map(({ name, label }) => (
        <LinkForm key={`${name} ${restoreCount}`} name={name} label={label} />
      ))}
      {removing && <RemoveIdentity identity={removing} onClose={() => setRemoving(null)} />}
    </PanelView>
  );
}

function LinkForm({ name, label }: { name: string; label: string }) {
  const config = useClientConfig();
  const auth = useAuth();
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { error } = await applyChange(async (nonce) => {
      const { data } = await auth.getSession();
      const result = await createPkceAuth(config, data.session).linkIdentity({
        provider: name as 'google',
        options: {
          redirectTo: flowReturnUrl('link', name),
          skipBrowserRedirect: true,
          ...(nonce !== '' && { queryParams: { nonce } }),
        },
      });
      if (result.data.url) location.assign(result.data.url);
      return { error: result.error };
    });
    // Without an error the browser leaves the page.
    return error ? toOutcome(error) : new Promise<never>(() => undefined);
  });
  return (
    <>
      <Form outcome={outcome} onSubmit={onSubmit}>
        <SubmitButton tone="plain" busy={busy} busyLabel="Redirecting...">
          Link {label}
        </SubmitButton>
      </Form>
      {dialog}
    </>
  );
}

const ERRORS: Readonly<Record<string, string>> = {
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

/** Asks before a way to sign in is removed from the account, and removes it. */
export function RemoveIdentity({ identity, onClose }: { identity: UserIdentity; onClose: () => void }) {
  const auth = useAuth();
  const { providers } = useClientConfig().signIn;
  const request = useAuthRequest();
  const toast = useToast();
  const label = identityLabel(identity.provider, providers);
  return (
    <ConfirmChangeDialog
      title={`Remove ${identity.provider === 'phone' ? 'your phone number' : label}?`}
      onClose={onClose}
      change={async (nonce) => {
        const query = new URLSearchParams({ nonce }).toString();
        const answer = await request('DELETE', `/user/identities/${identity.identity_id}?${query}`);
        // Refreshes the stored user, also after an error: another tab may have removed the identity before.
        if (answer.error?.code !== 'reauthentication_needed') await auth.refreshSession();
        return answer;
      }}
      texts={ERRORS}
      goneCode="identity_not_found"
      onChanged={() => {
        toast({ kind: 'success', text: `Removed: ${label}.` });
        onClose();
      }}
    >
      <p>
        {CONSEQUENCES[identity.provider] ??
          `${label} will no longer sign you in. Devices that signed in with it are signed out.`}
      </p>
    </ConfirmChangeDialog>
  );
}
