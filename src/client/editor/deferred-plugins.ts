/** The toolbar and the plugins for pasting and links, in a separate chunk: the first keystroke does not need them. */
import type { Plugin } from '@tiptap/pm/state';
import { linkPlugin } from './links/link-plugin.ts';
import { pastePlugin, pasteText } from './paste/paste.ts';

export const createDeferredPlugins = (): Plugin[] => [pastePlugin(), linkPlugin()];

export { pasteText };
export { Toolbar } from './toolbar/toolbar.tsx';
