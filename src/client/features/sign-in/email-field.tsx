/** The email field of account forms, set up for phone keyboards and password managers, and the form that has it alone. */
import type { ComponentProps, InputEvent } from 'react';
import { EMAIL_PROBLEM, validateEmail } from '#domain/account/account.ts';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';
import { Field } from '#client/ui/form/field.tsx';
import { Form, SubmitButton } from '#client/ui/form/form.tsx';

type EmailFieldProps = Omit<ComponentProps<typeof Field>, 'label' | 'name' | 'type'>;

export function EmailField(field: EmailFieldProps) {
  return (
    <Field
      label="Email address"
      name="email"
      type="email"
      autoComplete="username"
      inputMode="email"
      autoCapitalize="none"
      required
      invalidText={EMAIL_PROBLEM}
      {...(field.value === undefined && rememberedAddress())}
      {...field}
    />
  );
}

type EmailFormProps = {
  /** An address that cannot be changed here. */
  address?: string | undefined;
  autoFocus?: boolean;
  submitLabel: string;
  /** Sends a mail to the address. */
  send: (email: string) => Promise<{ error: ProviderError | null }>;
  onSent: (email: string) => void;
};

/** Takes the address that a mail is sent to. */
export function EmailForm({ address, autoFocus = true, submitLabel, send, onSent }: EmailFormProps) {
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const email = address ?? textOf(form, 'email').trim();
    const problem = validateEmail(email);
    if (problem) return { kind: 'error', text: problem, field: 'email' };
    const { error } = await send(email);
    if (error) return { kind: 'error', text: recoveryMessage(error) };
    onSent(email);
    return null;
  });
  return (
    <Form layout="page" outcome={outcome} onSubmit={onSubmit} noValidate>
      {address === undefined ? (
        <EmailField autoFocus={autoFocus} error={errorOf('email')} />
      ) : (
        <EmailField value={address} readOnly />
      )}
      <SubmitButton layout="page" busy={busy} busyLabel="Sending...">
        {submitLabel}
      </SubmitButton>
    </Form>
  );
}

/** Keeps the typed address when the user changes to another account form, also across a page load. */
const rememberedAddress = () => ({
  // There is no storage where the build renders the frame of the page.
  defaultValue: globalThis.sessionStorage?.getItem(TYPED_ADDRESS_KEY) ?? '',
  onInput: ({ currentTarget }: InputEvent<HTMLInputElement>) =>
    sessionStorage.setItem(TYPED_ADDRESS_KEY, currentTarget.value),
});
