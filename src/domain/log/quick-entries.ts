/** The four quick entries (docs/specification/screens.md 6). Stored without the emoji. */
export const QUICK_ENTRIES = [
  { emoji: '😴', text: 'Did nothing today' },
  { emoji: '🛋️', text: 'Had a lazy day' },
  { emoji: '🤒', text: 'I am sick' },
  { emoji: '🌀', text: 'Distracted / Procrastinated' },
] as const;

/** Longer than every quick entry. */
export const MAX_QUICK_ENTRY_LENGTH = 100;

/** The quick entry that the plain text of a log consists of, or null. */
export function matchQuickEntry(text: string): string | null {
  const trimmed = text.trim();
  return QUICK_ENTRIES.find((entry) => entry.text === trimmed)?.text ?? null;
}
