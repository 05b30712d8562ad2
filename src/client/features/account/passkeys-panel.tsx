/** Adds, renames and removes the user's passkeys. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { PasskeyListItem } from '@supabase/auth-js';
import { browserSupportsWebAuthn, startRegistration } from '@simplewebauthn/browser';
import { useState } from 'react';
import { isolate } from '#domain/isolate.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { useAuthRequest, type AuthResult } from '#client/lib/api/own-account.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { textOf, useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field } from '#client/ui/form/field.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { ConfirmChangeDialog, PanelView } from './panel.tsx';
import { toOutcome, useRecentSignIn } from './recent-sign-in.tsx';
import { passkeysQuery } from './linked-sign-ins.ts';
import styles from './security.module.css';

const NAME_MAX_LENGTH = 120;
const FALLBACK_NAME = 'Passkey';

const TEXTS: Readonly<Record<string, string>> = {
  too_many_passkeys: 'You have as many passkeys as an account can have. Remove one first.',
  webauthn_credential_exists: 'This device already has a passkey for your account.',
  webauthn_challenge_expired: 'That took too long. Try again.',
};

const failureOf = (error: ProviderError): Outcome => ({
  kind: 'error',
  text: TEXTS[error.code ?? ''] ?? recoveryMessage(error),
});

export function PasskeysPanel() {
  const { auth } = useSupabase();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const query = passkeysQuery(auth, userId);
  const passkeys = useQuery(query);
  const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: query.queryKey });
  const [addedId, setAddedId] = useState<string | null>(null);
  const [removing, setRemoving] = useState<PasskeyListItem | null>(null);
  return (
    <PanelView>
      <p>
        A passkey signs you in with your fingerprint, your face or the PIN of your device. There is no password to
        forget, and none to steal.
      </p>
      {passkeys.isPending && <LoadingText />}
      {passkeys.isError && (
        <>
          <p role="alert">Couldn't load your passkeys. They still work.</p>
          <Button onClick={() => void passkeys.refetch()} busy={passkeys.isFetching} busyLabel="Loading...">
            Try again
          </Button>
        </>
      )}
      {passkeys.data && passkeys.data.length > 0 && (
        <ul className={styles.list} aria-label="Your passkeys">
          {passkeys.data.map((passkey) => (
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              isNew={addedId === passkey.id}
              onRenamed={reload}
              onRemove={() => setRemoving(passkey)}
            />
          ))}
        </ul>
      )}
      <AddPasskey
        count={passkeys.data?.length ?? null}
        onAdded={async (id) => {
          setAddedId(id);
          await reload();
        }}
      />
      {removing && <RemovePasskey passkey={removing} onRemoved={reload} onClose={() => setRemoving(null)} />}
    </PanelView>
  );
}

type PasskeyRowProps = {
  passkey: PasskeyListItem;
  /** A new passkey asks for its name. */
  isNew: boolean;
  onRenamed: () => Promise<void>;
  onRemove: () => void;
};

function PasskeyRow({ passkey, isNew, onRenamed, onRemove }: PasskeyRowProps) {
  const [state, setState] = useState<'shown' | 'renaming' | 'renamed'>(isNew ? 'renaming' : 'shown');
  const name = passkey.friendly_name ?? FALLBACK_NAME;
  const dayLabelOf = (time: string): string => dateLabel(dayOf(new Date(time)));
  return (
    <li className={styles.item}>
      {state === 'renaming' ? (
        <RenameForm
          passkey={passkey}
          onRenamed={async () => {
            await onRenamed();
            setState('renamed');
          }}
          onCancel={() => setState('renamed')}
        />
      ) : (
        <>
          <div>
            <p className={styles.name}>{name}</p>
            <p className={styles.quiet}>
              Added {dayLabelOf(passkey.created_at)}
              {passkey.last_used_at && ` · Last used ${dayLabelOf(passkey.last_used_at)}`}
            </p>
          </div>
          <div className={styles.buttons}>
            {/* Takes the focus from the form that it replaces. */}
            <Button autoFocus={state === 'renamed'} onClick={() => setState('renaming')}>
              Rename<bdi className="unseen"> {name}</bdi>
            </Button>
            <Button onClick={onRemove}>
              Remove<bdi className="unseen"> {name}</bdi>
            </Button>
          </div>
        </>
      )}
    </li>
  );
}

type RenameFormProps = Pick<PasskeyRowProps, 'passkey' | 'onRenamed'> & { onCancel: () => void };

