/** The fields of the sign-in and sign-up forms. The frames of both pages have them too (app/page-frames.tsx). */
import type { ComponentProps, ReactNode } from 'react';
import { EMAIL_MAX_LENGTH, NAME_PATTERN, TERMS_PROBLEM } from '#domain/account/account.ts';
import { ROUTES } from '#domain/routes.ts';
import { Field, FieldError, PasswordField, useInvalidText } from '#client/ui/form/field.tsx';
import { EmailField } from './email-field.tsx';
import styles from './sign-in.module.css';

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

/** The links to what a new account accepts. */
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
