/** The fields of the sign-in and sign-up forms. The frames of both pages have them too (app/page-frames.tsx). */
import type { ComponentProps, ReactNode, InputEvent } from 'react';
import {
  EMAIL_MAX_LENGTH,
  NAME_PATTERN,
  TERMS_PROBLEM,
  EMAIL_PROBLEM,
  validateEmail,
} from '#domain/account/account.ts';
import { ROUTES } from '#domain/routes.ts';
import { Field, FieldError, PasswordField, useInvalidText, Form, SubmitButton } from '#client/ui/form/form.tsx';
import styles from './sign-in.module.css';
import { recoveryMessage, type ProviderError } from '#domain/messages.ts';
import { textOf, useSubmit } from '#client/lib/hooks/use-submit.ts';
import { TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';

type LoginFieldsProps = {
  hasPasskeys?: boolean;
  /** The link to the page of a forgotten password. */
  forgot: ReactNode;
};

export function LoginFields({ hasPasskeys = false, forgot }: LoginFieldsProps) {
  return (
    <>
      <EmailField autoFocus autoComplete={hasPasskeys ? 'username webauthn' : 'username'} />
      <CurrentPasswordField />
      <div className={styles.beside}>{forgot}</div>
    </>
  );
}

type CurrentPasswordFieldProps = Pick<ComponentProps<typeof PasswordField>, 'autoFocus'> & {
  'data-autofocus'?: boolean;
};

export const CurrentPasswordField = (props: CurrentPasswordFieldProps) => (
  <PasswordField
    label="Password"
    name="password"
    autoComplete="current-password"
    required
    invalidText="Enter your password"
    {...props}
  />
);

type SignupFieldsProps = {
  passwordProblem?: string | null;
  /** Without it, the checkbox keeps its own state. */
  terms?: { isAccepted: boolean; onChange: (isAccepted: boolean) => void } | undefined;
};

export function SignupFields({ passwordProblem = null, terms }: SignupFieldsProps) {
  return (
    <>
      <Field
        label="Full name"
        name="name"
        autoComplete="name"
        required
        pattern={NAME_PATTERN}
        invalidText="Enter your name"
        autoFocus
      />
      <EmailField maxLength={EMAIL_MAX_LENGTH} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        placeholder="Password (min. 6 characters)"
        required
        invalidText="Enter a password"
        error={passwordProblem}
      />
      <TermsField terms={terms} />
    </>
  );
}

function TermsField({ terms }: Pick<SignupFieldsProps, 'terms'>) {
  const { problem, onInvalid, clearProblem } = useInvalidText(TERMS_PROBLEM);
  return (
    <div className={styles.termsField}>
      <label className={styles.terms}>
        <input
          type="checkbox"
          name="terms"
          checked={terms?.isAccepted}
          required
          aria-invalid={problem !== null || undefined}
          aria-describedby={problem === null ? undefined : 'terms-problem'}
          onInvalid={onInvalid}
          onChange={(event) => {
            clearProblem();
            terms?.onChange(event.target.checked);
          }}
        />
        <span>
          I accept the <TermsLinks />
        </span>
      </label>
      {problem !== null && <FieldError id="terms-problem">{problem}</FieldError>}
    </div>
  );
}

/** The links to the terms and the privacy policy, which a new user accepts. */
export const TermsLinks = () => (
  <>
    <a href={ROUTES.terms.path} target="_blank" rel="noopener">
      Terms of Service
    </a>{' '}
    &{' '}
    <a href={ROUTES.privacy.path} target="_blank" rel="noopener">
      Privacy Policy
    </a>
  </>
);

type EmailFieldProps = Omit<ComponentProps<typeof Field>, 'label' | 'name' | 'type'>;

/** The field of an email address, with attributes for phone keyboards and password managers. */
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

/** Asks for an email address, unless `address` is given, and sends a mail to it. */
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

/** Keeps the typed address when the user opens another account form, also across a page load. */
const rememberedAddress = () => ({
  // There is no storage where the build renders the frame of the page.
  defaultValue: globalThis.sessionStorage?.getItem(TYPED_ADDRESS_KEY) ?? '',
  onInput: ({ currentTarget }: InputEvent<HTMLInputElement>) =>
    sessionStorage.setItem(TYPED_ADDRESS_KEY, currentTarget.value),
});
