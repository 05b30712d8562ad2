/** The journal's keys (look.md): Alt+arrows for days, Alt+T for today, Ctrl or Cmd+K for the calendar. */
import { useEffect, useEffectEvent } from 'react';

type Shortcuts = { previous: () => void; next: () => void; today: () => void; calendar: () => void };

const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

/** On a Mac, Option moves the caret by words and types special letters: there the keys need Control as well. */
const isDayKey = (event: KeyboardEvent): boolean =>
  event.altKey && !event.metaKey && !event.shiftKey && event.ctrlKey === isApple();

const DAY_KEYS: Record<string, keyof Shortcuts> = { ArrowLeft: 'previous', ArrowRight: 'next', KeyT: 'today' };

function actionOf(event: KeyboardEvent): keyof Shortcuts | null {
  // Where the key is, not what it types: layouts differ, and AltGr types letters.
  if (event.code === 'KeyK' && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) return 'calendar';
  if (!isDayKey(event)) return null;
  return DAY_KEYS[event.code] ?? null;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const action = actionOf(event);
    if (action === null || event.isComposing || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    shortcuts[action]();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
