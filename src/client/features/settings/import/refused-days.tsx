/** The days of a file that cannot be imported, with reasons. */
import { REFUSALS } from '#domain/export/exported-entry.ts';
import type { RefusedDay } from '#domain/export/import-plan.ts';
import { pluralize } from '../pluralize.ts';
import styles from '../settings.module.css';

const MAX_LISTED = 50;

export function RefusedDays({ refused }: { refused: readonly RefusedDay[] }) {
  if (refused.length === 0) return null;
  return (
    <details className={styles.details} open={refused.length <= 5}>
      <summary>{pluralize(refused.length, 'day')} skipped</summary>
      <ul>
        {refused.slice(0, MAX_LISTED).map(({ label, reason }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a file may contain the same day several times
          <li key={index}>
            {label === '' ? 'A day without a date' : label}: {REFUSALS[reason]}
          </li>
        ))}
        {refused.length > MAX_LISTED && <li>and {(refused.length - MAX_LISTED).toLocaleString('en-US')} more</li>}
      </ul>
    </details>
  );
}
