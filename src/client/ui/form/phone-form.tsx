/** Takes a phone number that a code is texted to. */
import { parsePhone, PHONE_HINT, PHONE_PROBLEM } from '#domain/account/account.ts';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { textOf, useSubmit, type Outcome } from '#client/lib/hooks/use-submit.ts';
import { Field, Form, SubmitButton, type FormLook } from './form.tsx';

type PhoneFormProps = Pick<FormLook, 'layout'> & {
  label?: string;
  /** A number that cannot be changed here. */
  fixedPhone?: string | undefined;
  autoFocus?: boolean;
  /** Resolves with null once the code is on its way. */
  send: (phone: string) => Promise<Outcome>;
};

export function PhoneForm({ layout, label = 'Phone number', fixedPhone, autoFocus = true, send }: PhoneFormProps) {
  const { outcome, busy, onSubmit, errorOf } = useSubmit(async (form) => {
    const phone = parsePhone(textOf(form, 'phone'));
    return phone === null ? phoneProblem(PHONE_PROBLEM) : send(phone);
  });
  return (
    <Form layout={layout} outcome={outcome} onSubmit={onSubmit} noValidate>
      <Field
        label={label}
        hint={PHONE_HINT}
        name="phone"
        type="tel"
        autoComplete="tel"
        autoFocus={autoFocus}
        required
        {...(fixedPhone !== undefined && { value: fixedPhone, readOnly: true })}
        error={errorOf('phone')}
      />
      <SubmitButton layout={layout} busy={busy} busyLabel="Sending...">
        Text me a code
      </SubmitButton>
    </Form>
  );
}

/** An error that the form shows at the phone number. */
export const phoneProblem = (text: string): Outcome => ({ kind: 'error', text, field: 'phone' });

const FIELD_TEXTS: Readonly<Record<string, string>> = {
  validation_failed: PHONE_PROBLEM,
  sms_send_failed: "We couldn't text this number. Check it, use another one, or try again later.",
};

/** The outcome to show when a code could not be texted; null without an error. */
export function phoneOutcome(error: ProviderError | null): Outcome {
  if (!error) return null;
  const text = FIELD_TEXTS[error.code ?? ''];
  return text === undefined ? { kind: 'error', text: recoveryMessage(error) } : phoneProblem(text);
}
