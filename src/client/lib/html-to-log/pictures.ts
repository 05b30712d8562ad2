/** Reads as text what HTML shows by other means: emoji as pictures, formulas with TeX, fields, drawn elements. */

const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u;
const isEmoji = (text: string): boolean => text.length <= 40 && EMOJI.test(text) && !/[\p{L}<>]/u.test(text);

/** Attributes in which programs keep the characters of an emoji that they show as a picture. */
const TEXT_ATTRIBUTES = [
  'data-plain-text',
  'data-emoji',
  'data-emoji-text',
  'data-emoji-fallback',
  'data-emoji-char',
  'data-stringify-text',
  'data-stringify-emoji',
  'alt',
  'aria-label',
  'data-name',
];
const EMOJI_HINT = /emoji|emoticon|smiley/i;
/** `1f44d-1f3fd.png`: the code points of the emoji. */
const CODE_POINTS = /(?:^|\/|u)((?:[0-9a-f]{4,5})(?:[-_][0-9a-f]{2,5})*)(?:@\dx|_\w+)?\.(?:png|svg|gif|webp)/i;
const MATH_HINT = /math|latex|\btex\b|equation|formula/i;

/** The text that the picture stands for; null for a picture that has none. */
export function pictureText(picture: Element): string | null {
  const textsOf = (element: Element | null): string[] =>
    TEXT_ATTRIBUTES.map((name) => (element?.getAttribute(name) ?? '').trim()).filter((text) => text !== '');
  const texts = textsOf(picture);
  const emoji = [...texts, ...textsOf(picture.parentElement)].find(isEmoji);
  if (emoji !== undefined) return emoji;
  const source = picture.getAttribute('src') ?? '';
  const about = `${picture.getAttribute('class')} ${picture.getAttribute('itemtype')} ${picture.getAttribute('data-stringify-type')}`;
  if (EMOJI_HINT.test(about) || EMOJI_HINT.test(source.slice(0, 2_000)) || /^:[\w+-]+:$/.test(texts[0] ?? ''))
    return emojiOfSource(source) ?? texts[0] ?? null;
  if (MATH_HINT.test(about)) return texts[0]?.replace(/^\{\\displaystyle (.*)\}$/s, '$1') ?? null;
  return null;
}

function emojiOfSource(source: string): string | null {
  const codes = CODE_POINTS.exec(source.slice(-200))?.[1]?.split(/[-_]/) ?? [];
  const points = codes.map((code) => Number.parseInt(code, 16));
  if (points.length === 0 || points.some((point) => point > 0x10_ff_ff)) return null;
  const text = String.fromCodePoint(...points);
  return isEmoji(text) ? text : null;
}

/** Icons and tracking pixels up to this width are left out without a message. */
const MAX_ICON_PX = 24;

export function isIcon(picture: Element, widthStyle = ''): boolean {
  const width = picture.getAttribute('width') ?? widthStyle;
  return width !== '' && Number.parseFloat(width) <= MAX_ICON_PX && !width.includes('%');
}

const SHORT_DATE = new Intl.DateTimeFormat('en-US', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
  year: 'numeric',
});

/** The text that Confluence and Jira keep in an attribute and draw themselves, such as a date or the card of a link. */
export function drawnText(element: Element): string | null {
  const kind = element.getAttribute('data-node-type');
  const isCard = element.hasAttribute('data-inline-card') || element.hasAttribute('data-block-card');
  if (kind === null && !isCard) return null;
  const shown = element.textContent.trim();
  if (isCard) return shown === '' ? element.getAttribute('href') : null;
  if (kind === 'expand' || kind === 'nestedExpand') {
    const title = element.getAttribute('data-title') ?? '';
    return title === '' || shown.startsWith(title) ? null : title;
  }
  if (shown !== '') return null;
  if (kind === 'status') return element.getAttribute('data-text');
  const time = Number(element.getAttribute('data-timestamp') || Number.NaN);
  return kind === 'date' && Math.abs(time) < 8.64e15 ? SHORT_DATE.format(time) : null;
}

/** The text that a field shows. Never a password. */
export function controlText(control: Element, type: string): string {
  if (control.localName === 'textarea') return control.textContent.replace(/^\n/, '').trim();
  if (control.localName === 'input')
    return /^(?:color|file|hidden|image|password|range)$/.test(type)
      ? ''
      : (control.getAttribute('value') ?? '').trim();
  const options = [...control.querySelectorAll('option')];
  const isOpen = control.hasAttribute('multiple') || Number(control.getAttribute('size')) > 1;
  const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0];
  const shown = isOpen ? options : chosen ? [chosen] : [];
  return shown.map((option) => option.textContent.replace(/\s+/g, ' ').trim()).join('\n');
}
