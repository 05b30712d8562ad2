/** Forms: the form itself, and inputs with their label, hint and error, linked for screen readers. */
import { useId, useState, type ComponentProps, type InvalidEvent, type ReactNode, type SyntheticEvent } from 'react';
import Eye from 'lucide-react/icons/eye';
import EyeOff from 'lucide-react/icons/eye-off';
import { normalizeAddress } from '#domain/account/account.ts';
import { IconButton, Button } from '../button.tsx';
import styles from './form.module.css';
import type { Outcome } from '#client/lib/hooks/use-submit.ts';
import { Notice } from '../notice.tsx';

type FieldProps = ComponentProps<'input'> & {
  label: string;
  hint?: ReactNode;
  /** Shown below the input, announced when it appears and again with the input. */
  error?: string | null;
  /** The error if the value breaks a rule of the input: `required`, `pattern` or the type `email`. */
  invalidText?: string;
  /** Rendered at the end of the input, inside its border. */
  trailing?: ReactNode;
};

/**
 * Replaces the browser's validation bubble: `problem` is the text to show at the field until it is edited. The first
 * invalid field of the form takes the focus.
 */
export function useInvalidText(text: string) {
  const [problem, setProblem] = useState<string | null>(null);
  return {
    problem,
    onInvalid: (event: InvalidEvent<HTMLInputElement | HTMLSelectElement>): void => {
      event.preventDefault();
      setProblem(text);
      const field = event.currentTarget;
      if (field.form?.querySelector(':is(input, select):invalid') === field) field.focus();
    },
    clearProblem: (): void => setProblem(null),
  };
}

/**
 * Browsers reject an address with a pasted invisible character without saying why, and some reject international
 * domains. Runs before the browser validates the form.
 */
function tidyAddress({ currentTarget: field }: SyntheticEvent<HTMLInputElement>): void {
  const address = field.type === 'email' ? normalizeAddress(field.value) : field.value;
  if (address !== field.value) field.value = address;
}

export function Field({
  label,
  hint,
  error: givenError,
  invalidText = 'Fill in this field',
  trailing,
  id,
  className,
  onInput,
  onBlur,
  onKeyDown,
  ...input
}: FieldProps) {
  const { problem, onInvalid, clearProblem } = useInvalidText(invalidText);
  const error = problem ?? givenError;
  const ownId = useId();
  const inputId = id ?? ownId;
  const hintId = `${inputId}-hint`;
  const errorId = `${inputId}-error`;
  const describedBy = [hint ? hintId : null, error ? errorId : null].filter(Boolean).join(' ');

  return (
    <div className={[styles.field, className].filter(Boolean).join(' ')}>
      <label className={styles.label} htmlFor={inputId}>
        {label}
      </label>
      <div className={styles.box}>
        <input
          {...input}
          id={inputId}
          className={styles.input}
          onInvalid={onInvalid}
          onBlur={(event) => {
            tidyAddress(event);
            onBlur?.(event);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') tidyAddress(event);
            onKeyDown?.(event);
          }}
          onInput={(event) => {
            clearProblem();
            onInput?.(event);
          }}
          data-trailing={trailing !== undefined || undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy || undefined}
        />
        {trailing}
      </div>
      {hint && (
        <p id={hintId} className={styles.hint}>
          {hint}
        </p>
      )}
      {error && <FieldError id={errorId}>{error}</FieldError>}
    </div>
  );
}

export function FieldError({ id, children }: { id: string; children: string }) {
  return (
    <p id={id} className={styles.error} role="alert">
      {children}
    </p>
  );
}

type PasswordFieldProps = Omit<ComponentProps<typeof Field>, 'type' | 'trailing'> & {
  autoComplete: 'current-password' | 'new-password';
};

/** A password input with a button that shows or hides the password. */
export function PasswordField({ label, ...rest }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  // Without the word "password": voice control and tests that look for the field's label must not find this button.
  const name = isShown ? 'Hide what you typed' : 'Show what you typed';
  return (
    <Field
      label={label}
      {...rest}
      type={isShown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      trailing={
        <IconButton label={name} className={styles.toggle} aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </IconButton>
      }
    />
  );
}

export type FormLook = {
  /**
   * `column`: within a section or a panel. `dialog`: as wide as its dialog. `page`: the form of a sign-in page. `step`:
   * the second step of a sign-in.
   */
  layout?: 'column' | 'dialog' | 'page' | 'step' | undefined;
  gap?: 's2' | 's3' | 's4' | undefined;
};

type FormProps = Omit<ComponentProps<'form'>, 'className'> &
  FormLook & {
    /** The outcome that `useSubmit` returns. The field shows an outcome about one field. */
    outcome?: Outcome;
  };

/**
 * Threat: where the scripts are blocked or have not loaded, the browser itself sends the form. By GET, its default, a
 * password would be in the address, the history and the logs on the way.
 */
export const Form = ({ layout = 'column', gap, outcome = null, children, ...rest }: FormProps) => (
  <form method="post" {...rest} className={styles.form} data-layout={layout} data-gap={gap}>
    {outcome && outcome.field === undefined && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
    {children}
  </form>
);

type SubmitButtonProps = Omit<ComponentProps<typeof Button>, 'type' | 'className'> & Pick<FormLook, 'layout'>;

export const SubmitButton = ({ layout, ...rest }: SubmitButtonProps) => (
  <Button tone="primary" {...rest} type="submit" className={styles.submit} data-layout={layout} />
);
