/** The keys of the editor, for the tooltips of the toolbar and the list of shortcuts in the menu. */
import { ALT_KEYS, isApple } from '#client/lib/keys.ts';

const MOD = isApple ? '⌘' : 'Ctrl';
const ALT = isApple ? '⌥' : 'Alt';
const SHIFT = isApple ? '⇧' : 'Shift';

export type Shortcut = { keys: readonly string[]; does: string };

const HEADING_LEVELS = '1–3';

export const FORMATTING: readonly Shortcut[] = [
  { keys: [MOD, 'B'], does: 'Bold' },
  { keys: [MOD, 'I'], does: 'Italic' },
  { keys: [MOD, 'U'], does: 'Underline' },
  { keys: [MOD, SHIFT, 'S'], does: 'Strikethrough' },
  { keys: [MOD, 'E'], does: 'Code' },
  { keys: [MOD, ALT, HEADING_LEVELS], does: 'Heading' },
  { keys: [MOD, SHIFT, '7'], does: 'Numbered list' },
  { keys: [MOD, SHIFT, '8'], does: 'Bullet list' },
  { keys: ['Tab'], does: 'Indent an item' },
  { keys: [SHIFT, 'Tab'], does: 'Outdent an item' },
  { keys: [...ALT_KEYS, '↑ ↓'], does: 'Move an item' },
  { keys: [MOD, SHIFT, 'B'], does: 'Quote' },
  { keys: [MOD, ALT, 'C'], does: 'Code block' },
  { keys: [MOD, 'Z'], does: 'Undo' },
  { keys: [MOD, SHIFT, 'Z'], does: 'Redo' },
  { keys: [MOD, SHIFT, 'V'], does: 'Paste as plain text' },
  { keys: [ALT, isApple ? 'Return' : 'Enter'], does: 'Open the link at the caret' },
  { keys: [ALT, 'F10'], does: 'Formatting toolbar' },
];

/** The tooltip of a button, for example "Bold (Ctrl+B)". A heading's button has its level at the end of its label. */
export function withFormattingKey(label: string): string {
  const level = /^Heading (\d)$/.exec(label)?.[1];
  const shortcut = FORMATTING.find(({ does }) => does === (level ? 'Heading' : label));
  if (!shortcut) return label;
  return `${label} (${shortcut.keys.map((key) => (key === HEADING_LEVELS ? level : key)).join('+')})`;
}
