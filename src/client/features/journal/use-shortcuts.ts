/**
 * The journal's keys (docs/specification/screens.md 18): Alt+arrows for days, Alt+T for today, Alt+C for the calendar, Alt+M to move the log, Ctrl
 * or Cmd+K to find.
 */
import { useEffect, useEffectEvent } from 'react';

type Shortcuts = Record<'previous' | 'next' | 'today' | 'calendar' | 'move' | 'find', () => void>;

const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

/** On a Mac, Option moves the caret by words and types special letters: there the keys need Control as well. */
const isDayKey = (event: KeyboardEvent): boolean =>
  event.altKey && !event.metaKey && !event.shiftKey && event.ctrlKey === isApple();

/** On a Mac, Control+K deletes to the end of the line. */
const isFindKey = (event: KeyboardEvent): boolean =>
  event.metaKey === isApple() && event.ctrlKey !== isApple() && !event.altKey && !event.shiftKey;

const DAY_KEYS: Record<string, keyof Shortcuts> = {
  ArrowLeft: 'previous',
  ArrowRight: 'next',
  KeyT: 'today',
  KeyC: 'calendar',
  KeyM: 'move',
};

/**
 * The letter on the key, which Dvorak and AZERTY have in other places; where it types none, as with Option, in Cyrillic or
 * in Hebrew, the place that the letter has on most keyboards.
 */
const keyOf = ({ key, code }: KeyboardEvent): string => (/^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : code);

function actionOf(event: KeyboardEvent): keyof Shortcuts | null {
  if (keyOf(event) === 'KeyK' && isFindKey(event)) return 'find';
  if (!isDayKey(event)) return null;
  return DAY_KEYS[keyOf(event)] ?? null;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const action = actionOf(event);
    if (action === null || event.isComposing) return;
    const covered = document.querySelector('dialog[open]') !== null;
    // Ctrl+K again must not jump to the browser's own search.
    if (!covered || action === 'find') event.preventDefault();
    if (!covered) shortcuts[action]();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
