/** Tab indents list items, so Escape and then Tab leaves the editor (WCAG 2.1.2). The editor's description says so. */
import { Extension } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';

export const keyboardExit = Extension.create({
  name: 'keyboardExit',
  // Above the default of 100: handles Tab before the list extension, which would indent the item.
  priority: 1_000,

  addProseMirrorPlugins() {
    let isLeaving = false;
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            /** Returning true stops ProseMirror from handling the key, but not the browser's default action. */
            keydown(_view, event) {
              const wasLeaving = isLeaving;
              const isModifier = ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key);
              isLeaving = event.key === 'Escape' || (isLeaving && isModifier);
              return wasLeaving && event.key === 'Tab';
            },
          },
        },
      }),
    ];
  },
});
