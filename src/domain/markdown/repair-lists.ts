/**
 * Repairs lists as people type and copy them: `•` for `-`, and two spaces instead of three below `1. `, where CommonMark
 * would begin another list. Other text stays as it is. `text` has LF line ends.
 */
export function repairLists(text: string): string {
  const items: Item[] = [];
  let fence: { mark: string; added: number } | null = null;
  let isAfterBlank = true;
  const repaired = text.split('\n').map((line) => {
    if (fence) {
      const { mark, added } = fence;
      if (closesFence(line, mark)) fence = null;
      return indentBy(added, line);
    }
    if (line.trim() === '') {
      isAfterBlank = true;
      return line;
    }
    const [, blanks, bullet, gap] = LINE.exec(line)!;
    const indent = widthOf(blanks!);
    if (bullet !== undefined) while (items.length > 0 && items.at(-1)!.indent >= indent) items.pop();
    else if (isAfterBlank || BLOCK.test(line)) while (items.length > 0 && items.at(-1)!.content > indent) items.pop();
    isAfterBlank = false;
    const parent = items.findLast((item) => item.indent < indent);
    let added = parent?.added ?? 0;
    if (bullet === undefined) {
      const mark = FENCE.exec(line)?.[1];
      if (mark !== undefined) fence = { mark, added };
      return indentBy(added, line);
    }
    if (parent && indent >= parent.indent + 2 && indent < parent.content) added += parent.content - indent;
    items.push({ indent, content: indent + bullet.length + Math.min(widthOf(gap!), 4), added });
    const marker = GLYPH.test(bullet) ? '-' : bullet;
    return indentBy(added, blanks + marker + line.slice(blanks!.length + bullet.length));
  });
  return repaired.join('\n');
}

/** Columns of the source: of the marker and of the text behind it. `added`: how far the item moves to the right. */
type Item = { indent: number; content: number; added: number };

const LINE = /^([ \t]*)(?:([-+*•◦▪‣●○■]|\d{1,9}[.)])([ \t]+)(?=\S))?/;
const GLYPH = /[•◦▪‣●○■]/;
const FENCE = /^[ \t]*(`{3,}|~{3,})[^`]*$/;
/** A block that ends a paragraph: it belongs to the items that its indent reaches. */
const BLOCK = /^[ \t]*(?:`{3}|~{3}|#{1,6}[ \t]|>)/;
const TAB_WIDTH = 4;

const closesFence = (line: string, mark: string): boolean =>
  line.trim().startsWith(mark) && line.trim() === mark[0]!.repeat(line.trim().length);

function widthOf(blanks: string): number {
  let width = 0;
  for (const blank of blanks) width = blank === '\t' ? width + TAB_WIDTH - (width % TAB_WIDTH) : width + 1;
  return width;
}

/** Spaces at the beginning of the line that is moved, so that its tabs keep their stops. */
function indentBy(added: number, line: string): string {
  if (added === 0) return line;
  return line.replace(/^[ \t]*/, (blanks) => ' '.repeat(widthOf(blanks) + added));
}
