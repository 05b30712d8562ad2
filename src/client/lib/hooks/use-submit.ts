/** Submits a form: ignores a second submit while one is in flight, and keeps the field values when it fails. */
import { useRef, useState, type SubmitEvent } from 'react';
import { MESSAGES } from '#domain/messages.ts';

/** `field` names the input that the text is about; without it the text is about the whole form. */
export type Outcome = { kind: 'success' | 'error'; text: string; field?: string } | null;

type Submission = {
  outcome: Outcome;
  busy: boolean;
  onSubmit: (event: SubmitEvent<HTMLFormElement>) => void;
  /** The error to show under a field. */
  errorOf: (field: string) => string | null;
};

export function useSubmit(send: (form: FormData) => Promise<Outcome>): Submission {
  // Not `useActionState`: React holds the outcome back until every other pending action has ended, and one of them may
  // wait for a dialog with a form of its own.
  const [outcome, setOutcome] = useState<Outcome>(null);
  const [busy, setBusy] = useState(false);
  const isInFlight = useRef(false);

  async function submit(form: FormData): Promise<void> {
    isInFlight.current = true;
    setBusy(true);
    try {
      setOutcome(await send(form));
    } catch {
      setOutcome({ kind: 'error', text: MESSAGES.unexpected });
    }
    isInFlight.current = false;
    setBusy(false);
  }

  return {
    outcome,
    busy,
    // Not `<form action>`: React resets the fields after every action, also after a failed one.
    onSubmit: (event) => {
      event.preventDefault();
      if (!isInFlight.current) void submit(new FormData(event.currentTarget));
    },
    errorOf: (field) => (outcome?.kind === 'error' && outcome.field === field ? outcome.text : null),
  };
}

/** The value of a text field; empty if the form has no such field. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
