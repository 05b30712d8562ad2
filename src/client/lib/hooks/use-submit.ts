/** One way to send a form: read it as it stands, refuse a second press, and keep what was typed when it fails. */
import { startTransition, useActionState } from 'react';
import type { SubmitEvent } from 'react';
import { MESSAGES } from '#domain/messages.ts';

/** What came of it. `field` names the input that the text is about; without it the text is about the whole form. */
export type Outcome = { kind: 'success' | 'error'; text: string; field?: string } | null;

type Submission = {
  outcome: Outcome;
  busy: boolean;
  onSubmit: (event: SubmitEvent<HTMLFormElement>) => void;
  /** The error to show under a field. */
  errorOf: (field: string) => string | null;
};

export function useSubmit(send: (form: FormData) => Promise<Outcome>): Submission {
  const [outcome, submit, busy] = useActionState(async (_before: Outcome, form: FormData): Promise<Outcome> => {
    try {
      return await send(form);
    } catch {
      return { kind: 'error', text: MESSAGES.unexpected };
    }
  }, null);

  return {
    outcome,
    busy,
    // Not `<form action>`: React empties the fields after every action, a wrong password and all.
    onSubmit: (event) => {
      event.preventDefault();
      if (busy) return;
      const form = new FormData(event.currentTarget);
      startTransition(() => submit(form));
    },
    errorOf: (field) => (outcome?.kind === 'error' && outcome.field === field ? outcome.text : null),
  };
}

/** A text field of a form, never a file and never missing. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
