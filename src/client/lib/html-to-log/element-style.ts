/**
 * Computes how an element of an inert document is shown: the browser's defaults for its tag, simple rules of the HTML's
 * own style sheets, and its `style` attribute. An inert document has no computed styles.
 */
import { MARKS, type Mark } from '#domain/log/log-builder.ts';
import type { Script } from './scripts.ts';
import type { WhiteSpace } from './text-line.ts';

export type Display =
  | 'none'
  | 'contents'
  | 'inline'
  /** Laid out as one box in its line: `inline-block`, `inline-flex` and the like. */
  | 'inline-block'
  | 'block'
  | 'flex'
  | 'table'
  | 'row-group'
  | 'row'
  | 'cell';

/** Lower-case property names and values. */
export type Declarations = ReadonlyMap<string, string>;

const tagSet = (tags: string): ReadonlySet<string> => new Set(tags.split(' '));

const BLOCKS = tagSet(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p plaintext pre search ' +
    'section summary ul xmp',
);
/** Shown as a box in the line, without text of the document. */
const REPLACED = tagSet('audio canvas embed iframe meter progress video');
const INLINE_BLOCKS = tagSet('button img input marquee select textarea');
const HIDDEN = tagSet(
  'area base basefont col colgroup datalist frame frameset head link meta noembed noframes noscript param rp script source ' +
    'style template title track',
);
const TABLE_DISPLAY: ReadonlyMap<string, Display> = new Map([
  ['table', 'table'],
  ['thead', 'row-group'],
  ['tbody', 'row-group'],
  ['tfoot', 'row-group'],
  ['tr', 'row'],
  ['td', 'cell'],
  ['th', 'cell'],
]);

const DISPLAY_VALUES: ReadonlyMap<string, Display> = new Map([
  ['none', 'none'],
  ['contents', 'contents'],
  ['inline', 'inline'],
  ['initial', 'inline'],
  ['unset', 'inline'],
  ['ruby', 'inline'],
  ['inline-block', 'inline-block'],
  ['inline-flex', 'inline-block'],
  ['inline-grid', 'inline-block'],
  ['inline-table', 'inline-block'],
  ['-webkit-inline-box', 'inline-block'],
  ['block', 'block'],
  ['flow-root', 'block'],
  ['list-item', 'block'],
  ['-webkit-box', 'flex'],
  ['flex', 'flex'],
  ['grid', 'flex'],
  ['table', 'table'],
  ['table-row-group', 'row-group'],
  ['table-header-group', 'row-group'],
  ['table-footer-group', 'row-group'],
  ['table-row', 'row'],
  ['table-cell', 'cell'],
  ['table-caption', 'block'],
  ['table-column', 'none'],
  ['table-column-group', 'none'],
]);

export const isReplaced = ({ localName }: Element): boolean => REPLACED.has(localName);

/** `isBlockified`: a child of a flex or grid container is laid out as a block. */
export function displayOf(element: Element, style: Declarations, isBlockified: boolean): Display {
  const tag = element.localName;
  if (HIDDEN.has(tag)) return 'none';
  const styled = DISPLAY_VALUES.get(style.get('display') ?? '');
  if (styled === undefined && element.hasAttribute('hidden')) return 'none';
  const display = styled ?? TABLE_DISPLAY.get(tag) ?? defaultDisplay(element);
  if (display !== 'inline' && display !== 'inline-block') return display;
  const isOutOfLine =
    isBlockified || /^(?:left|right)$/.test(style.get('float') ?? '') || isOutOfFlow(style.get('position'));
  return isOutOfLine && tag !== 'br' && tag !== 'img' ? 'block' : display;
}

function defaultDisplay(element: Element): Display {
  const tag = element.localName;
  if (tag === 'dialog' && !element.hasAttribute('open')) return 'none';
  if (tag === 'slot') return 'contents';
  // Slack breaks its paragraphs by an empty span, whose styles Firefox does not copy.
  if (BLOCKS.has(tag) || element.getAttribute('data-stringify-type') === 'paragraph-break') return 'block';
  return INLINE_BLOCKS.has(tag) || REPLACED.has(tag) ? 'inline-block' : 'inline';
}

const isOutOfFlow = (position = ''): boolean => /^(?:absolute|fixed)$/.test(position);
const isZero = (length = ''): boolean => /^0(?:\.0+)?(?:[a-z]+|%)?$/.test(length);

/**
 * Whether the element is invisible although it is displayed, such as the preview line of a mail, or the copy of a
 * formula for screen readers.
 */
