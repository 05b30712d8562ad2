/** The journal's keys, listed. */
import styles from './sidebar.module.css';

const COMMAND = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const KEYS = [
  { keys: ['Alt', '←'], does: 'Previous day' },
  { keys: ['Alt', '→'], does: 'Next day' },
  { keys: ['Alt', 'T'], does: 'Today' },
  { keys: [COMMAND, 'K'], does: 'Calendar' },
  { keys: ['Alt', 'F10'], does: 'Formatting' },
  { keys: ['?'], does: 'This list, in the menu' },
] as const;

export function Shortcuts() {
  return (
    <section aria-label="Keyboard shortcuts">
      <dl className={styles.keys}>
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>{does}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
