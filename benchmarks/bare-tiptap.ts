/** The yardstick of `editable.ts`: an editor with the product's own extensions on a page that has nothing else. */
import { Editor } from '@tiptap/core';
import { journalExtensions } from '#client/editor/extensions.ts';

const editor = new Editor({
  element: null,
  extensions: journalExtensions(),
  content: '<ol><li><p>One thing done</p></li></ol>',
  injectCSS: false,
});
editor.mount(document.body);
