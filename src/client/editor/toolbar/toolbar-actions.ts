/** The actions of the toolbar: marks of the selection, block formats of a line, and what a phone has no key for. */
import type { Editor } from '@tiptap/core';
import { redoDepth, undoDepth } from '@tiptap/pm/history';
import { liftListItem, sinkListItem } from '@tiptap/pm/schema-list';
import {
  Bold,
  Code,
  Heading1,
  Heading2,
  Heading3,
  Italic,
  List,
  ListIndentDecrease,
  ListIndentIncrease,
  ListOrdered,
  Redo2,
  SquareCode,
  Strikethrough,
  TextQuote,
  Underline,
  Undo2,
  type LucideIcon,
} from 'lucide-react';
import { toggleBlockFormat } from '../split-list.ts';

export type ToolbarAction = {
  name: string;
  label: string;
  icon: LucideIcon;
  /** Not set for a button that is never pressed. */
  isActive?: (editor: Editor) => boolean;
  /** Not set for a button that always works. */
  isEnabled?: (editor: Editor) => boolean;
  run: (editor: Editor) => void;
};

const mark = (
  name: 'bold' | 'italic' | 'underline' | 'strike' | 'code',
  label: string,
  icon: LucideIcon,
): ToolbarAction => ({
  name,
  label,
  icon,
  isActive: (editor) => editor.isActive(name),
  run: (editor) => void editor.commands.toggleMark(name),
});

const heading = (level: 1 | 2 | 3, icon: LucideIcon): ToolbarAction => ({
  name: `heading${level}`,
  label: `Heading ${level}`,
  icon,
  isActive: (editor) => editor.isActive('heading', { level }),
  run: (editor) => void toggleBlockFormat(editor, 'heading', { level }),
});

export const MARK_ACTIONS: readonly ToolbarAction[] = [
  mark('bold', 'Bold', Bold),
  mark('italic', 'Italic', Italic),
  mark('underline', 'Underline', Underline),
  mark('strike', 'Strikethrough', Strikethrough),
  mark('code', 'Code', Code),
];

export const BLOCK_ACTIONS: readonly ToolbarAction[] = [
  {
    name: 'orderedList',
    label: 'Numbered list',
    icon: ListOrdered,
    isActive: (editor) => editor.isActive('orderedList'),
    run: (editor) => void editor.commands.toggleOrderedList(),
  },
  {
    name: 'bulletList',
    label: 'Bullet list',
    icon: List,
    isActive: (editor) => editor.isActive('bulletList'),
    run: (editor) => void editor.commands.toggleBulletList(),
  },
  heading(1, Heading1),
  heading(2, Heading2),
  heading(3, Heading3),
  {
    name: 'blockquote',
    label: 'Quote',
    icon: TextQuote,
    isActive: (editor) => editor.isActive('blockquote'),
    run: (editor) => void toggleBlockFormat(editor, 'blockquote'),
  },
  {
    name: 'codeBlock',
    label: 'Code block',
    icon: SquareCode,
    isActive: (editor) => editor.isActive('codeBlock'),
    run: (editor) => void toggleBlockFormat(editor, 'codeBlock'),
  },
];

/** For touch screens, whose keyboard has neither Tab nor Ctrl. */
const TOUCH_ACTIONS: readonly ToolbarAction[] = [
  {
    name: 'indent',
    label: 'Indent',
    icon: ListIndentIncrease,
    isEnabled: ({ schema, state }) => sinkListItem(schema.nodes['listItem']!)(state),
    run: (editor) => void editor.commands.sinkListItem('listItem'),
  },
  {
    name: 'outdent',
    label: 'Outdent',
    icon: ListIndentDecrease,
    isEnabled: ({ schema, state }) => liftListItem(schema.nodes['listItem']!)(state),
    run: (editor) => void editor.commands.liftListItem('listItem'),
  },
  {
    name: 'undo',
    label: 'Undo',
    icon: Undo2,
    isEnabled: ({ state }) => undoDepth(state) > 0,
    run: (editor) => void editor.commands.undo(),
  },
  {
    name: 'redo',
    label: 'Redo',
    icon: Redo2,
    isEnabled: ({ state }) => redoDepth(state) > 0,
    run: (editor) => void editor.commands.redo(),
  },
];

/** The most used first: a narrow screen shows eight and scrolls to the others. */
export const TOUCH_BAR: readonly ToolbarAction[] = [...TOUCH_ACTIONS, ...MARK_ACTIONS, ...BLOCK_ACTIONS];
