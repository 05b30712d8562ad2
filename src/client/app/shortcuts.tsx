/** The journal's keys, listed. */
import styles from './sidebar.module.css';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);
export const FIND_KEYS = [isApple ? '⌘' : 'Ctrl', 'K'] as const;
/** On a Mac, Option alone moves the caret and types special letters. */
const DAY_KEYS = isApple ? ['⌃', '⌥'] : ['Alt'];

const KEYS = [
  { keys: FIND_KEYS, does: 'Find' },
  { keys: [...DAY_KEYS, '←'], does: 'Previous day' },
  { keys: [...DAY_KEYS, '→'], does: 'Next day' },
  { keys: [...DAY_KEYS, 'T'], does: 'Today' },
  { keys: [...DAY_KEYS, 'C'], does: 'Calendar' },
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
              <Keys of={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function Keys({ of: keys }: { of: readonly string[] }) {
  return keys.map((key) => (
    <kbd key={key} className={styles.key}>
      {key}
    </kbd>
  ));
}