function RenameForm({ passkey, onRenamed, onCancel }: RenameFormProps) {
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const friendlyName = textOf(form, 'name').trim();
    if (friendlyName === '') return { kind: 'error', text: 'Enter a name.', field: 'name' };
    const error = await applyChange((nonce) =>
      request('PATCH', `/passkeys/${passkey.id}`, { friendly_name: friendlyName, nonce }),
    );
    if (error) return error === 'cancelled' ? null : failureOf(error);
    await onRenamed();
    return null;
  });
  return (
    <>
      <form className={`${styles.form} ${styles.rename}`} onSubmit={onSubmit} noValidate>
        {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <Field
          label="Name of this passkey"
          hint="For example the device that it is on"
          name="name"
          defaultValue={passkey.friendly_name ?? FALLBACK_NAME}
          maxLength={NAME_MAX_LENGTH}
          autoComplete="off"
          autoFocus
          onFocus={({ currentTarget }) => currentTarget.select()}
          error={errorOf('name')}
        />
        <div className={styles.buttons}>
          <Button tone="primary" type="submit" busy={busy} busyLabel="Saving...">
            Save name
          </Button>
          <Button tone="text" onClick={onCancel}>
            Cancel
          </Button>
        </div>
      </form>
      {dialog}
    </>
  );
}

type RegistrationOptions = {
  challenge_id: string;
  options: Parameters<typeof startRegistration>[0]['optionsJSON'];
};

/** `count`: the number of the user's passkeys; null until they are loaded. */
function AddPasskey({ count, onAdded }: { count: number | null; onAdded: (id: string) => Promise<void> }) {
  const { auth } = useSupabase();
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    let result: AuthResult<RegistrationOptions> | null = null;
    const error = await applyChange(async (nonce) => {
      result = await request<RegistrationOptions>('POST', '/passkeys/registration/options', { nonce });
      return result;
    });
    if (error) return error === 'cancelled' ? toOutcome(error) : failureOf(error);
    const challenge = (result as AuthResult<RegistrationOptions> | null)?.data;
    if (!challenge) return null;
    let credential;
    try {
      credential = await startRegistration({ optionsJSON: challenge.options });
    } catch (cause) {
      // InvalidStateError: the device already holds a passkey of this account.
      return cause instanceof Error && cause.name === 'InvalidStateError'
        ? failureOf({ code: 'webauthn_credential_exists', message: '' })
        : { kind: 'error', text: 'No passkey was added. Try again.' };
    }
    const verified = await auth.passkey.verifyRegistration({
      challengeId: challenge.challenge_id,
      credential: credential as never,
    });
    if (verified.error) return failureOf(verified.error);
    await onAdded(verified.data.id);
    return { kind: 'success', text: 'The passkey was added. From now on it can sign you in.' };
  });
  if (!browserSupportsWebAuthn()) {
    return <p className={styles.quiet}>This browser cannot add passkeys. Try another browser or device.</p>;
  }
  return (
    <>
      <form className={styles.form} onSubmit={onSubmit}>
        {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
        <Button
          tone={count === 0 ? 'primary' : 'plain'}
          type="submit"
          busy={busy}
          busyLabel="Waiting for your device..."
        >
          {count ? 'Add another passkey' : 'Add a passkey'}
        </Button>
      </form>
      {dialog}
    </>
  );
}

type RemovePasskeyProps = { passkey: PasskeyListItem; onRemoved: () => Promise<void>; onClose: () => void };

function RemovePasskey({ passkey, onRemoved, onClose }: RemovePasskeyProps) {
  const request = useAuthRequest();
  const toast = useToast();
  const { applyChange, dialog } = useRecentSignIn();
  const name = passkey.friendly_name ?? FALLBACK_NAME;
  return (
    <>
      <ConfirmChangeDialog
        title={
          <>
            Remove “<bdi>{name}</bdi>”?
          </>
        }
        onClose={onClose}
        onConfirm={async () => {
          const error = await applyChange((nonce) =>
            request('DELETE', `/passkeys/${passkey.id}?${new URLSearchParams({ nonce }).toString()}`),
          );
          if (error) return toOutcome(error);
          await onRemoved();
          toast({ kind: 'success', text: `Removed: ${isolate(name)}.` });
          onClose();
          return null;
        }}
      >
        <p>It will no longer sign you in here. Delete it in the settings of your device too.</p>
      </ConfirmChangeDialog>
      {dialog}
    </>
  );
}
