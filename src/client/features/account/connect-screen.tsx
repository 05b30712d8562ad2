/**
 * The page `/connect`, on which a signed-in user gives a program or a Slack user access to the journal, or refuses it
 * (docs/specification/capture.md 4 and 5).
 *
 * Threat: a stranger sends the link of a request of their own. Opening the page changes nothing; it names what asks,
 * what it will be able to do, and the code to compare, and the buttons decide.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { parseUserCode, SCOPE_TEXTS, type ConnectRequest, type TokenDays } from '#domain/account/access-token.ts';
import { recoveryMessage } from '#domain/messages.ts';
import { useSearchParams, useTitle } from '#client/lib/navigation.ts';
import { useAuthRequest } from '#client/lib/api/own-account.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Field, Form, SubmitButton } from '#client/ui/form/form.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { BackToJournal, Page } from '#client/ui/page/page.tsx';
import { Buttons, LoadError, Row, Rows } from '#client/ui/stack.tsx';
import { browserTimeZone, LifetimeChoice, TOKEN_ERRORS } from './access-tokens-panel.tsx';
import { PanelView } from './panel.tsx';
import { toOutcome, useRecentSignIn } from './prove-identity.tsx';
import styles from './security.module.css';

const UNKNOWN = 'This code is unknown, has expired or was already used. Start again in the program.';
const NOT_FOUND = 'connect_request_not_found';
const ERRORS = { ...TOKEN_ERRORS, [NOT_FOUND]: UNKNOWN };

export function ConnectScreen() {
  useTitle('Connect a program');
  const search = useSearchParams();
  const [code, setCode] = useState(search.get('slack') ?? search.get('user_code'));
  const [answered, setAnswered] = useState<{ isAllowed: boolean; request: ConnectRequest } | null>(null);
  return (
    <Page title="Connect a program" back={<BackToJournal />}>
      <div className={styles.connect}>
        {answered && <Answered {...answered} />}
        {!answered && !code && <CodeForm onCode={setCode} />}
        {!answered && code && (
          <Question
            code={code}
            onAnswered={(isAllowed, request) => setAnswered({ isAllowed, request })}
            onOther={() => setCode(null)}
          />
        )}
      </div>
    </Page>
  );
}

function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const { onSubmit, errorOf } = useSubmit(async (form) => {
    const code = parseUserCode(textOf(form, 'code'));
    if (code === null) return { kind: 'error', text: 'Enter the eight letters that the program shows.', field: 'code' };
    onCode(code);
    return null;
  });
  return (
    <PanelView>
      <Form onSubmit={onSubmit} noValidate>
        <Field
          label="Code"
          hint="Eight letters, such as WDJB-MJHT"
          name="code"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          autoFocus
          error={errorOf('code')}
        />
        <SubmitButton>Continue</SubmitButton>
      </Form>
    </PanelView>
  );
}

type QuestionProps = {
  code: string;
  onAnswered: (isAllowed: boolean, request: ConnectRequest) => void;
  onOther: () => void;
};

function Question({ code, onAnswered, onOther }: QuestionProps) {
  const request = useAuthRequest();
  const asked = useQuery({
    queryKey: ['connect', code],
    staleTime: Infinity,
    queryFn: async (): Promise<ConnectRequest | 'unknown'> => {
      const { data, error } = await request<ConnectRequest>('POST', '/connect/show', { code });
      if (error?.code === NOT_FOUND) return 'unknown';
      if (error) throw new Error(recoveryMessage(error));
      return data;
    },
  });
  if (asked.isPending) return <LoadingText />;
  if (asked.isError) {
    return (
      <PanelView>
        <LoadError request={asked}>Couldn't load the request. Nothing was connected.</LoadError>
      </PanelView>
    );
  }
  if (asked.data === 'unknown') {
    return (
      <PanelView>
        <p role="alert">{UNKNOWN}</p>
        <Button onClick={onOther}>Enter another code</Button>
      </PanelView>
    );
  }
  return <Answer code={code} asked={asked.data} onAnswered={onAnswered} />;
}

type AnswerProps = { code: string; asked: ConnectRequest } & Pick<QuestionProps, 'onAnswered'>;

function Answer({ code, asked, onAnswered }: AnswerProps) {
  const { email, phone } = useUser();
  const request = useAuthRequest();
  const { applyChange, dialog } = useRecentSignIn();
  const [days, setDays] = useState<TokenDays>(365);
  const allow = useSubmit(async () => {
    const { error } = await applyChange((nonce) =>
      request('POST', '/connect/allow', { code, days, time_zone: browserTimeZone(), nonce }),
    );
    if (error) return toOutcome(error, ERRORS);
    onAnswered(true, asked);
    return null;
  });
  const refuse = useSubmit(async () => {
    const { error } = await request('POST', '/connect/refuse', { code });
    if (error && error.code !== NOT_FOUND) return toOutcome(error, ERRORS);
    onAnswered(false, asked);
    return null;
  });
  const outcome = allow.outcome ?? refuse.outcome;
  const isSlack = asked.kind === 'slack';
  return (
    <PanelView>
      <p>
        {isSlack ? 'The Slack user ' : 'A program that calls itself '}
        <strong>
          <bdi>{asked.name}</bdi>
        </strong>{' '}
        asks for access to the journal of <strong>{email || `+${phone}`}</strong>:
      </p>
      <Rows aria-label="What it will be able to do">
        {asked.scopes.map((scope) => (
          <Row key={scope}>{SCOPE_TEXTS[scope]}</Row>
        ))}
      </Rows>
      {asked.user_code !== null && (
        <p>
          It shows the code <strong className={styles.userCode}>{asked.user_code}</strong>. If you see another code, or
          did not start it yourself, refuse.
        </p>
      )}
      {isSlack && <p>If you did not ask for this in Slack yourself, refuse.</p>}
      <Form outcome={outcome} onSubmit={allow.onSubmit}>
        {!isSlack && <LifetimeChoice chosen={days} onChoose={setDays} />}
        <Buttons>
          <SubmitButton busy={allow.busy} busyLabel="Connecting...">
            Allow
          </SubmitButton>
          <Button form="refuse-connect" type="submit" busy={refuse.busy} busyLabel="Refusing...">
            Refuse
          </Button>
        </Buttons>
      </Form>
      <form id="refuse-connect" onSubmit={refuse.onSubmit} />
      {dialog}
    </PanelView>
  );
}

function Answered({ isAllowed, request }: { isAllowed: boolean; request: ConnectRequest }) {
  const where = request.kind === 'slack' ? 'Slack' : 'the program';
  return (
    <PanelView>
      <p role="status">
        {isAllowed
          ? `Connected. Close this page and go back to ${where}. You can end the connection in Settings.`
          : `Refused. Nothing was connected. You can close this page.`}
      </p>
    </PanelView>
  );
}
