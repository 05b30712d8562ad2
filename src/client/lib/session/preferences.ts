/** The two choices that stay in this browser: theme and editor font (docs/specification/product.md 5). */
import { FONT_KEY, SUSPENDED_FONT_KEY, THEME_KEY } from './storage-keys.ts';

export type Theme = 'light' | 'dark';
const EDITOR_FONTS = ['default', 'serif', 'monospace'] as const;
export type EditorFont = (typeof EDITOR_FONTS)[number];

/** What a browser that refuses storage (private windows, blocked cookies) answers: nothing kept. */
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice still holds until the page is left.
  }
}

function storedTheme(): Theme | null {
  const theme = read(THEME_KEY);
  return theme === 'light' || theme === 'dark' ? theme : null;
}

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light');

/** Values of --paper, which the browser's own bars take on. */
const PAPER = { light: '#fbf8f2', dark: '#171411' } as const;

/** Puts the theme on the page: the attribute that the tokens hang on, and the colour of the browser's bars. */
export function applyTheme(theme: Theme = storedTheme() ?? systemTheme()): void {
  document.documentElement.dataset['theme'] = theme;
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', PAPER[theme]);
}

export function chooseTheme(theme: Theme): void {
  write(THEME_KEY, theme);
  applyTheme(theme);
}

/** Follows the system while nothing was chosen here, and the other tabs always. Answers how to stop. */
export function subscribeToTheme(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => {
    applyTheme();
    onChange();
  };
  const fromOtherTab = (event: StorageEvent) => {
    if (event.key === THEME_KEY) follow();
    if (event.key === FONT_KEY) applyEditorFont();
  };
  system.addEventListener('change', follow);
  addEventListener('storage', fromOtherTab);
  return () => {
    system.removeEventListener('change', follow);
    removeEventListener('storage', fromOtherTab);
  };
}

export const storedEditorFont = (): EditorFont => fontUnder(FONT_KEY);

function fontUnder(key: string): EditorFont {
  const font = read(key);
  return EDITOR_FONTS.find((known) => known === font) ?? 'default';
}

/** The editor's style sheet reads `data-editor-font` on the root element. */
export function applyEditorFont(font: EditorFont = storedEditorFont()): void {
  document.documentElement.dataset['editorFont'] = font;
}

/**
 * The font is a Closer's choice. When the plan ends it is put aside, so that no page begins in a font that would be taken
 * away a moment later; when the plan begins again it is taken up.
 */
export function syncEditorFontWithPlan(premium: boolean): void {
  const [from, to] = premium ? [SUSPENDED_FONT_KEY, FONT_KEY] : [FONT_KEY, SUSPENDED_FONT_KEY];
  const font = fontUnder(from);
  if (font !== 'default') {
    write(to, font);
    write(from, 'default');
  }
  applyEditorFont(premium ? storedEditorFont() : 'default');
}

export function chooseEditorFont(font: EditorFont): void {
  write(FONT_KEY, font);
  applyEditorFont(font);
}
