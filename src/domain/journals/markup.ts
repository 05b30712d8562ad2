/** Finds elements in HTML or XML that another program wrote. Linear, and without a DOM, which a Web Worker lacks. */

type Tag = {
  name: string;
  kind: 'start' | 'end' | 'empty';
  /** The text between the name and `>`. */
  attributes: string;
  start: number;
  end: number;
};

/** All tags in order. Comments and CDATA sections are skipped. */
export function* tagsOf(markup: string): Generator<Tag> {
  let at = markup.indexOf('<');
  while (at >= 0) {
    const skipped = [
      ['<!--', '-->'],
      ['<![CDATA[', ']]>'],
    ].find(([opening]) => markup.startsWith(opening!, at));
    if (skipped) {
      const end = markup.indexOf(skipped[1]!, at);
      if (end < 0) return;
      at = markup.indexOf('<', end);
      continue;
    }
    const name = /^<\/?([a-z][\w:-]*)/i.exec(markup.slice(at, at + 64));
    if (!name) {
      at = markup.indexOf('<', at + 1);
      continue;
    }
    const end = endOfTag(markup, at + name[0].length);
    if (end < 0) return;
    const attributes = markup.slice(at + name[0].length, end - 1);
    const kind = name[0].startsWith('</') ? 'end' : attributes.endsWith('/') ? 'empty' : 'start';
    yield { name: name[1]!.toLowerCase(), kind, attributes, start: at, end };
    at = markup.indexOf('<', end);
  }
}

/** The index behind the `>` that closes a tag; quoted values can contain one. Negative if the tag is cut off. */
function endOfTag(markup: string, from: number): number {
  for (let at = from; at < markup.length; at += 1) {
    const sign = markup[at];
    if (sign === '>') return at + 1;
    if ((sign === '"' || sign === "'") && markup[at - 1] === '=') {
      at = markup.indexOf(sign, at + 1);
      if (at < 0) return -1;
    }
  }
  return -1;
}

/** The decoded value of an attribute; null if the tag has none of this name. */
export function attributeOf(attributes: string, name: string): string | null {
  const match = new RegExp(String.raw`(?:^|\s)${name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`, 'i').exec(attributes);
  return match ? decodeEntities(match[1] ?? match[2] ?? match[3] ?? '') : null;
}

export const hasClass = (attributes: string, name: string): boolean =>
  (attributeOf(attributes, 'class') ?? '').split(/\s+/).includes(name);

export type Element = { attributes: string; inner: string; start: number; end: number };

/**
 * The elements of a name that match, without those inside another match. An element that is never closed reaches to
 * the end of the text.
 */
export function findElements(
  markup: string,
  name: string,
  matches: (attributes: string) => boolean = () => true,
): Element[] {
  const found: Element[] = [];
  let open: { tag: Tag; depth: number } | null = null;
  for (const tag of tagsOf(markup)) {
    if (tag.name !== name) continue;
    if (!open) {
      if (tag.kind === 'end' || !matches(tag.attributes)) continue;
      if (tag.kind === 'empty') found.push({ attributes: tag.attributes, inner: '', start: tag.start, end: tag.end });
      else open = { tag, depth: 1 };
    } else if (tag.kind !== 'empty') {
      open.depth += tag.kind === 'start' ? 1 : -1;
      if (open.depth > 0) continue;
      found.push({
        attributes: open.tag.attributes,
        inner: markup.slice(open.tag.end, tag.start),
        start: open.tag.start,
        end: tag.end,
      });
      open = null;
    }
  }
  if (open)
    found.push({
      attributes: open.tag.attributes,
      inner: markup.slice(open.tag.end),
      start: open.tag.start,
      end: markup.length,
    });
  return found;
}

/** Replaces elements, from the outside in. */
export function replaceElements(
  markup: string,
  name: string,
  matches: (attributes: string) => boolean,
  replace: (element: Element) => string,
): string {
  let result = '';
  let from = 0;
  for (const element of findElements(markup, name, matches)) {
    result += markup.slice(from, element.start) + replace(element);
    from = element.end;
  }
  return result + markup.slice(from);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Decodes the entities of XML, `&nbsp;` and numbers. Others stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()]!;
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff) ? String.fromCodePoint(code) : entity;
    },
  );

/** The text of a short element on one line: a title or a date. */
export function textOf(markup: string): string {
  let text = '';
  let from = 0;
  for (const { start, end } of tagsOf(markup)) {
    text += markup.slice(from, start);
    from = end;
  }
  return decodeEntities(text + markup.slice(from))
    .replace(/\s+/g, ' ')
    .trim();
}
