/** Parts of the editor that the first keystroke does not need, in a separate chunk. */
import { closeHistory } from '@tiptap/pm/history';
import { keydownHandler } from '@tiptap/pm/keymap';
import type { Schema } from '@tiptap/pm/model';
import { Plugin, type Command } from '@tiptap/pm/state';
import { EDITOR_KEYS } from './editor-keys.ts';
import { linkPlugin } from './link-plugin.ts';
import { pasteClipboard, pastePlugin } from './paste.ts';
import { replaceBlocks } from './replace-blocks.ts';

/**
 * Moves the items of the selection, with their nested items, past the item above or below them in their list. Handles the
 * key even where no item can move, or the caret would jump.
 */
const moveItem =
  (step: -1 | 1): Command =>
  ({ selection, tr }, dispatch) => {
    const range = selection.$from.blockRange(selection.$to, ({ firstChild }) => firstChild?.type.name === 'listItem');
    if (!range) return false;
    const neighbour = range.parent.maybeChild(step < 0 ? range.startIndex - 1 : range.endIndex);
    if (!neighbour) return true;
    // Moves the neighbour instead of the items, so that the selection stays in them.
    const { nodeSize } = neighbour;
    const at = step < 0 ? range.start - nodeSize : range.end;
    tr.delete(at, at + nodeSize).insert(step < 0 ? range.end - nodeSize : range.start, neighbour);
    dispatch?.(closeHistory(tr).scrollIntoView());
    return true;
  };

const [UP, DOWN] = EDITOR_KEYS.moveItem.bind;

const moveItemPlugin = (): Plugin =>
  new Plugin({
    props: { handleKeyDown: keydownHandler({ [UP]: moveItem(-1), [DOWN]: moveItem(1) }) },
  });

export const createDeferredPlugins = (schema: Schema): Plugin[] => [
  pastePlugin(schema),
  linkPlugin(),
  moveItemPlugin(),
];

export { pasteClipboard, replaceBlocks };
export { Toolbar } from './toolbar/toolbar.tsx';
