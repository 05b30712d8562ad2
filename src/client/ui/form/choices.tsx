/** A question with a few answers. The user chooses one of them. */
import type { ReactNode } from 'react';
import styles from './choices.module.css';

type Choice<Value extends string> = {
  value: Value;
  label: ReactNode;
  /** Shown small beside the label, such as "(default)". */
  note?: string | undefined;
  /** Shown on a line of its own below the label. */
  hint?: string;
  /** Shown below the label as it is. */
  example?: ReactNode;
};

type ChoicesProps<Value extends string> = {
  legend: string;
  /** If false, the legend is for screen readers only, because the heading above says the same. */
  isLegendShown?: boolean;
  name: string;
  choices: readonly Choice<Value>[];
  chosen: Value;
  onChoose: (value: Value) => void;
  disabled?: boolean;
  /** True if the user's plan does not include this setting. */
  locked?: boolean;
};

export function Choices<Value extends string>({
  legend,
  isLegendShown = false,
  name,
  choices,
  chosen,
  onChoose,
  disabled = false,
  locked = false,
}: ChoicesProps<Value>) {
  return (
    <fieldset className={styles.choices} disabled={disabled} data-locked={locked || undefined}>
      <legend className={isLegendShown ? styles.legend : 'unseen'}>{legend}</legend>
      {choices.map(({ value, label, note, hint, example }) => (
        <label key={value} className={styles.choice}>
          <input type="radio" name={name} value={value} checked={chosen === value} onChange={() => onChoose(value)} />
          <span>
            {label}
            {note !== undefined && <span className={styles.note}> {note}</span>}
            {hint !== undefined && <span className={styles.hint}>{hint}</span>}
            {example}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

type CheckProps = {
  label: ReactNode;
  /** Shown on a line of its own below the label. */
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
};

/** A question whose answer is yes or no. */
export const Check = ({ label, hint, checked, onChange, disabled = false }: CheckProps) => (
  <label className={styles.choice} data-disabled={disabled || undefined}>
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>
      {label}
      {hint !== undefined && <span className={styles.hint}>{hint}</span>}
    </span>
  </label>
);
