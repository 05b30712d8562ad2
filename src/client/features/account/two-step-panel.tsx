/** The panel of two-step verification: adds and removes second factors, and shows the recovery codes. */
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Factor } from '@supabase/auth-js';
import { isolate } from '#domain/isolate.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { downloadFile } from '#client/lib/download.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useToast } from '#client/ui/toast.tsx';
import { useAuth } from '#client/lib/api/use-auth.ts';
import { useClientConfig, type Auth } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Buttons, Hint, LoadError, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { PanelView, ConfirmChangeDialog, CopyButton, type PanelProps } from './panel.tsx';
import { AddApp, AddPhone, AddKey } from './add-factor.tsx';
import styles from './security.module.css';

/** A step of the panel. With `codes`, it shows new recovery codes until the user confirms to have kept them. */
type TwoStepView = 'list' | 'addApp' | 'addPhone' | 'addKey' | { codes: readonly string[]; isFirstFactor: boolean };

export function TwoStepPanel({ setClosable }: PanelProps) {
  const toast = useToast();
  const factors = (useUser().factors ?? []).filter(({ status }) => status === 'verified');
  const [view, setView] = useState<TwoStepView>('list');
  const open = (next: TwoStepView): void => {
    setView(next);
    // New recovery codes are shown only once, so the panel cannot be closed while it shows them.
    setClosable(typeof next === 'string');
  };
  const add = {
    factors,
    onAdded(codes: readonly string[] | null) {
      const isFirstFactor = factors.length === 0;
      if (!codes) toast({ kind: 'success', text: 'Your sign-ins can now be confirmed this way too.' });
      open(codes ? { codes, isFirstFactor } : 'list');
    },
    onCancel: () => open('list'),
  };
  if (typeof view === 'object') return <NewCodes {...view} onDone={() => open('list')} />;
  switch (view) {
    case 'list':
      return <FactorList factors={factors} onOpen={open} />;
    case 'addApp':
      return <AddApp {...add} />;
    case 'addPhone':
      return <AddPhone {...add} />;
    case 'addKey':
      return <AddKey {...add} />;
  }
}

type FactorListProps = { factors: readonly Factor[]; onOpen: (view: TwoStepView) => void };

/** The account's second factors and recovery codes; without a factor, an explanation of two-step verification. */
function FactorList({ factors, onOpen }: FactorListProps) {
  const { phone, passkeys } = useClientConfig().signIn;
  const [removing, setRemoving] = useState<Factor | null>(null);
  const isOn = factors.length > 0;
  return (
    <PanelView>
      {!isOn && (
        <p>
          When you sign in, we also ask for something that only you have, such as a code from an app on your phone. A
          stranger who learns your password still cannot read your journal.
        </p>
      )}
      {isOn && (
        <Rows aria-label="Second steps and recovery codes">
          {factors.map((factor) => (
            <Row key={factor.id}>
              <div>
                <RowName>{factor.friendly_name ?? 'Second step'}</RowName>
                <Hint>Added {dateLabel(dayOf(new Date(factor.created_at)))}</Hint>
              </div>
              <Button onClick={() => setRemoving(factor)}>
                Remove<span className="unseen"> {factor.friendly_name}</span>
              </Button>
            </Row>
          ))}
          <RecoveryCodes onOpen={onOpen} />
        </Rows>
      )}
      {isOn && <Hint>Add another way, in case you lose the first one.</Hint>}
      <Buttons>
        <Button tone={isOn ? 'plain' : 'primary'} onClick={() => onOpen('addApp')}>
          {isOn ? 'Add an authenticator app' : 'Use an authenticator app'}
        </Button>
        {phone && <Button onClick={() => onOpen('addPhone')}>{isOn ? 'Add a phone' : 'Use text messages'}</Button>}
        {passkeys && (
          <Button onClick={() => onOpen('addKey')}>{isOn ? 'Add a security key' : 'Use a security key'}</Button>
        )}
      </Buttons>
      {removing && <RemoveFactor factor={removing} isLast={factors.length === 1} onClose={() => setRemoving(null)} />}
    </PanelView>
  );
}

type RemoveFactorProps = { factor: Factor; isLast: boolean; onClose: () => void };

