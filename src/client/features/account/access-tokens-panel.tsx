/** Makes and revokes personal access tokens, and ends links of Slack users (docs/specification/capture.md 2 and 5). */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  MAX_TOKENS,
  SCOPE_TEXTS,
  TOKEN_DAYS,
  TOKEN_NAME_MAX_LENGTH,
  TOKEN_SCOPES,
  type CreatedToken,
  type ListedSlackLink,
  type ListedToken,
  type TokenDays,
  type TokenList,
  type TokenScope,
} from '#domain/account/access-token.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { isolate } from '#domain/isolate.ts';
import { useAuthRequest } from '#client/lib/api/own-account.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Check, Choices } from '#client/ui/form/choices.tsx';
import { Field, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Buttons, LoadError, RowName, Rows } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { ConfirmChangeDialog, CopyButton, PanelView } from './panel.tsx';
import { toOutcome, useRecentSignIn } from './prove-identity.tsx';
import styles from './security.module.css';

const DEFAULT_DAYS: TokenDays = 90;
const dayLabelOf = (time: string): string => dateLabel(dayOf(new Date(time)));

export const TOKEN_ERRORS: Readonly<Record<string, string>> = {
  too_many_tokens: `You have ${MAX_TOKENS} tokens, as many as an account can have. Revoke one first.`,
  insufficient_aal: 'Pass the second step of your sign-in first: sign out and in again.',
};

function useTokens() {
  const { id } = useUser();
  const request = useAuthRequest();
  const queries = useQueryClient();
  const queryKey = ['access-tokens', id];
  const query = useQuery({
    queryKey,
    // Stale at once: a program may have fetched a token since.
    staleTime: 0,
    queryFn: async (): Promise<TokenList> => {
      const { data, error } = await request<TokenList>('GET', '/tokens');
      if (error) throw new Error(error.message);
      return data;
    },
  });
  return { ...query, reload: () => queries.invalidateQueries({ queryKey }) };
}

type Ending = { kind: 'token'; token: ListedToken } | { kind: 'slack'; link: ListedSlackLink };

export function AccessTokensPanel() {
  const tokens = useTokens();
  const [step, setStep] = useState<'list' | 'new' | CreatedToken>('list');
  const [ending, setEnding] = useState<Ending | null>(null);
  const showList = (): void => {
    setStep('list');
    // Also after Cancel: the server may have made a token whose answer was lost.
    void tokens.reload();
  };
  if (typeof step === 'object') return <NewToken created={step} onDone={showList} />;
  if (step === 'new') return <TokenForm onCreated={setStep} onCancel={showList} />;
  const { data } = tokens;
  return (
    <PanelView>
      {tokens.isPending && <LoadingText />}
      {tokens.isError && <LoadError request={tokens}>Couldn't load your tokens. They still work.</LoadError>}
      {data && data.tokens.length + data.slack_links.length === 0 && <p>You have no tokens.</p>}
      {data && data.tokens.length + data.slack_links.length > 0 && (
        <Rows aria-label="Your access tokens">
          {data.tokens.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => setEnding({ kind: 'token', token })} />
          ))}
          {data.slack_links.map((link) => (
            <li key={`${link.team} ${link.user}`} className={styles.session}>
              <div>
                <RowName>
                  Slack: <bdi>{link.name}</bdi>
                </RowName>
                <p className={styles.facts}>
                  <span>Adds items</span>
                  <span>Linked {dayLabelOf(link.created_at)}</span>
                </p>
              </div>
              <Button onClick={() => setEnding({ kind: 'slack', link })}>
                Unlink<bdi className="unseen"> {link.name}</bdi>
              </Button>
            </li>
          ))}
        </Rows>
      )}
      {data && <Button onClick={() => setStep('new')}>New token</Button>}
      {data && <TerminalHint />}
      {ending && <EndDialog ending={ending} onEnded={tokens.reload} onClose={() => setEnding(null)} />}
    </PanelView>
  );
}

/** The server offers the program with the server's address in it, and `hustle login` makes a token for it. */
function TerminalHint() {
  // The ending `.cjs` makes the file CommonJS, also in the folder of a project whose files are modules.
  const command = `curl -fsSo hustle.cjs ${location.origin}/cli/hustle.cjs && node hustle.cjs login`;
  return (
    <>
      <p>The command line makes its own token. In a terminal with Node 20 or newer, run:</p>
      <p className={styles.secret}>
        <code>{command}</code>
      </p>
      <CopyButton text={command} label="Copy command" />
    </>
  );
}

const SCOPE_WORDS = { append: 'Adds items', read: 'Reads' } as const;

