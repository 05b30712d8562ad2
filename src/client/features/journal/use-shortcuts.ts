/**
 * The journal's keys (docs/specification/screens.md 18): Alt+arrows for days, Alt+T for today, Alt+C for the calendar,
 * Alt+M to move the log, Ctrl or Cmd+K to find.
 */
import { useEffect, useEffectEvent } from 'react';
import { DAY_KEYS, isApple, type DayAction } from '#client/lib/keys.ts';

type Shortcuts = Record<DayAction | 'find', () => void>;

/** On a Mac, Option moves the caret by words and types special letters, so the shortcuts require Control as well. */
const isDayKey = (event: KeyboardEvent): boolean =>
  event.altKey && !event.metaKey && !event.shiftKey && event.ctrlKey === isApple;

/** Ctrl+K, but Cmd+K on a Mac, where Control+K deletes to the end of the line. */
const isFindKey = (event: KeyboardEvent): boolean =>
  event.metaKey === isApple && event.ctrlKey !== isApple && !event.altKey && !event.shiftKey;

/**
 * The typed letter, because Dvorak and AZERTY place letters differently. If the key types no Latin letter (Option,
 * Cyrillic, Hebrew), the position of the key on a QWERTY keyboard.
 */
const keyOf = ({ key, code }: KeyboardEvent): string =>
  /^[a-z]$/i.test(key) ? key.toUpperCase() : code.replace('Key', '');

function actionOf(event: KeyboardEvent): keyof Shortcuts | null {
  if (keyOf(event) === 'K' && isFindKey(event)) return 'find';
  if (!isDayKey(event)) return null;
  const pressed = keyOf(event).replace('ArrowLeft', '←').replace('ArrowRight', '→');
  return (Object.keys(DAY_KEYS) as DayAction[]).find((action) => DAY_KEYS[action] === pressed) ?? null;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const action = actionOf(event);
    if (action === null || event.isComposing) return;
    // The feedback panel beside the log is a dialog that is not modal.
    const hasModal = document.querySelector('dialog:modal') !== null;
    // A repeated Ctrl+K must not open the browser's own search.
    if (!hasModal || action === 'find') event.preventDefault();
    if (!hasModal) shortcuts[action]();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
