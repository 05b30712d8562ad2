/** What the editor gets after its first key; a chunk of its own. */
import type { Plugin } from '@tiptap/pm/state';
import { linkPlugin } from './links/link-plugin.ts';
import { pastePlugin, pasteText } from './paste/paste.ts';

export const createDeferredPlugins = (): Plugin[] => [pastePlugin(), linkPlugin()];

export { pasteText };
