/** Parts of the editor that the first keystroke does not need, in a separate chunk. */
import type { Plugin } from '@tiptap/pm/state';
import { linkPlugin } from './links/link-plugin.ts';
import { moveItemPlugin } from './move-item.ts';
import { pastePlugin, pasteText } from './paste/paste.ts';
import { replaceBlocks } from './replace-blocks.ts';

export const createDeferredPlugins = (): Plugin[] => [pastePlugin(), linkPlugin(), moveItemPlugin()];

export { pasteText, replaceBlocks };
export { Toolbar } from './toolbar/toolbar.tsx';
