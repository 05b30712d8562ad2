/** The steps of signing out: send what is unsent, ask about what could not be sent, sign out. */
import { useEffect, useRef, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { useSession } from './session.ts';
import type { SignOutScope } from './session.ts';

type SignOutQuestion = {
  days: readonly Day[];
  scope: SignOutScope;
  /** Why the choice before did not work. */
  problem: SignOutProblem | null;
};
type SignOutProblem = 'notSent' | 'unreachable';

type SignOutState = {
  busy: 'sending' | 'leaving' | null;
  /** Asked while words are unsent. */
  question: SignOutQuestion | null;
  /** The server could not be told. */
  unreachable: boolean;
};
const IDLE: SignOutState = { busy: null, question: null, unreachable: false };

export type SignOutFlow = ReturnType<typeof useSignOut>;

export function useSignOut() {
  const { signOut, sendUnsavedText } = useSession();
  const [state, setState] = useState(IDLE);
  /** Raised by every choice, so that a user who stays meanwhile is not signed out by an earlier one. */
  const choice = useRef(0);
  useEffect(() => () => void (choice.current += 1), []);

  const leave = async (scope: SignOutScope, question: SignOutQuestion | null): Promise<void> => {
    setState({ busy: 'leaving', question, unreachable: false });
    const { error } = await signOut(scope);
    // On success the page is already on its way to the landing page.
    if (!error) return;
    setState({
      busy: null,
      question: question && { ...question, scope: 'local', problem: 'unreachable' },
      unreachable: question === null,
    });
  };

  const send = async (scope: SignOutScope, asked: SignOutQuestion | null): Promise<void> => {
    const mine = ++choice.current;
    setState({ busy: 'sending', question: asked && { ...asked, problem: null }, unreachable: false });
    const days = await sendUnsavedText();
    if (mine !== choice.current) return;
    if (days.length === 0) return leave(scope, null);
    setState({ busy: null, question: { days, scope, problem: asked && 'notSent' }, unreachable: false });
  };

  return {
    ...state,
    /** Asks only where something could not be sent. */
    start: (scope: SignOutScope) => void send(scope, null),
    sendAgain: () => void (state.question && send(state.question.scope, state.question)),
    discard: () => void (state.question && leave(state.question.scope, state.question)),
    stay() {
      if (state.busy === 'leaving') return;
      choice.current += 1;
      setState(IDLE);
    },
  };
}
