/** Alt+Up and Alt+Down, with Control on a Mac, move the items of a list. */
import { closeHistory } from '@tiptap/pm/history';
import { keydownHandler } from '@tiptap/pm/keymap';
import { Plugin, type Command } from '@tiptap/pm/state';
import { EDITOR_KEYS } from './editor-keys.ts';

/**
 * Moves the items of the selection, with their nested items, past the item above or below them in their list. In a list
 * it handles the key even where no item can move, or the caret would jump.
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

export const moveItemPlugin = (): Plugin =>
  new Plugin({ props: { handleKeyDown: keydownHandler({ [UP]: moveItem(-1), [DOWN]: moveItem(1) }) } });
