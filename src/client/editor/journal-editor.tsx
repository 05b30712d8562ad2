/** The editor as a React component. A chunk of its own: the day's text is painted before it arrives. */
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { createJournalEditor } from './create-editor.ts';
import type { JournalEditorHandle } from './create-editor.ts';
import { KEYBOARD_HELP } from './keyboard-exit.ts';
import styles from './stored/log-text.module.css';
import { Toolbar } from './toolbar/toolbar.tsx';

type JournalEditorProps = {
  /** The text to begin with. Later values are not looked at: give each day an editor of its own with `key`. */
  html: string;
  label: string;
  /** What an empty log asks. */
  placeholder: string;
  /** Asked when the editor is on the page: while it is drawn, the editor of the day before it still has the focus. */
  mayTakeFocus: () => boolean;
  onEdit: () => void;
  /** The editor can be written in. Answers what to do when it goes. */
  onOpen: (handle: JournalEditorHandle) => () => void;
  /** The text holds something that the editor would lose. Nothing was changed. */
  onUnreadable: () => void;
};

export function JournalEditor(props: JournalEditorProps) {
  const element = useRef<HTMLDivElement>(null);
  const helpId = useId();
  const [handle, setHandle] = useState<JournalEditorHandle | null>(null);

  const open = useEffectEvent(() => {
    const { html, label, mayTakeFocus } = props;
    return createJournalEditor({
      element: element.current!,
      html,
      label,
      describedBy: helpId,
      className: styles.log!,
      placeholder: () => readPlaceholder(),
      autofocus: mayTakeFocus(),
      onEdit: () => edited(),
    });
  });
  const { placeholder } = props;
  const readPlaceholder = useEffectEvent(() => placeholder);
  const edited = useEffectEvent(() => props.onEdit());
  const opened = useEffectEvent((made: JournalEditorHandle) => props.onOpen(made));
  const unreadable = useEffectEvent(() => props.onUnreadable());

  useLayoutEffect(() => {
    const made = open();
    if (!made) return unreadable();
    const close = opened(made);
    setHandle(made);
    return () => {
      // The last text is read before the editor is taken down.
      close();
      setHandle(null);
      made.editor.destroy();
    };
  }, []);

  // The question changes at midnight, and is drawn anew with a transaction.
  useEffect(() => {
    if (handle) handle.editor.view.dispatch(handle.editor.state.tr.setMeta('placeholder', placeholder));
  }, [handle, placeholder]);

  return (
    <>
      <div ref={element} />
      {handle && <Toolbar editor={handle.editor} />}
      <p id={helpId} hidden>
        {KEYBOARD_HELP}
      </p>
    </>
  );
}
