/** A native select with a label, for long lists. */
import { ChevronDown } from 'lucide-react';
import { useId } from 'react';
import type { ComponentProps } from 'react';
import styles from './field.module.css';

export function SelectField({ label, children, ...select }: ComponentProps<'select'> & { label: string }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <div className={styles.box}>
        <select {...select} id={id} className={`${styles.input} ${styles.select}`}>
          {children}
        </select>
        <ChevronDown className={styles.chevron} aria-hidden />
      </div>
    </div>
  );
}
