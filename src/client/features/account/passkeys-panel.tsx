/** Adds, renames and removes the user's passkeys. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { PasskeyListItem } from '@supabase/auth-js';
import { browserSupportsWebAuthn, startRegistration } from '@simplewebauthn/browser';
import { useState } from 'react';
import { isolate } from '#domain/isolate.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useAuthRequest } from '#client/lib/api/own-account.ts';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Buttons, Hint, LoadError, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { ConfirmChangeDialog, PanelView } from './panel.tsx';
import { toOutcome, useRecentSignIn } from './prove-identity.tsx';
import { passkeysQuery } from './linked-sign-ins.ts';

const NAME_MAX_LENGTH = 120;
const FALLBACK_NAME = 'Passkey';

const ERRORS: Readonly<Record<string, string>> = {
  too_many_passkeys: 'You have as many passkeys as an account can have. Remove one first.',
  webauthn_credential_exists: 'This device already has a passkey for your account.',
  webauthn_challenge_expired: 'That took too long. Try again.',
};

export function PasskeysPanel() {
  const auth = useAuth();
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
      {passkeys.isError && <LoadError request={passkeys}>Couldn't load your passkeys. They still work.</LoadError>}
      {passkeys.data && passkeys.data.length > 0 && (
        <Rows aria-label="Your passkeys">
          {passkeys.data.map((passkey) => (
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              isNew={addedId === passkey.id}
              onRenamed={reload}
              onRemove={() => setRemoving(passkey)}
            />
          ))}
        </Rows>
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
    <Row>
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
            <RowName>{name}</RowName>
            <Hint>
              Added {dayLabelOf(passkey.created_at)}
              {passkey.last_used_at && ` · Last used ${dayLabelOf(passkey.last_used_at)}`}
            </Hint>
          </div>
          <Buttons>
            {/* Takes the focus from the form that it replaces. */}
            <Button autoFocus={state === 'renamed'} onClick={() => setState('renaming')}>
              Rename<bdi className="unseen"> {name}</bdi>
            </Button>
            <Button onClick={onRemove}>
              Remove<bdi className="unseen"> {name}</bdi>
            </Button>
          </Buttons>
        </>
      )}
    </Row>
  );
}

type RenameFormProps = Pick<PasskeyRowProps, 'passkey' | 'onRenamed'> & { onCancel: () => void };

function RenameForm({ passkey, onRenamed, onCancel }: RenameFormProps) {
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const friendlyName = textOf(form, 'name').trim();
    if (friendlyName === '') return { kind: 'error', text: 'Enter a name.', field: 'name' };
    const { error } = await applyChange((nonce) =>
      request('PATCH', `/passkeys/${passkey.id}`, { friendly_name: friendlyName, nonce }),
    );
    if (error) return toOutcome(error, ERRORS);
    await onRenamed();
    return null;
  });
  return (
    <>
      <Form outcome={outcome} onSubmit={onSubmit} noValidate>
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
        <Buttons>
          <SubmitButton busy={busy} busyLabel="Saving...">
            Save name
          </SubmitButton>
          <Button tone="text" onClick={onCancel}>
            Cancel
          </Button>
        </Buttons>
      </Form>
      {dialog}
    </>
  );
}

type RegistrationOptions = { challenge_id: string; options: Parameters<typeof startRegistration>[0]['optionsJSON'] };

/** `count`: the number of the user's passkeys; null until they are loaded. */
function AddPasskey({ count, onAdded }: { count: number | null; onAdded: (id: string | null) => Promise<void> }) {
  const auth = useAuth();
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const { outcome, busy, onSubmit } = useSubmit(async () => {
    const { data: challenge, error } = await applyChange((nonce) =>
      request<RegistrationOptions>('POST', '/passkeys/registration/options', { nonce }),
    );
    if (error) return toOutcome(error, ERRORS);
    let credential;
    try {
      credential = await startRegistration({ optionsJSON: challenge.options });
    } catch (cause) {
      // InvalidStateError: the device already holds a passkey of this account.
      return cause instanceof Error && cause.name === 'InvalidStateError'
        ? toOutcome({ code: 'webauthn_credential_exists', message: '' }, ERRORS)
        : { kind: 'error', text: 'No passkey was added. Try again.' };
    }
    const verified = await auth.passkey.verifyRegistration({
      challengeId: challenge.challenge_id,
      credential: credential as never,
    });
    // Reads the list also after an error: the answer may have been lost.
    await onAdded(verified.data?.id ?? null);
    if (verified.error) return toOutcome(verified.error, ERRORS);
    return { kind: 'success', text: 'The passkey was added. From now on it can sign you in.' };
  });
  if (!browserSupportsWebAuthn()) {
    return <Hint>This browser cannot add passkeys. Try another browser or device.</Hint>;
  }
  return (
    <>
      <Form outcome={outcome} onSubmit={onSubmit}>
        <SubmitButton tone={count === 0 ? 'primary' : 'plain'} busy={busy} busyLabel="Waiting for your device...">
          {count ? 'Add another passkey' : 'Add a passkey'}
        </SubmitButton>
      </Form>
      {dialog}
    </>
  );
}

type RemovePasskeyProps = { passkey: PasskeyListItem; onRemoved: () => Promise<void>; onClose: () => void };

function RemovePasskey({ passkey, onRemoved, onClose }: RemovePasskeyProps) {
  const request = useAuthRequest();
  const toast = useToast();
  const name = passkey.friendly_name ?? FALLBACK_NAME;
  return (
    <ConfirmChangeDialog
      title={
        <>
          Remove “<bdi>{name}</bdi>”?
        </>
      }
      onClose={onClose}
      change={(nonce) => request('DELETE', `/passkeys/${passkey.id}?${new URLSearchParams({ nonce }).toString()}`)}
      goneCode="validation_failed"
      onChanged={async () => {
        await onRemoved();
        toast({ kind: 'success', text: `Removed: ${isolate(name)}.` });
        onClose();
      }}
    >
      <p>It will no longer sign you in here. Delete it in the settings of your device too.</p>
    </ConfirmChangeDialog>
  );
}
