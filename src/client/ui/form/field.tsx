/** An input with its label, hint and error, linked for screen readers. */
import { useId } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import styles from './field.module.css';

type FieldProps = ComponentProps<'input'> & {
  label: string;
  hint?: ReactNode;
  /** Shown below the input, announced when it appears and again with the input. */
  error?: string | null;
  /** Rendered at the end of the input, inside its border. */
  trailing?: ReactNode;
};

export function Field({ label, hint, error, trailing, id, className, ...input }: FieldProps) {
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
      {error && (
        <p id={errorId} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
