/** Parts of the list of documents and of a document. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ArrowLeft } from 'lucide-react';
import { isDay, type Day } from '#domain/day/day.ts';
import { Field } from '#client/ui/form/field.tsx';
import styles from './wins.module.css';

/** The link back to the screen that this one belongs to. */
export const BackTo = ({ path, children }: { path: string; children: ReactNode }) => (
  <Link to={path}>
    <ArrowLeft size={18} strokeWidth={1.6} aria-hidden /> {children}
  </Link>
);

type Days = { from: Day; to: Day };

export function PeriodFields({ days, onChange }: { days: Days; onChange: (days: Days) => void }) {
  const fields = [
    { name: 'from', label: 'First day' },
    { name: 'to', label: 'Last day' },
  ] as const;
  return (
    <div className={styles.dates}>
      {fields.map(({ name, label }) => (
        <Field
          key={name}
          label={label}
          type="date"
          required
          value={days[name]}
          onChange={({ currentTarget: { value } }) => isDay(value) && onChange({ ...days, [name]: value })}
        />
      ))}
    </div>
  );
}
