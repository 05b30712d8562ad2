/** Hands the editor that ran before React (early-editor.ts) over to React's journal. */
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { EditorCallbacks, JournalEditorHandle } from '#client/editor/create-editor.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { DaySavers } from '#client/sync/day-savers.ts';
import type { EarlyLog, EarlyPage } from '#client/lib/boot/early-page.ts';
import type { EarlyEditor } from './early-editor.ts';

/** The page that was shown before React ran (lib/boot/early-page.ts), with a running editor. */
export type EditableEarlyPage = EarlyPage & { editor: EarlyEditor; log: EarlyLog };

/** Null unless an editor ran before React on this day of this user. */
export function useEarlyPage(userId: string, date: Day): EditableEarlyPage | null {
  const [early] = useState(() => {
    const page = globalThis.hustleForgeEarlyPage;
    return page?.editor && page.userId === userId && page.date === date ? (page as EditableEarlyPage) : null;
  });
  return early;
}

/** True while an input method composes a word in the early editor: moving the editor would break the composition. */
export function useIsComposing(early: EditableEarlyPage | null): boolean {
  const [isComposing, setComposing] = useState(() => early?.editor.isComposing() === true);
  useEffect(() => {
    if (!isComposing) return;
    const onEnd = (): void => setComposing(false);
    addEventListener('compositionend', onEnd);
    return () => removeEventListener('compositionend', onEnd);
  }, [isComposing]);
  return isComposing;
}

/**
 * Moves the early editor into the element. Returns null if there is no early editor. Also returns null if another tab
 * or another page's draft has changed the saver's text: the early text then stays a draft, which the saver merges.
 */
export function adoptEditor(
  early: EditableEarlyPage | null,
  saver: DaySaver,
  savers: DaySavers,
  element: HTMLElement,
  callbacks: EditorCallbacks,
): JournalEditorHandle | null {
  const shown = globalThis.hustleForgeEarlyPage;
  if (!shown) return null;
  if (shown === early && early.editor.isKnown(saver.text())) return early.editor.moveTo(element, callbacks);
  shown.dismiss();
  void savers.recover(saver.date);
  return null;
}
