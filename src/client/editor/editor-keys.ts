/**
 * The keys of the editor: what its keymaps bind, and what tooltips, the menu and the description for screen readers
 * say. The keys of the journal around it are in `lib/keys.ts`.
 */
import { isApple } from '#client/lib/keys.ts';

type EditorKey = {
  label: string;
  /** In the notation of ProseMirror, where `Mod` is ⌘ on a Mac and Ctrl elsewhere. The first is shown. */
  bind: readonly string[];
  /** Replaces the last key of the first binding in the menu, if the action has several keys. */
  shown?: string;
};

/** Control and Option on a Mac, where Option alone moves the caret. */
const MOVE = isApple ? 'Ctrl-Alt' : 'Alt';

/** The keys of the editor, in the order of the list in the menu. */
export const EDITOR_KEYS = {
  // With Caps Lock, the key of B reports a capital letter.
  bold: { label: 'Bold', bind: ['Mod-b', 'Mod-B'] },
  italic: { label: 'Italic', bind: ['Mod-i', 'Mod-I'] },
  underline: { label: 'Underline', bind: ['Mod-u', 'Mod-U'] },
  strike: { label: 'Strikethrough', bind: ['Mod-Shift-s'] },
  code: { label: 'Code', bind: ['Mod-e'] },
  heading: { label: 'Heading', bind: ['Mod-Alt-1', 'Mod-Alt-2', 'Mod-Alt-3'], shown: '1–3' },
  orderedList: { label: 'Numbered list', bind: ['Mod-Shift-7'] },
  bulletList: { label: 'Bullet list', bind: ['Mod-Shift-8'] },
  // TipTap's list item binds Tab and Shift+Tab.
  indent: { label: 'Indent an item', bind: ['Tab'] },
  outdent: { label: 'Outdent an item', bind: ['Shift-Tab'] },
  moveItem: { label: 'Move an item', bind: [`${MOVE}-ArrowUp`, `${MOVE}-ArrowDown`], shown: '↑ ↓' },
  blockquote: { label: 'Quote', bind: ['Mod-Shift-b'] },
  codeBlock: { label: 'Code block', bind: ['Mod-Alt-c'] },
  // я is on the key of Z of a Russian keyboard.
  undo: { label: 'Undo', bind: ['Mod-z', 'Mod-я'] },
  redo: { label: 'Redo', bind: ['Mod-Shift-z', 'Mod-y', 'Mod-Shift-я'] },
  // The browser itself handles this key.
  pastePlain: { label: 'Paste as plain text', bind: ['Mod-Shift-v'] },
  openLink: { label: 'Open the link at the caret', bind: ['Alt-Enter'] },
  toolbar: { label: 'Formatting toolbar', bind: ['Alt-F10'] },
} as const satisfies Record<string, EditorKey>;

export type EditorAction = keyof typeof EDITOR_KEYS;

/** For the keymap of a plugin or an extension: every key of the action runs it. */
export const bindKeys = <Run>(action: EditorAction, run: Run): Record<string, Run> =>
  Object.fromEntries(EDITOR_KEYS[action].bind.map((key) => [key, run]));

/** True if the event is the key of `action`: for listeners outside the keymaps. */
export function isEditorKey(event: KeyboardEvent, action: 'openLink' | 'toolbar'): boolean {
  const [modifier, key] = EDITOR_KEYS[action].bind[0].split('-');
  return event.key === key && modifier === 'Alt' && event.altKey && !event.ctrlKey && !event.metaKey;
}

const NAMES: Readonly<Record<string, string>> = isApple
  ? { Mod: '⌘', Alt: '⌥', Shift: '⇧', Ctrl: '⌃', Enter: 'Return' }
  : { Mod: 'Ctrl' };

function showKeys({ bind: [first = ''], shown }: EditorKey): string[] {
  const keys = first.split('-').map((key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key));
  return shown === undefined ? keys : [...keys.slice(0, -1), shown];
}

export type Shortcut = { keys: readonly string[]; does: string };

/** The editor's shortcuts for the list in the menu. */
export const EDITOR_SHORTCUTS: readonly Shortcut[] = Object.values<EditorKey>(EDITOR_KEYS).map((key) => ({
  keys: showKeys(key),
  does: key.label,
}));

/** For example "Ctrl+B". The level of a heading chooses one of its keys. */
export function showEditorKey(action: EditorAction, level = 1): string {
  const { label, bind } = EDITOR_KEYS[action];
  return showKeys({ label, bind: [bind[level - 1]!] }).join('+');
}

/** The tooltip of a button of the toolbar, for example "Heading 2 (Ctrl+Alt+2)". `name`: `bold`, `heading2`. */
export function withEditorKey(label: string, name: string): string {
  const [, action = '', level] = /^(\D+)(\d?)$/.exec(name) ?? [];
  return action in EDITOR_KEYS ? `${label} (${showEditorKey(action as EditorAction, Number(level) || 1)})` : label;
}

/** The editor's description for screen readers. It says how to leave the editor, because Tab indents (WCAG 2.1.2). */
export const KEYBOARD_HELP = `Tab indents a list item. To leave the editor, press Escape, then Tab. ${showEditorKey('toolbar')} opens the toolbar, ${showEditorKey('openLink')} the link at the caret.`;

/** The id of the element that contains `KEYBOARD_HELP`. Unique, because the page shows one editor at a time. */
export const KEYBOARD_HELP_ID = 'editor-keys';
