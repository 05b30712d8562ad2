/** Finds the addresses in stored HTML for `StoredLog`. In a separate chunk, because most logs have no addresses. */
import { linkTexts, type LinkedText } from '#domain/log/links.ts';

export type StoredLinks = ReadonlyMap<Node, LinkedText[]>;

const BLOCKS = 'p, h1, h2, h3, pre, li, blockquote';

/** Maps each text node of a line with addresses to its parts, split where an address begins or ends. */
export function findStoredLinks(root: Element): StoredLinks {
  const links = new Map<Node, LinkedText[]>();
  let line: Text[] = [];
  let block: Element | null = null;
  const endLine = (): void => {
    linkTexts(line.map(({ data }) => data))?.forEach((parts, index) => links.set(line[index]!, parts));
    line = [];
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeName === 'BR') endLine();
    if (!(node instanceof Text)) continue;
    const inside = node.parentElement?.closest(BLOCKS) ?? null;
    if (inside !== block) endLine();
    block = inside;
    line.push(node);
  }
  endLine();
  return links;
}
