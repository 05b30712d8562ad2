/** Tab indents list items, so Escape followed by Tab leaves the editor (WCAG 2.1.2; the editor's description says so). */
import { Extension } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';

export const KEYBOARD_HELP =
  'Tab indents a list item. To leave the editor, press Escape, then Tab. Alt+F10 opens the toolbar, Alt+Enter the link at the caret.';

export const keyboardExit = Extension.create({
  name: 'keyboardExit',
  // Before the list's own Tab.
  priority: 1_000,

  addProseMirrorPlugins() {
    let leaving = false;
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            /** True keeps ProseMirror from handling the key, without preventing what the browser does with it. */
            keydown(_view, event) {
              const wasLeaving = leaving;
              const isModifier = ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key);
              leaving = event.key === 'Escape' || (leaving && isModifier);
              return wasLeaving && event.key === 'Tab';
            },
          },
        },
      }),
    ];
  },
});