export function isVisuallyHidden(style: Declarations): boolean {
  if (isZero(style.get('opacity')) || style.get('mso-hide') === 'all') return true;
  if (style.get('content-visibility') === 'hidden') return true;
  const clips = style.get('overflow')?.startsWith('hidden') === true;
  if (clips && ['height', 'max-height', 'width', 'max-width'].some((size) => isZero(style.get(size)))) return true;
  if (!isOutOfFlow(style.get('position'))) return false;
  if (hasZeroFontSize(style) && isZero(style.get('width'))) return true;
  const isClipped =
    /^rect\((?:[01](?:px)?[\s,]*){4}\)$/.test(style.get('clip') ?? '') ||
    /^inset\((?:50|100)%/.test(style.get('clip-path') ?? '') ||
    (clips && style.get('width') === '1px' && style.get('height') === '1px');
  return isClipped || /^-\d{4,}/.test(style.get('left') ?? style.get('top') ?? '');
}

const ICON_FONT = /\b(?:material|google)[ -](?:material[ -])?(?:icons|symbols)\b|\bmat-icon\b/i;

/** The name of an icon, which a font draws as a picture: `content_copy`. */
export const isIconName = (element: Element, style: Declarations): boolean =>
  ICON_FONT.test(`${element.getAttribute('class')} ${style.get('font-family')}`) &&
  /^\s*[a-z\d_]+\s*$/.test(element.textContent);

/** Hidden punctuation that stands for a visible gap: a chat shows `Ann  Today` and has `Ann — Today` in its HTML. */
export const isHiddenSeparator = (element: Element, style: Declarations): boolean =>
  isVisuallyHidden(style) && element.textContent !== '' && /^[^\p{L}\p{N}]{0,3}$/u.test(element.textContent.trim());

export const hasItemsSideBySide = (style: Declarations): boolean =>
  /^inline-(?:flex|grid)$/.test(style.get('display') ?? '');

export const hasZeroFontSize = (style: Declarations): boolean | null => {
  const size = style.get('font-size');
  return size === undefined ? null : isZero(size);
};

const DECLARATION = /(?:^|[;{])\s*([a-z-]+)\s*:\s*([^;]*)/gi;
const IMPORTANT = /!\s*important\s*$/i;

/** `rank`: the higher one wins, in the order of importance, the selector's specificity and the place in the source. */
type Declared = { value: string; rank: number };
type Rule = Map<string, Declared>;

const RANK = { tag: 1e7, class: 1e8, id: 1e9, inline: 1e10, important: 1e11 } as const;

function declare(rule: Rule, property: string, { value, rank }: Declared): void {
  if ((rule.get(property)?.rank ?? 0) <= rank) rule.set(property, { value, rank });
}

function addDeclarations(rule: Rule, css: string, rank: number): void {
  for (const [, name, declared] of css.matchAll(DECLARATION)) {
    const property = name!.toLowerCase();
    const value = declared!.replace(IMPORTANT, '').trim().toLowerCase();
    // A browser ignores a value that it does not know, and an earlier one stays.
    if (property === 'display' && !DISPLAY_VALUES.has(value)) continue;
    declare(rule, property, { value, rank: IMPORTANT.test(declared!) ? rank + RANK.important : rank });
  }
}

/** Only rules with one of these properties are read: they change which text is shown, its breaks or its marks. */
const USED_PROPERTY =
  /display|visibility|white-space|font-(?:weight|style|size)|text-(?:decoration|transform)|vertical-align|mso-(?:list|hide)/i;
/**
 * Of one rule no more declarations are read, and a selector that has as many takes no further rule. Threat: each of
 * thousands of elements copies thousands of properties.
 */
const MAX_DECLARATIONS = 100;
const SIMPLE_SELECTOR = /^([a-z][a-z0-9]*)?(?:([.#])[\w-]+)?$/i;

const withoutComments = (css: string): string =>
  css
    .split('/*')
    .map((part, index) => (index === 0 ? part : (part.split('*/', 2)[1] ?? '')))
    .join(' ')
    .replace(/<!--|-->/g, '');

/**
 * The rules whose selector is a tag, a class or an id, or a tag with one of these, outside `@media`. Others are for the
 * page that the HTML was copied from.
 */
function readRules(css: string): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  let depth = 0;
  for (const [order, part] of withoutComments(css).split('}').entries()) {
    const [selectors, body, ...nested] = part.split('{');
    const isRule = depth === 0 && body !== undefined && nested.length === 0;
    depth = Math.max(0, depth + part.split('{').length - 2);
    if (!isRule || !USED_PROPERTY.test(body)) continue;
    const declarations = body.split(';', MAX_DECLARATIONS).join(';');
    for (const selector of selectors!.split(',').map((name) => name.trim())) {
      const [, tag = '', sign] = SIMPLE_SELECTOR.exec(selector) ?? [];
      if (tag === '' && sign === undefined) continue;
      const name = tag.toLowerCase() + selector.slice(tag.length);
      const rule = rules.get(name) ?? new Map<string, Declared>();
      const specificity = (tag === '' ? 0 : RANK.tag) + (sign === '#' ? RANK.id : sign === '.' ? RANK.class : 0);
      if (rule.size < MAX_DECLARATIONS) addDeclarations(rule, declarations, specificity + order);
      rules.set(name, rule);
    }
  }
  return rules;
}

/** Returns a function that gives the declarations of an element. Programs repeat few styles, so they are cached. */
export function createStyleReader(css: string): (element: Element) => Declarations {
  const rules = readRules(css);
  const cache = new Map<string, Declarations>();
  const selectorsOf = ({ localName, classList, id }: Element): string[] => {
    const names = [...Array.from(classList, (name) => `.${name}`), `#${id}`];
    return [localName, ...names, ...names.map((name) => localName + name)];
  };
  return (element) => {
    const text = element.getAttribute('data-style') ?? element.getAttribute('style') ?? '';
    const matches = rules.size === 0 ? [] : selectorsOf(element).filter((selector) => rules.has(selector));
    const key = [...matches, text].join(' ');
    const cached = cache.get(key);
    if (cached) return cached;
    const all: Rule = new Map();
    for (const selector of matches)
      for (const [property, declared] of rules.get(selector)!) declare(all, property, declared);
    addDeclarations(all, withoutComments(text), RANK.inline);
    const declarations = new Map(Array.from(all, ([property, { value }]) => [property, value]));
    cache.set(key, declarations);
    return declarations;
  };
}

const STYLE_OR_SCRIPT = /<(style|script|xml)\b[^<>]*>/gi;

/** Takes style sheets, scripts and Word's `<xml>` out. Looks for the end of an unclosed tag only once. */
export function splitStyles(html: string): { html: string; css: string } {
  const kept: string[] = [];
  const css: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: tag, 1: name, index } of html.matchAll(STYLE_OR_SCRIPT)) {
    if (index < from || unclosed.has(name!)) continue;
    const closing = new RegExp(`</${name}\\s*>`, 'gi');
    closing.lastIndex = index + tag.length;
    const end = closing.exec(html);
    if (end) {
      kept.push(html.slice(from, index));
      if (/style/i.test(name!)) css.push(html.slice(index + tag.length, end.index));
      from = closing.lastIndex;
    } else unclosed.add(name!);
  }
  return { html: [...kept, html.slice(from)].join(''), css: css.join('\n') };
}

const TAG_MARKS: ReadonlyMap<string, Mark> = new Map([
  ...['b', 'strong'].map((tag) => [tag, 'strong'] as const),
  ...['i', 'em', 'var', 'dfn'].map((tag) => [tag, 'em'] as const),
  ...['u', 'ins'].map((tag) => [tag, 'u'] as const),
  ...['s', 'strike', 'del'].map((tag) => [tag, 's'] as const),
  ...['code', 'kbd', 'samp', 'tt'].map((tag) => [tag, 'code'] as const),
]);
export const PREFORMATTED = new Set(['pre', 'listing', 'xmp', 'plaintext']);

export function whiteSpaceOf(tag: string, style: Declarations): WhiteSpace | null {
  const value = style.get('white-space') ?? style.get('white-space-collapse');
  if (value === undefined) return PREFORMATTED.has(tag) ? 'keep' : null;
  if (/pre-line|preserve-breaks/.test(value)) return 'keep-lines';
  if (/pre|break-spaces/.test(value)) return 'keep';
  return /normal|nowrap|collapse|initial/.test(value) ? 'collapse' : null;
}

export function scriptOf(tag: string, style: Declarations): Script | null {
  if (tag === 'sup' || tag === 'sub') return tag;
  const align = style.get('vertical-align');
  return align === 'super' ? 'sup' : align === 'sub' ? 'sub' : null;
}

export function marksOf(
  tag: string,
  style: Declarations,
  outer: readonly Mark[],
  isInLink: boolean,
  isInHeading: boolean,
): readonly Mark[] {
  const marks = new Set(outer);
  const own = TAG_MARKS.get(tag);
  if (own) marks.add(own);
  const change = (mark: Mark, isOn: boolean): unknown => (isOn ? marks.add(mark) : marks.delete(mark));
  const weight = style.get('font-weight');
  if (weight !== undefined && /^(?:bold(?:er)?|normal|lighter|\d+)$/.test(weight))
    change('strong', weight.startsWith('bold') || Number.parseInt(weight, 10) >= 600);
  const slant = style.get('font-style');
  if (slant !== undefined && /^(?:italic|oblique|normal)/.test(slant)) change('em', slant !== 'normal');
  const decoration = `${style.get('text-decoration')} ${style.get('text-decoration-line')}`;
  if (decoration.includes('underline')) marks.add('u');
  if (decoration.includes('line-through')) marks.add('s');
  // A link is always underlined and a heading always bold, so this is no formatting of the user.
  if (isInLink) marks.delete('u');
  if (isInHeading) marks.delete('strong');
  if (marks.has('code')) return ['code'];
  return MARKS.filter((mark) => marks.has(mark));
}

/** `line`: the line that the text continues, maybe within a word. */
export function transformText(text: string, transform: string, line?: { endsInWord: boolean }): string {
  if (transform === 'uppercase') return text.toUpperCase();
  if (transform === 'lowercase') return text.toLowerCase();
  if (transform === 'capitalize')
    return text.replace(/(?<![\p{L}\p{N}'’])\p{L}/gu, (letter, at: number) =>
      at === 0 && line?.endsInWord ? letter : letter.toUpperCase(),
    );
  return text;
}
