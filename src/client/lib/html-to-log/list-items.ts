/**
 * Lists: their numbers, and lists that are not nested HTML: levels in attributes, paragraphs of Word and PowerPoint,
 * check boxes.
 */
import type { Declarations } from './element-style.ts';
import type { ListTag } from '#domain/log/log-builder.ts';

/** `start`: the number of the next item if the HTML gives one. `step`: -1 for a list that counts down. */
export type ListContext = { element: Element; tag: ListTag; start: number | null; step: 1 | -1 };

const LISTS = new Set(['ul', 'ol', 'menu', 'dir']);

export const isList = ({ localName }: Element): boolean => LISTS.has(localName);

export function openList(element: Element): ListContext {
  const start = Number.parseInt(element.getAttribute('start') ?? '', 10);
  const isReversed = element.localName === 'ol' && element.hasAttribute('reversed');
  const first = isReversed ? [...element.children].filter(({ localName }) => localName === 'li').length : null;
  return {
    element,
    tag: element.localName === 'ol' ? 'ol' : 'ul',
    start: Number.isNaN(start) ? first : start,
    step: isReversed ? -1 : 1,
  };
}

/** The level that the program writes beside the item, from 1 on; 0 without one. */
export function levelOf(item: Element, list: Element | undefined): number {
  const oneBased = item.getAttribute('data-aria-level') ?? item.getAttribute('aria-level');
  if (oneBased !== null) return Number.parseInt(oneBased, 10) || 0;
  for (const element of [item, list]) {
    const zeroBased = element?.getAttribute('data-stringify-indent') ?? element?.getAttribute('data-indent');
    if (zeroBased !== null && zeroBased !== undefined) return (Number.parseInt(zeroBased, 10) || 0) + 1;
  }
  const classes = `${item.getAttribute('class')} ${list?.getAttribute('class')}`;
  const zeroBased = /\bql-indent-(\d)|\blst-kix_\w+-(\d)/.exec(classes);
  if (zeroBased) return Number(zeroBased[1] ?? zeroBased[2]) + 1;
  return Number(/\b(?:list-(?:bullet|number)|listindent)(\d)/.exec(classes)?.[1] ?? 0);
}

/** Whether a task or its box is done. Null for other elements, and for a task whose content has the box. */
export function checkboxOf(element: Element, style: Declarations): boolean | null {
  const state =
    element.getAttribute('data-checked') ??
    element.getAttribute('data-task-state') ??
    element.getAttribute('data-done') ??
    (element.getAttribute('role') === 'checkbox' ? element.getAttribute('aria-checked') : null) ??
    style.get('--en-checked') ??
    /^(?:un)?checked$/.exec(element.getAttribute('data-list') ?? '')?.[0] ??
    /\bcheckbox-(?:on|off)\b/.exec(element.getAttribute('class') ?? '')?.[0];
  if (state === undefined) return null;
  if (element.querySelector('input[type=checkbox], [role=checkbox]')) return null;
  return /^(?:true|checked|done|checkbox-on)$/i.test(state);
}

export type Marker = {
  level: number;
  tag: ListTag;
  number: number | null;
  /** Names the list. Two lists of Word differ in it, lists of PowerPoint do not. */
  source: string;
  /** The elements that show the marker as text. */
  elements: Element[];
};

const WORD_LIST = /^(\S*)\s+level(\d)(?:\s+(\S+))?/;

/** The marker of a paragraph that Word or PowerPoint shows as an item; null for other blocks. */
export function markerOf(block: Element, style: Declarations): Marker | null {
  const word = WORD_LIST.exec(style.get('mso-list') ?? '');
  if (word && block.localName !== 'li') {
    const elements = spansWith(block, /mso-list:\s*ignore/i);
    return { ...kindOf(elements), level: Number(word[2]), source: `${word[1]} ${word[3]}`, elements };
  }
  const elements = block.localName === 'div' || block.localName === 'p' ? slideMarker(block) : [];
  if (elements.length === 0) return null;
  return { ...kindOf(elements), level: slideLevel(block, style), source: 'slide', elements };
}

