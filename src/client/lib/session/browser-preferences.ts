/**
 * The preferences stored in this browser: theme, editor font, the first day of the week and the end of the day
 * (docs/specification/product.md 5).
 */
import { parseLocale } from '#domain/locale.ts';
import { DAY_ENDS, localCurrentDay, type DayEnd } from '#domain/day/current-day.ts';
import type { Day } from '#domain/day/day.ts';
import { WEEK_STARTS, type WeekStart } from '#domain/day/month.ts';
import { DAY_END_KEY, FONT_KEY, SUSPENDED_FONT_KEY, THEME_KEY, WEEK_START_KEY } from './storage-keys.ts';

export type Theme = 'light' | 'dark';
const EDITOR_FONTS = ['default', 'serif', 'monospace'] as const;
export type EditorFont = (typeof EDITOR_FONTS)[number];

/** Null also where the browser blocks storage (private windows, blocked cookies). */
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
    // The choice still applies to this page.
  }
}

function storedTheme(): Theme | null {
  const theme = read(THEME_KEY);
  return theme === 'light' || theme === 'dark' ? theme : null;
}

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

export const currentTheme = (): Theme => (document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light');

/** The values of --paper, for the browser's toolbar. */
const PAPER = { light: '#fbf8f2', dark: '#171411' } as const;

/** Sets the attribute that the design tokens depend on and the colour of the browser's toolbar. */
export function applyTheme(theme: Theme = storedTheme() ?? systemTheme()): void {
  document.documentElement.dataset['theme'] = theme;
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', PAPER[theme]);
}

export function chooseTheme(theme: Theme): void {
  write(THEME_KEY, theme);
  applyTheme(theme);
}

/**
 * Applies theme changes of the system (unless the user has chosen a theme), and theme and font changes of other tabs.
 * `onChange` is called for theme changes alone. Returns the unsubscriber.
 */
export function subscribeToTheme(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const applyChangedTheme = () => {
    applyTheme();
    onChange();
  };
  const onStorage = (event: StorageEvent) => {
    if (event.key === THEME_KEY) applyChangedTheme();
    if (event.key === FONT_KEY) applyEditorFont();
  };
  system.addEventListener('change', applyChangedTheme);
  addEventListener('storage', onStorage);
  return () => {
    system.removeEventListener('change', applyChangedTheme);
    removeEventListener('storage', onStorage);
  };
}

export const storedEditorFont = (): EditorFont => fontUnder(FONT_KEY);

function fontUnder(key: string): EditorFont {
  const font = read(key);
  return EDITOR_FONTS.find((known) => known === font) ?? 'default';
}

/** log-text.module.css reads `data-editor-font` on the root element. */
export function applyEditorFont(font: EditorFont = storedEditorFont()): void {
  document.documentElement.dataset['editorFont'] = font;
}

/**
 * Only the premium plan offers the choice of a font. The choice is suspended when the plan ends, so that the next page
 * does not start in a font that is removed a moment later, and restored when the plan starts again.
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

/** Null if the user has not chosen: weeks begin on Sunday. */
export function storedWeekStart(): WeekStart | null {
  const start = read(WEEK_START_KEY);
  return WEEK_STARTS.find((known) => known === start) ?? null;
}

export const chosenWeekStart = (): WeekStart => storedWeekStart() ?? 'Sunday';

export const chooseWeekStart = (start: WeekStart): void => write(WEEK_START_KEY, start);

/** The hour at which the user's day ends, as this browser knows it before the server answers. */
export function storedDayEnd(): DayEnd {
  const hour = read(DAY_END_KEY);
  return DAY_ENDS.find((known) => String(known) === hour) ?? 0;
}

export const storeDayEnd = (hour: DayEnd): void => write(DAY_END_KEY, String(hour));

/** The user's current day, or the one at an instant. */
export const localToday = (now = new Date()): Day => localCurrentDay(now, storedDayEnd());

/** The first day of the week in the browser's locale; null if it is not one of `WEEK_STARTS`, or unknown. */
export function localWeekStart(): WeekStart | null {
  const locale: (Intl.Locale & { getWeekInfo?: () => { firstDay: number } }) | null = parseLocale(navigator.language);
  const starts: Readonly<Record<number, WeekStart>> = { 1: 'Monday', 6: 'Saturday', 7: 'Sunday' };
  return starts[locale?.getWeekInfo?.().firstDay ?? 0] ?? null;
}
