/** The editor as a React component, in a separate chunk: `StoredLog` shows the text until that chunk has loaded. */
import type { Editor } from '@tiptap/core';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type ComponentType } from 'react';
import { createJournalEditor, type EditorCallbacks, type JournalEditorHandle } from './create-editor.ts';
import { KEYBOARD_HELP, KEYBOARD_HELP_ID } from './editor-keys.ts';
import { landHeldPastes } from './held-pastes.ts';
import styles from './log-text.module.css';
import { loadDeferredPlugins } from './load-deferred-plugins.ts';

type JournalEditorProps = {
  /** The initial text. Later values are ignored: render each day with its own `key`. */
  html: string;
  label: string;
  /** The placeholder of an empty log. */
  placeholder: string;
  /** Moves a running editor into the element. If it returns null, this component creates a new editor. */
  adopt: (element: HTMLElement, callbacks: EditorCallbacks) => JournalEditorHandle | null;
  /** Whether the editor takes the focus. Called after mounting: until then, the previous editor has it. */
  mayTakeFocus: () => boolean;
  onEdit: () => void;
  /** Called when the editor is ready. Returns a function that runs before the editor is destroyed. */
  onOpen: (handle: JournalEditorHandle) => () => void;
  /** Called instead of `onOpen`, or later, if the text has content that the editor would drop. */
  onUnreadable: () => void;
};

export function JournalEditor(props: JournalEditorProps) {
  const element = useRef<HTMLDivElement>(null);
  const [handle, setHandle] = useState<JournalEditorHandle | null>(null);

  const open = useEffectEvent(() => {
    const { html, label, mayTakeFocus, adopt } = props;
    const callbacks: EditorCallbacks = {
      placeholder: () => readPlaceholder(),
      onEdit: () => handleEdit(),
      onUnreadable: () => handleUnreadable(),
    };
    const place = element.current!;
    const adopted = adopt(place, callbacks);
    if (adopted) return adopted;
    return createJournalEditor({
      ...callbacks,
      element: place,
      html,
      label,
      className: styles.log!,
      autofocus: mayTakeFocus(),
    });
  });
  const { placeholder } = props;
  const readPlaceholder = useEffectEvent(() => placeholder);
  const handleEdit = useEffectEvent(() => props.onEdit());
  const handleOpen = useEffectEvent((opened: JournalEditorHandle) => props.onOpen(opened));
  const handleUnreadable = useEffectEvent(() => props.onUnreadable());

  useLayoutEffect(() => {
    const opened = open();
    if (!opened) return handleUnreadable();
    const close = handleOpen(opened);
    setHandle(opened);
    return () => {
      // Both run before `destroy`, because `close` reads the last text from the editor.
      landHeldPastes(opened.editor.view);
      close();
      setHandle(null);
      opened.editor.destroy();
    };
  }, []);

  const [toolbar, setToolbar] = useState<{ View: ComponentType<{ editor: Editor }> } | null>(null);
  useEffect(() => {
    void loadDeferredPlugins().then((loaded) => setToolbar(loaded && { View: loaded.Toolbar }));
  }, []);

  // The placeholder may change, for example when a new day begins. The transaction redraws it.
  useEffect(() => {
    if (handle) handle.editor.view.dispatch(handle.editor.state.tr.setMeta('placeholder', placeholder));
  }, [handle, placeholder]);

  return (
    <>
      <div ref={element} />
      {handle && toolbar && <toolbar.View editor={handle.editor} />}
      <p id={KEYBOARD_HELP_ID} hidden>
        {KEYBOARD_HELP}
      </p>
    </>
  );
}
