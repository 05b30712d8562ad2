/** The keys of this device, and those of the journal with Alt for the listener, the tooltips and the menu. */

/** True on a Mac, an iPhone or an iPad, whose shortcuts use ⌘, ⌥ and ⌃ instead of Ctrl and Alt. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Control and Option on a Mac, where Option alone moves the caret or types special characters. */
export const ALT_KEYS = isApple ? ['⌃', '⌥'] : ['Alt'];

export const DAY_KEYS = { previous: '←', next: '→', today: 'T', calendar: 'C', move: 'M' } as const;

export type DayAction = keyof typeof DAY_KEYS;

/** For example "Previous day (Alt+←)". */
export const withDayKey = (label: string, action: DayAction): string =>
  `${label} (${[...ALT_KEYS, DAY_KEYS[action]].join('+')})`;
