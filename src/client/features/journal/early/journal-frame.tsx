/**
 * The journal's page without its text. Rendered at build time (app/page-frames.tsx) into a template, which
 * `early-page.ts` shows until React has rendered the journal.
 */
import { FIRST_DAY } from '#domain/day/day.ts';
import { LogFrame } from '#client/editor/stored-log.tsx';
import { DayBar } from '../day/day-bar.tsx';
import styles from '../journal.module.css';

const ignore = (): void => {};

export function JournalFrame() {
  return (
    <div className={styles.journal}>
      <DayBar
        date={FIRST_DAY}
        today={FIRST_DAY}
        onPrevious={ignore}
        onNext={ignore}
        onToday={ignore}
        onOpen={ignore}
        onOpenFeedback={ignore}
      />
      <main className={styles.page}>
        <article className={styles.day}>
          <LogFrame />
          <div className={styles.skeleton}>
            <span />
            <span />
            <span />
          </div>
        </article>
      </main>
    </div>
  );
}