const styleText = (element: Element): string => (element.getAttribute('data-style') ?? '').slice(0, 2_000);

const spansWith = (block: Element, pattern: RegExp): Element[] => {
  const spans = [...block.querySelectorAll('span')].find((span) => pattern.test(styleText(span)));
  return spans ? [spans] : [];
};

/** PowerPoint marks the span of the bullet or number, which is the first in its paragraph. */
function slideMarker(block: Element): Element[] {
  for (
    let span = block.firstElementChild, depth = 0;
    span?.localName === 'span' && depth < 3;
    span = span.firstElementChild, depth += 1
  )
    if (/mso-special-format:\s*"?(?:num)?bullet/i.test(styleText(span))) return [span];
  return [];
}

const INCHES: Readonly<Record<string, number>> = { in: 1, pt: 1 / 72, px: 1 / 96, cm: 1 / 2.54 };
const LEVEL_INCHES = 0.5;

function slideLevel(block: Element, style: Declarations): number {
  const outline = /\bO(\d)\b/.exec(block.getAttribute('class') ?? '')?.[1];
  if (outline !== undefined) return Number(outline) + 1;
  const inches = (property: string): number => {
    const [, value, unit] = /^(-?[\d.]+)(in|pt|px|cm)/.exec(style.get(property) ?? '') ?? [];
    return value === undefined ? 0 : Number(value) * INCHES[unit!]!;
  };
  return 1 + Math.max(0, Math.round((inches('margin-left') + inches('text-indent')) / LEVEL_INCHES));
}

const SYMBOL_FONT = /symbol|dings|courier/i;

/** A bullet is a sign, a letter of a symbol font, or `o`. Others are numbers: `1`, `a)`, `iv.`, `①`, `一、`, `١.` */
function kindOf(elements: readonly Element[]): { tag: ListTag; number: number | null } {
  const [element] = elements;
  const text = (element?.textContent ?? '').replace(/[\s\u00A0]+/g, ' ').trim();
  const isSymbol =
    Array.from(text).length === 1 &&
    !/\p{N}/u.test(text) &&
    [element!, element!.parentElement!, ...element!.querySelectorAll('span')].some((span) =>
      SYMBOL_FONT.test(/font-family:[^;]*|font:[^;]*/i.exec(styleText(span))?.[0] ?? ''),
    );
  if (!/[\p{L}\p{N}]/u.test(text) || isSymbol || text === 'o') return { tag: 'ul', number: null };
  return { tag: 'ol', number: numberOf(text) };
}

/** The value of `3.`, `1.3`, `③`, `٣.`, `三、` or `b)`; null for others, such as `iv.` */
function numberOf(marker: string): number | null {
  const digits = /(?<!\p{Nd})(\p{Nd}+)\P{Nd}*$/u.exec(marker)?.[1];
  if (digits !== undefined) return Array.from(digits, digitValue).reduce((value, digit) => value * 10 + digit, 0);
  const circled = /[①-⑳]/.exec(marker)?.[0];
  if (circled !== undefined) return circled.codePointAt(0)! - '①'.codePointAt(0)! + 1;
  const chinese = '一二三四五六七八九十'.indexOf(/[一二三四五六七八九十]/.exec(marker)?.[0] ?? '-');
  if (chinese !== -1 && /^\P{L}*\p{L}\P{L}*$/u.test(marker)) return chinese + 1;
  // Without c, d, i, l, m, v and x, which may be Roman numerals.
  const letter = /^\W*([abe-hjkn-uwyz])\W*$/i.exec(marker)?.[1]?.toLowerCase();
  return letter === undefined ? null : letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1;
}

/** Decimal digits of a script are ten consecutive characters that begin with its zero. */
function digitValue(digit: string): number {
  const point = digit.codePointAt(0)!;
  let zero = point;
  while (point - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return point - zero;
}
