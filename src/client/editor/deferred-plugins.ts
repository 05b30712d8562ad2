/** Parts of the editor that the first keystroke does not need, in a separate chunk. */
import type { Schema } from '@tiptap/pm/model';
import type { Plugin } from '@tiptap/pm/state';
import { linkPlugin } from './link-plugin.ts';
import { moveItemPlugin } from './move-item.ts';
import { loadParserFor, pasteClipboard, pastePlugin } from './paste.ts';
import { replaceBlocks } from './replace-blocks.ts';

export const createDeferredPlugins = (schema: Schema): Plugin[] => [
  pastePlugin(schema),
  linkPlugin(),
  moveItemPlugin(),
];

export { loadParserFor, pasteClipboard, replaceBlocks };
export { Toolbar } from './toolbar/toolbar.tsx';
