/** The sign-out flow: send unsaved text, ask what to do with text that could not be sent, sign out. */
import { useEffect, useRef, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { useSession, type SignOutScope } from './session.ts';
import { DOCUMENT_DRAFT_PREFIX, keysUnder } from './storage-keys.ts';

type SignOutQuestion = {
  days: readonly Day[];
  /** The ids of wins documents with words that only this browser has. The page of the document sends them. */
  documents: readonly string[];
  scope: SignOutScope;
  /** Why the user's previous choice failed. */
  problem: SignOutProblem | null;
};
type SignOutProblem = 'notSent' | 'unreachable';

type SignOutState = {
  busy: 'sending' | 'signingOut' | null;
  /** Set while the dialog asks about unsaved text. */
  question: SignOutQuestion | null;
  /** The server was unreachable while no dialog was open. A dialog gets the `problem` instead. */
  unreachable: boolean;
};
const IDLE: SignOutState = { busy: null, question: null, unreachable: false };

export type SignOutFlow = ReturnType<typeof useSignOut>;

export function useSignOut() {
  const { user, signOut, sendUnsavedText } = useSession();
  const [state, setState] = useState(IDLE);
  /** Incremented by a send, a cancel and the unmount, so that an earlier sign-out does not continue after its send. */
  const choiceId = useRef(0);
  useEffect(() => () => void (choiceId.current += 1), []);

  const finish = async (scope: SignOutScope, question: SignOutQuestion | null): Promise<void> => {
    setState({ busy: 'signingOut', question, unreachable: false });
    const { error } = await signOut(scope);
    // On success the page is already navigating to the landing page.
    if (!error) return;
    setState({
      busy: null,
      question: question && { ...question, scope: 'local', problem: 'unreachable' },
      unreachable: question === null,
    });
  };

  const send = async (scope: SignOutScope, question: SignOutQuestion | null): Promise<void> => {
    const id = ++choiceId.current;
    setState({ busy: 'sending', question: question && { ...question, problem: null }, unreachable: false });
    const days = await sendUnsavedText();
    if (id !== choiceId.current) return;
    const documents = user ? unsentDocuments(user.id) : [];
    if (days.length === 0 && documents.length === 0) return finish(scope, null);
    const problem = question && 'notSent';
    setState({ busy: null, question: { days, documents, scope, problem }, unreachable: false });
  };

  return {
    ...state,
    /** Asks only if text could not be sent. */
    start: (scope: SignOutScope) => void send(scope, null),
    retrySend: () => void (state.question && send(state.question.scope, state.question)),
    discard: () => void (state.question && finish(state.question.scope, state.question)),
    cancel() {
      if (state.busy === 'signingOut') return;
      choiceId.current += 1;
      setState(IDLE);
    },
  };
}

function unsentDocuments(userId: string): string[] {
  const prefix = `${DOCUMENT_DRAFT_PREFIX}${userId}:`;
  return [...new Set(keysUnder(localStorage, prefix).map((key) => key.slice(prefix.length).split(':')[0]!))];
}
