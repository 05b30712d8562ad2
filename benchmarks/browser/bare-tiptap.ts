/** The baseline of `editable.ts`: an editor with the product's extensions on an otherwise empty page. */
import { Editor } from '@tiptap/core';
import { journalExtensions } from '#client/editor/extensions.ts';

const editor = new Editor({
  element: null,
  extensions: journalExtensions(),
  content: '<ol><li><p>One thing done</p></li></ol>',
  injectCSS: false,
});
editor.mount(document.body);
