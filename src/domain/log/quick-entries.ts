/** The four canned logs for a day that needs no words of its own (docs/specification/screens.md 6). Stored without the emoji. */
export const QUICK_ENTRIES = [
  { emoji: '😴', text: 'Did nothing today' },
  { emoji: '🛋️', text: 'Had a lazy day' },
  { emoji: '🤒', text: 'I am sick' },
  { emoji: '🌀', text: 'Distracted / Procrastinated' },
] as const;

/** The canned text that a day's plain text consists of, or null when somebody wrote words of their own. */
export function quickEntryIn(text: string): string | null {
  const trimmed = text.trim();
  return QUICK_ENTRIES.find((entry) => entry.text === trimmed)?.text ?? null;
}
