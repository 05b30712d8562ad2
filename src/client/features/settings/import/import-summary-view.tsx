/** What an import has done: every day that it touched can be opened from here, and undone there by hand. */
import { dateLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { counted } from '../pluralize.ts';
import type { ImportSummary } from './import-run.ts';
import { RefusedDays } from './refused-days.tsx';
import styles from '../settings.module.css';

export function ImportSummaryView({ summary, onClose }: { summary: ImportSummary; onClose: () => void }) {
  const { added, feedback, replaced, both, changed, refused } = summary;
  const written = added.length + feedback.length + replaced.length + both.length;
  return (
    <div className={styles.plan}>
      <Notice kind="success">Done: {counted(written, 'day')} written. Nothing else was touched.</Notice>
      <Days days={added} what="added" />
      <Days days={feedback} what="given their feedback back" />
      <Days days={replaced} what="replaced by the file’s version" />
      <Days days={both} what="with both versions, the file’s below yours" />
      <Days days={changed} what="left alone: they were changed on another device meanwhile" />
      <RefusedDays refused={refused} />
      <Button onClick={onClose}>Close</Button>
    </div>
  );
}

function Days({ days, what }: { days: readonly Day[]; what: string }) {
  if (days.length === 0) return null;
  return (
    <details className={styles.details}>
      <summary>
        {counted(days.length, 'day')} {what}
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
