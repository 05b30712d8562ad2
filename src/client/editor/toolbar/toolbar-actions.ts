/** The actions of the toolbar: the five marks of the selection first, then the block formats of a line. */
import type { Editor } from '@tiptap/core';
import {
  Bold,
  Code,
  Heading1,
  Heading2,
  Heading3,
  Italic,
  List,
  ListOrdered,
  SquareCode,
  Strikethrough,
  TextQuote,
  Underline,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { toggleBlockFormat } from '../split-list.ts';

export type ToolbarAction = {
  name: string;
  label: string;
  icon: LucideIcon;
  isActive: (editor: Editor) => boolean;
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
