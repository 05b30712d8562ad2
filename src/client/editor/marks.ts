/**
 * The marks of a log. Styles are not read: `paste-html.ts` converts them to elements, and the content security policy
 * blocks them.
 */
import { Mark, type MarkConfig } from '@tiptap/core';

/** The first element is written, all are read. */
function createMark(
  name: string,
  tags: readonly string[],
  keys: readonly string[],
  more: Partial<MarkConfig> = {},
): Mark {
  return Mark.create({
    name,
    ...more,
    parseHTML: () => tags.map((tag) => ({ tag })),
    renderHTML: () => [tags[0]!, 0],
    addKeyboardShortcuts() {
      return Object.fromEntries(keys.map((key) => [key, () => this.editor.commands.toggleMark(name)]));
    },
  });
}

/** The order is that of the elements of a text with several marks. */
export const MARKS: readonly Mark[] = [
  createMark('bold', ['strong', 'b'], ['Mod-b', 'Mod-B']),
  createMark('italic', ['em', 'i'], ['Mod-i', 'Mod-I']),
  createMark('underline', ['u'], ['Mod-u', 'Mod-U']),
  createMark('strike', ['s', 'del', 'strike'], ['Mod-Shift-s']),
  createMark('code', ['code'], ['Mod-e'], { excludes: '_', code: true, exitable: true }),
];
