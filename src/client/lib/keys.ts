/** The journal's keyboard shortcuts, by their names on this device: for the listener, the tooltips and the menu. */
/** True on a Mac, an iPhone or an iPad, whose shortcuts use ⌘, ⌥ and ⌃ instead of Ctrl and Alt. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Control and Option on a Mac, where Option alone moves the caret or types special characters. */
export const ALT_KEYS = isApple ? ['⌃', '⌥'] : ['Alt'];

/** The keys of the journal, each with `ALT_KEYS`, in the order of the list in the menu. */
export const DAY_KEYS = {
  previous: { key: '←', label: 'Previous day' },
  next: { key: '→', label: 'Next day' },
  today: { key: 'T', label: 'Today' },
  calendar: { key: 'C', label: 'Calendar' },
  move: { key: 'M', label: 'Move this log' },
} as const;

/** Ctrl+K, but Cmd+K on a Mac, where Control+K deletes to the end of the line. */
export const FIND_KEYS = [isApple ? '⌘' : 'Ctrl', 'K'] as const;

export type DayAction = keyof typeof DAY_KEYS;
export type JournalAction = DayAction | 'find';

/** For example "Previous day (Alt+←)". */
export const withDayKey = (action: DayAction): string =>
  `${DAY_KEYS[action].label} (${[...ALT_KEYS, DAY_KEYS[action].key].join('+')})`;

/** On a Mac, Option moves the caret by words and types special letters, so the shortcuts require Control as well. */
const isDayKey = (event: KeyboardEvent): boolean =>
  event.altKey && !event.metaKey && !event.shiftKey && event.ctrlKey === isApple;

const isFindKey = (event: KeyboardEvent): boolean =>
  event.metaKey === isApple && event.ctrlKey !== isApple && !event.altKey && !event.shiftKey;

/**
 * The typed letter, because Dvorak and AZERTY place letters differently. If the key types no Latin letter (Option,
 * Cyrillic, Hebrew), the position of the key on a QWERTY keyboard.
 */
const keyOf = ({ key, code }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? key.toUpperCase() : code.replace('Key', '');

export function shortcutOf(event: KeyboardEvent): JournalAction | null {
  if (keyOf(event) === FIND_KEYS[1] && isFindKey(event)) return 'find';
  if (!isDayKey(event)) return null;
  const pressed = keyOf(event).replace('ArrowLeft', '←').replace('ArrowRight', '→');
  return (Object.keys(DAY_KEYS) as DayAction[]).find((action) => DAY_KEYS[action].key === pressed) ?? null;
}

let early: KeyboardEvent | null = null;

function rememberShortcut(event: KeyboardEvent): void {
  if (event.isComposing || shortcutOf(event) === null) return;
  event.preventDefault();
  early = event;
}

/** Remembers the last shortcut that is pressed before the journal listens. */
export const listenForEarlyShortcut = (): void => addEventListener('keydown', rememberShortcut);

/** Stops remembering, and returns the remembered shortcut; null without one. */
export function takeEarlyShortcut(): KeyboardEvent | null {
  removeEventListener('keydown', rememberShortcut);
  const taken = early;
  early = null;
  return taken;
}

/**
 * Keeps keys that an input method handles from submitting a field. Enter accepts a candidate, arrows and Escape browse
 * the candidates. Safari ends the composition before it sends the key, so only its code, 229, tells that an input
 * method had it. The editor is exempt: ProseMirror knows compositions, and must see these keys to recognise the user's
 * next Enter.
 */
export function ignoreCandidateKeys(): void {
  addEventListener('keydown', ignoreCandidateKey, { capture: true });
}

const INPUT_METHOD_KEY_CODE = 229;

function ignoreCandidateKey(event: KeyboardEvent): void {
  const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (!isField || !(event.isComposing || event.keyCode === INPUT_METHOD_KEY_CODE)) return;
  event.stopImmediatePropagation();
  // Without this, the browser itself would still submit the form.
  if (event.key === 'Enter') event.preventDefault();
}
