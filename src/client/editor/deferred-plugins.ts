/** Editor plugins that the first keystroke does not need, in a separate chunk. */
import type { Plugin } from '@tiptap/pm/state';
import { linkPlugin } from './links/link-plugin.ts';
import { pastePlugin, pasteText } from './paste/paste.ts';

export const createDeferredPlugins = (): Plugin[] => [pastePlugin(), linkPlugin()];

export { pasteText };
