/** The days of a file that are left out, each with its reason. */
import { REFUSALS } from '#domain/export/exported-entry.ts';
import type { RefusedDay } from '#domain/export/import-plan.ts';
import { counted } from '../pluralize.ts';
import styles from '../settings.module.css';

const LISTED = 50;

export function RefusedDays({ refused }: { refused: readonly RefusedDay[] }) {
  if (refused.length === 0) return null;
  return (
    <details className={styles.details} open={refused.length <= 5}>
      <summary>{counted(refused.length, 'day')} left out</summary>
      <ul>
        {refused.slice(0, LISTED).map(({ label, reason }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a file may name one day any number of times
          <li key={index}>
            {label === '' ? 'A day without a date' : label}: {REFUSALS[reason]}
          </li>
        ))}
        {refused.length > LISTED && <li>and {(refused.length - LISTED).toLocaleString('en-US')} more</li>}
      </ul>
    </details>
  );
}
