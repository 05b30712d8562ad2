/** Four predefined logs for a past day (docs/specification/screens.md 6). */
import { entryText, isEmptyLog } from '#domain/log/entry-text.ts';
import { QUICK_ENTRIES, matchQuickEntry } from '#domain/log/quick-entries.ts';
import styles from './quick-options.module.css';
import type { StoredLog } from '#client/sync/save-requests.ts';

type QuickOptionsProps = { stored: StoredLog | null; onChoose: (text: string) => void };

/** Shown while the day is empty or its log is one of the four texts, so that the user can choose another. */
export function QuickOptions({ stored, onChoose }: QuickOptionsProps) {
  const html = stored?.html ?? '';
  const selected = matchQuickEntry(entryText(html));
  if (!isEmptyLog(html) && selected === null) return null;
  return (
    <section className={styles.options} aria-labelledby="quick-options">
      <h2 id="quick-options" className={styles.title}>
        Quick options for this day:
      </h2>
      <p className={styles.hint}>You can type your own entry above or select a quick option below</p>
      <ul className={styles.list}>
        {QUICK_ENTRIES.map(({ emoji, text }) => (
          <li key={text}>
            <button
              type="button"
              className={styles.option}
              aria-pressed={text === selected}
              onClick={() => onChoose(text)}
            >
              <span aria-hidden="true">{emoji}</span> {text}
            </button>
          </li>
        ))}
      </ul>
      <p className={styles.selected} role="status">
        {selected !== null && `Currently selected: ${selected}`}
      </p>
    </section>
  );
}
