/**
 * The editor of today's log, which takes keys before React runs. It stores its text as a draft under its own writer id,
 * as another page would, until the day's saver has the text. If the page ends first, the next page finds the draft.
 */
import { createJournalEditor, type EditorCallbacks, type JournalEditorHandle } from '#client/editor/create-editor.ts';
import { KEYBOARD_HELP, KEYBOARD_HELP_ID } from '#client/editor/editor-keys.ts';
import { landHeldPastes } from '#client/editor/held-pastes.ts';
import { listenForEarlyShortcut, takeEarlyShortcut } from '#client/lib/keys.ts';
import { dayQuestion } from '#domain/day/day.ts';
import type { EarlyLog, EarlyPage } from '#client/lib/boot/early-page.ts';
import { createDayDrafts, DRAFT_INTERVAL_MS } from '#client/sync/day-drafts.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import { createTabs } from '#client/sync/store/tabs.ts';

export type EarlyEditor = NonNullable<ReturnType<typeof createEarlyEditor>>;

/** Called by the boot script. */
export function startEarlyEditor(page: EarlyPage): void {
  if (page.log) page.editor = createEarlyEditor(page, page.log);
}

/** Replaces the day's inert text. Null if the editor cannot show all of it. */
function createEarlyEditor({ userId, date, text, leave }: EarlyPage, { stored }: EarlyLog) {
  const writer = crypto.randomUUID();
  const drafts = createDayDrafts(localStorage, userId, writer);
  const { html: base, id: baseId, revision: baseRevision } = stored ?? { html: '', id: undefined, revision: null };
  let draft: string | null = null;
  let draftTimer: ReturnType<typeof setTimeout> | undefined;
  let isEdited = false;
  /** Ends this writer's registration (`createTabs`), during which other tabs do not take over its drafts. */
  let leaveTabs = (): void => {};

  const storeDraft = (): void => {
    clearTimeout(draftTimer);
    draftTimer = undefined;
    if (!isEdited) return;
    draft = handle!.read();
    void drafts.store(date, { html: draft, base, baseId, baseRevision, at: Date.now(), sent: [] });
  };
  const onEdit = (): void => {
    if (!isEdited) leaveTabs = createTabs(userId, writer, () => {}).join();
    isEdited = true;
    draftTimer ??= setTimeout(storeDraft, DRAFT_INTERVAL_MS);
  };

  const place = document.createElement('div');
  const help = document.createElement('p');
  Object.assign(help, { id: KEYBOARD_HELP_ID, hidden: true, textContent: KEYBOARD_HELP });
  text.replaceWith(place, help);
  const handle = createJournalEditor({
    element: place,
    html: base,
    label: text.getAttribute('aria-label')!,
    className: text.className,
    placeholder: () => dayQuestion(date, date),
    autofocus: mayTakeFocus(),
    onEdit,
    // Never called: only a saver calls `replace`, and this editor has no saver yet.
    onUnreadable: () => {},
  });
  if (!handle) {
    place.replaceWith(text);
    return null;
  }
  addEventListener('pagehide', storeDraft);
  listenForEarlyShortcut();

  const stopDrafts = (): void => {
    clearTimeout(draftTimer);
    removeEventListener('pagehide', storeDraft);
    leaveTabs();
  };

  return {
    isComposing: handle.isComposing,

    /** Whether `html` is this editor's first text or its draft. If not, another tab or draft has changed the day. */
    isKnown: (html: string): boolean => html === base || html === draft,

    /** Moves the editor into the journal that React has rendered. `giveTo` must follow. */
    moveTo(element: HTMLElement, callbacks: EditorCallbacks): JournalEditorHandle {
      leave(() => handle.moveTo(element, callbacks));
      return handle;
    },

    /** Hands the typed text to the day's saver, which reads it from the editor: attach the editor to it first. */
    giveTo(saver: Pick<DaySaver, 'text' | 'recordEdit' | 'storeDraft'>): void {
      if (isEdited && handle.read() !== saver.text()) saver.recordEdit();
      if (saver.storeDraft()) drafts.drop(date);
      stopDrafts();
    },

    /** Destroys the editor. The typed text stays a draft. */
    close(): void {
      landHeldPastes(handle.editor.view);
      storeDraft();
      stopDrafts();
      takeEarlyShortcut();
      handle.editor.destroy();
    },
  };
}

/** True with a mouse, if no control has the focus. On a phone the focus would open the keyboard over the page. */
export function mayTakeFocus(): boolean {
  const { activeElement, body } = document;
  const isFree = activeElement === null || activeElement === body || activeElement.matches('h1[tabindex="-1"]');
  return isFree && matchMedia('(pointer: fine)').matches;
}
