/** The list of keyboard shortcuts in the menu. */
import { isApple } from '#client/lib/is-apple.ts';
import styles from './sidebar.module.css';

export const FIND_KEYS = [isApple ? '⌘' : 'Ctrl', 'K'] as const;
/** Control and Option on a Mac, where Option alone moves the caret or types special characters. */
const ALT_KEYS = isApple ? ['⌃', '⌥'] : ['Alt'];

const MOD = isApple ? '⌘' : 'Ctrl';
const ALT = isApple ? '⌥' : 'Alt';
const SHIFT = isApple ? '⇧' : 'Shift';

type Shortcut = { keys: readonly string[]; does: string };
const KEYS: readonly Shortcut[] = [
  { keys: FIND_KEYS, does: 'Find' },
  { keys: [...ALT_KEYS, '←'], does: 'Previous day' },
  { keys: [...ALT_KEYS, '→'], does: 'Next day' },
  { keys: [...ALT_KEYS, 'T'], does: 'Today' },
  { keys: [...ALT_KEYS, 'C'], does: 'Calendar' },
  { keys: [...ALT_KEYS, 'M'], does: 'Move this log' },
  { keys: ['?'], does: 'Keyboard shortcuts' },
];
const FORMATTING: readonly Shortcut[] = [
  { keys: [MOD, 'B'], does: 'Bold' },
  { keys: [MOD, 'I'], does: 'Italic' },
  { keys: [MOD, 'U'], does: 'Underline' },
  { keys: [MOD, SHIFT, 'S'], does: 'Strikethrough' },
  { keys: [MOD, 'E'], does: 'Code' },
  { keys: [MOD, ALT, '1–3'], does: 'Heading' },
  { keys: [MOD, SHIFT, '7'], does: 'Numbered list' },
  { keys: [MOD, SHIFT, '8'], does: 'Bullet list' },
  { keys: ['Tab'], does: 'Indent an item' },
  { keys: [SHIFT, 'Tab'], does: 'Outdent an item' },
  { keys: [...ALT_KEYS, '↑'], does: 'Move an item up' },
  { keys: [...ALT_KEYS, '↓'], does: 'Move an item down' },
  { keys: [MOD, SHIFT, 'B'], does: 'Quote' },
  { keys: [MOD, ALT, 'C'], does: 'Code block' },
  { keys: [MOD, 'Z'], does: 'Undo' },
  { keys: [MOD, SHIFT, 'Z'], does: 'Redo' },
  { keys: [MOD, SHIFT, 'V'], does: 'Paste as plain text' },
  { keys: [ALT, isApple ? 'Return' : 'Enter'], does: 'Open the link at the caret' },
  { keys: [ALT, 'F10'], does: 'Formatting toolbar' },
];

/** The list opens at the end of the menu, mostly below the fold of a small window. */
const scrollIntoView = (list: HTMLElement | null): void => list?.scrollIntoView({ block: 'nearest' });

export function Shortcuts() {
  return (
    <section ref={scrollIntoView} className={styles.shortcuts} aria-label="Keyboard shortcuts">
      <ShortcutList of={KEYS} />
      <h3>Formatting</h3>
      <ShortcutList of={FORMATTING} />
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
