/** The keys of this device, and those of the journal with Alt for the listener, the tooltips and the menu. */
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

/** For example "Previous day (Alt+←)". */
export const withDayKey = (action: DayAction): string =>
  `${DAY_KEYS[action].label} (${[...ALT_KEYS, DAY_KEYS[action].key].join('+')})`;

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
  // The browser itself submits a form.
  if (event.key === 'Enter') event.preventDefault();
}