function RemoveFactor({ factor, isLast, onClose }: RemoveFactorProps) {
  const auth = useAuth();
  const toast = useToast();
  const name = factor.friendly_name ?? 'this second step';
  return (
    <ConfirmChangeDialog
      title={
        <>
          Remove “<bdi>{name}</bdi>”?
        </>
      }
      label={isLast ? 'Turn off' : 'Remove'}
      onClose={onClose}
      change={() => auth.mfa.unenroll({ factorId: factor.id })}
      goneCode="mfa_factor_not_found"
      onChanged={async () => {
        // Refreshes the token and the stored user, which are from before the removal.
        await auth.refreshSession();
        toast({ kind: 'success', text: isLast ? 'Two-step verification is off.' : `Removed: ${isolate(name)}.` });
        onClose();
      }}
    >
      <p>
        {isLast
          ? 'It is your only one. Two-step verification will be off, your recovery codes stop working, and signing in takes one step again.'
          : 'It will no longer confirm your sign-ins.'}
      </p>
    </ConfirmChangeDialog>
  );
}

const codesQuery = (auth: Auth, userId: string) => ({
  queryKey: ['recovery-codes', userId],
  /** Null if the account has no recovery codes. */
  queryFn: async () => {
    const { data, error } = await auth.mfa.recoveryCodes.getStatus();
    if (error && error.code !== 'mfa_factor_not_found') throw error;
    return data;
  },
  staleTime: 0,
});

function RecoveryCodes({ onOpen }: Pick<FactorListProps, 'onOpen'>) {
  const auth = useAuth();
  const codes = useQuery(codesQuery(auth, useUser().id));
  const [isAsking, setAsking] = useState(false);
  if (codes.isPending) {
    return (
      <Row>
        <LoadingText />
      </Row>
    );
  }
  if (codes.isError) {
    return (
      <Row>
        <LoadError request={codes}>Couldn't load your recovery codes. They still work.</LoadError>
      </Row>
    );
  }
  const { data } = codes;
  return (
    <Row>
      <div>
        <RowName>Recovery codes</RowName>
        <Hint>
          {data
            ? `${data.remaining} of ${data.total} left`
            : 'You have none. Without them, a lost phone locks you out.'}
        </Hint>
      </div>
      <Button onClick={() => setAsking(true)}>{data ? 'Get new codes' : 'Get codes'}</Button>
      {isAsking && (
        <ConfirmChangeDialog
          title={data ? 'Get new recovery codes?' : 'Get recovery codes?'}
          label="Get codes"
          busyLabel="Creating..."
          change={() => (data ? auth.mfa.recoveryCodes.regenerate() : auth.mfa.recoveryCodes.generate())}
          onChanged={(created) => {
            if (created) onOpen({ codes: created.codes, isFirstFactor: false });
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            {data
              ? 'Your old codes stop working. You see the new ones once, so have paper or a password manager at hand.'
              : 'You see them once, so have paper or a password manager at hand.'}
          </p>
        </ConfirmChangeDialog>
      )}
    </Row>
  );
}

const FILE_NAME = 'hustle-forge-recovery-codes.txt';

type NewCodesProps = { codes: readonly string[]; isFirstFactor: boolean; onDone: () => void };

/** Shows new recovery codes once, to copy, download or print. */
function NewCodes({ codes, isFirstFactor, onDone }: NewCodesProps) {
  const { email } = useUser();
  const shown = codes.map((code) => code.replaceAll(/(.{4})(?=.)/g, '$1-'));
  const text = ['Hustle Forge recovery codes', email ?? '', 'Each code works once.', '', ...shown, ''].join('\n');
  const download = (): void => downloadFile(new Blob([text], { type: 'text/plain' }), FILE_NAME);
  return (
    <PanelView title="Keep your recovery codes">
      {isFirstFactor && (
        <Notice kind="success">Two-step verification is on. Your other devices were signed out.</Notice>
      )}
      <p>
        If you lose your phone or key, one of these codes lets you in. Keep them where you keep important papers. They
        are shown only now, and each works once.
      </p>
      <ul className={styles.codes} aria-label="Recovery codes" data-account={email}>
        {shown.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Buttons>
        <CopyButton text={text} label="Copy" />
        <Button onClick={download}>Download</Button>
        <Button onClick={() => print()}>Print</Button>
      </Buttons>
      <Button tone="primary" onClick={onDone}>
        I have kept them
      </Button>
    </PanelView>
  );
}
