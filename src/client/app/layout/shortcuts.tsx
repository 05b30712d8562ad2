/** The list of keyboard shortcuts in the menu. */
import { EDITOR_SHORTCUTS, type Shortcut } from '#client/editor/editor-keys.ts';
import { ALT_KEYS, DAY_KEYS, FIND_KEYS } from '#client/lib/keys.ts';
import styles from './sidebar.module.css';

const KEYS: readonly Shortcut[] = [
  { keys: FIND_KEYS, does: 'Find' },
  ...Object.values(DAY_KEYS).map(({ key, label }) => ({ keys: [...ALT_KEYS, key], does: label })),
  { keys: ['?'], does: 'Keyboard shortcuts' },
];
/** The list opens at the end of the menu, mostly below the fold of a small window. */
const scrollIntoView = (list: HTMLElement | null): void => list?.scrollIntoView({ block: 'nearest' });

export function Shortcuts() {
  return (
    <section ref={scrollIntoView} className={styles.shortcuts} aria-label="Keyboard shortcuts">
      <ShortcutList of={KEYS} />
      <h3>Formatting</h3>
      <ShortcutList of={EDITOR_SHORTCUTS} />
    </section>
  );
}

function ShortcutList({ of: shortcuts }: { of: readonly Shortcut[] }) {
  return (
    <dl className={styles.keys}>
      {shortcuts.map(({ keys, does }) => (
        <div key={does}>
          <dt>{does}</dt>
          <dd>
            <Keys of={keys} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Keys({ of: keys }: { of: readonly string[] }) {
  return keys.map((key) => (
    <kbd key={key} className={styles.key}>
      {key}
    </kbd>
  ));
}
