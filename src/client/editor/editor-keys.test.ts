import { expect, test } from 'vitest';
import { withFormattingKey } from './editor-keys.ts';
import { BLOCK_ACTIONS, MARK_ACTIONS } from './toolbar/toolbar-actions.ts';

test('every button of the toolbar names its key', () => {
  expect([...MARK_ACTIONS, ...BLOCK_ACTIONS].map(({ label }) => withFormattingKey(label))).toEqual([
    'Bold (Ctrl+B)',
    'Italic (Ctrl+I)',
    'Underline (Ctrl+U)',
    'Strikethrough (Ctrl+Shift+S)',
    'Code (Ctrl+E)',
    'Numbered list (Ctrl+Shift+7)',
    'Bullet list (Ctrl+Shift+8)',
    'Heading 1 (Ctrl+Alt+1)',
    'Heading 2 (Ctrl+Alt+2)',
    'Heading 3 (Ctrl+Alt+3)',
    'Quote (Ctrl+Shift+B)',
    'Code block (Ctrl+Alt+C)',
  ]);
});
