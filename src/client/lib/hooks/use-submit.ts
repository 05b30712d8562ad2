/** Submits a form: ignores a second submit while one is in flight, and keeps the field values when it fails. */
import { startTransition, useActionState } from 'react';
import type { SubmitEvent } from 'react';
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
    // Not `<form action>`: React resets the fields after every action, also after a failed one.
    onSubmit: (event) => {
      event.preventDefault();
      if (busy) return;
      const form = new FormData(event.currentTarget);
      startTransition(() => submit(form));
    },
    errorOf: (field) => (outcome?.kind === 'error' && outcome.field === field ? outcome.text : null),
  };
}

/** The value of a text field; empty if the form has no such field. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