function TokenRow({ token, onRevoke }: { token: ListedToken; onRevoke: () => void }) {
  const { name, scopes, expires_at: end, last_used_at: used } = token;
  const may = scopes.length === TOKEN_SCOPES.length ? 'Adds items and reads' : SCOPE_WORDS[scopes[0]!];
  return (
    <li className={styles.session}>
      <div>
        <RowName>
          <bdi>{name}</bdi>
        </RowName>
        <p className={styles.facts}>
          <span>{may}</span>
          <span>Until {dayLabelOf(end)}</span>
          <span>{used === null ? 'Never used' : `Last used ${dayLabelOf(used)}`}</span>
        </p>
      </div>
      <Button onClick={onRevoke}>
        Revoke<bdi className="unseen"> {name}</bdi>
      </Button>
    </li>
  );
}

export const browserTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

type TokenFormProps = { onCreated: (token: CreatedToken) => void; onCancel: () => void };

function TokenForm({ onCreated, onCancel }: TokenFormProps) {
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const [scopes, setScopes] = useState<readonly TokenScope[]>(['append']);
  const [days, setDays] = useState<TokenDays>(DEFAULT_DAYS);
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const name = textOf(form, 'name').trim();
    if (name === '') return { kind: 'error', text: 'Enter a name.', field: 'name' };
    if (scopes.length === 0) return { kind: 'error', text: 'Choose what the token may do.' };
    const { data, error } = await applyChange((nonce) =>
      request<CreatedToken>('POST', '/tokens', { name, scopes, days, time_zone: browserTimeZone(), nonce }),
    );
    if (error) return toOutcome(error, TOKEN_ERRORS);
    onCreated(data);
    return null;
  });
  return (
    <PanelView title="New token">
      <Form outcome={outcome} onSubmit={onSubmit} noValidate>
        <Field
          label="Name"
          hint="For example the program or device that uses it"
          name="name"
          maxLength={TOKEN_NAME_MAX_LENGTH}
          autoComplete="off"
          autoFocus
          error={errorOf('name')}
        />
        <div role="group" aria-label="It may">
          {TOKEN_SCOPES.map((scope) => (
            <Check
              key={scope}
              label={SCOPE_TEXTS[scope]}
              checked={scopes.includes(scope)}
              onChange={(checked) =>
                setScopes(TOKEN_SCOPES.filter((each) => (each === scope ? checked : scopes.includes(each))))
              }
            />
          ))}
        </div>
        <LifetimeChoice chosen={days} onChoose={setDays} />
        <Buttons>
          <SubmitButton busy={busy} busyLabel="Making...">
            Make token
          </SubmitButton>
          <Button tone="text" onClick={onCancel}>
            Cancel
          </Button>
        </Buttons>
      </Form>
      {dialog}
    </PanelView>
  );
}

export const LifetimeChoice = ({ chosen, onChoose }: { chosen: TokenDays; onChoose: (days: TokenDays) => void }) => (
  <Choices
    legend="It ends after"
    isLegendShown
    name="days"
    choices={TOKEN_DAYS.map((days) => ({ value: String(days), label: days === 365 ? '1 year' : `${days} days` }))}
    chosen={String(chosen)}
    onChoose={(value) => onChoose(TOKEN_DAYS.find((days) => String(days) === value)!)}
  />
);

/** Threat: the token stays on the screen of an unattended computer. It is shown once, until the user goes on. */
function NewToken({ created, onDone }: { created: CreatedToken; onDone: () => void }) {
  return (
    <PanelView title="Your new token">
      <p>Copy it now: it is not shown again. Whoever has it can do what you allowed.</p>
      <p className={styles.secret}>
        <code>{created.token}</code>
      </p>
      <Buttons>
        <CopyButton text={created.token} label="Copy token" />
        <Button tone="text" onClick={onDone}>
          Done
        </Button>
      </Buttons>
    </PanelView>
  );
}

type EndDialogProps = { ending: Ending; onEnded: () => Promise<void>; onClose: () => void };

function EndDialog({ ending, onEnded, onClose }: EndDialogProps) {
  const request = useAuthRequest();
  const toast = useToast();
  const isToken = ending.kind === 'token';
  const name = isToken ? ending.token.name : ending.link.name;
  return (
    <ConfirmChangeDialog
      title={
        <>
          {isToken ? 'Revoke' : 'Unlink'} “<bdi>{name}</bdi>”?
        </>
      }
      label={isToken ? 'Revoke' : 'Unlink'}
      busyLabel={isToken ? 'Revoking...' : 'Unlinking...'}
      onClose={onClose}
      change={() =>
        isToken
          ? request('DELETE', `/tokens/${ending.token.id}`)
          : request('POST', '/connect/unlink', { team: ending.link.team, user: ending.link.user })
      }
      texts={TOKEN_ERRORS}
      goneCode="not_found"
      onChanged={async () => {
        await onEnded();
        toast({ kind: 'success', text: `${isToken ? 'Revoked' : 'Unlinked'}: ${isolate(name)}.` });
        onClose();
      }}
    >
      <p>
        {isToken
          ? 'Programs that use it lose their access at once. What they have added stays.'
          : 'This Slack user can no longer add to your journal. What was added stays.'}
      </p>
    </ConfirmChangeDialog>
  );
}
