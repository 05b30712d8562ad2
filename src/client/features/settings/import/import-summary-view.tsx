/** The result of an import, with links to every affected day. */
import { dateLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { pluralize } from '../pluralize.ts';
import type { ImportSummary } from './import-run.ts';
import { RefusedDays } from './refused-days.tsx';
import styles from '../settings.module.css';

export function ImportSummaryView({ summary, onClose }: { summary: ImportSummary; onClose: () => void }) {
  const { added, feedback, replaced, both, changed, refused } = summary;
  const written = added.length + feedback.length + replaced.length + both.length;
  return (
    <div className={styles.plan}>
      <Notice kind="success">Imported {pluralize(written, 'day')}.</Notice>
      <Days days={added} label="added" />
      <Days days={feedback} label="with feedback added" />
      <Days days={replaced} label="replaced by the file’s version" />
      <Days days={both} label="with both versions, the file’s below yours" />
      <Days days={changed} label="skipped, because they changed on another device" />
      <RefusedDays refused={refused} />
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}

function Days({ days, label }: { days: readonly Day[]; label: string }) {
  if (days.length === 0) return null;
  return (
    <details className={styles.details}>
      <summary>
        {pluralize(days.length, 'day')} {label}
      </summary>
      <ul className={styles.days}>
        {days.map((date) => (
          <li key={date}>
            <a href={`/journal?date=${date}`}>{dateLabel(date)}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}
