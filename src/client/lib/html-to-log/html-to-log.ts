/**
 * Converts HTML of other programs to the HTML of a log: every letter that a person sees there, in the same order, and
 * each visible break (docs/specification/days-and-saving.md 10). One walk over an inert document, which loads nothing
 * and runs nothing.
 */
import { escapeHtml } from '#domain/log/entry-html.ts';
import { createIndents } from '#domain/log/indented-text.ts';
import { linkAsText } from '#domain/log/links.ts';
import { joinCells } from '#domain/log/pasted-markdown.ts';
import { parseInert } from './inert-html.ts';
import {
  createStyleReader,
  displayOf,
  marksOf,
  PREFORMATTED,
  scriptOf,
  splitStyles,
  transformText,
  whiteSpaceOf,
  hasItemsSideBySide,
  hasZeroFontSize,
  isHiddenSeparator,
  isIconName,
  isReplaced,
  isVisuallyHidden,
  type Declarations,
  type Display,
} from './element-style.ts';
import {
  addBlock,
  appendToLastBlock,
  blocksAsLines,
  createRoot,
  listParent,
  moveBlocks,
  openQuote,
  writeInline,
  writeLog,
  type BlockTag,
  type Container,
  type Item,
  type Mark,
  type Root,
} from '#domain/log/log-builder.ts';
import { isTooComplex, textAsHtml } from './complex-html.ts';
import { checkboxOf, isList, levelOf, markerOf, openList, type ListContext } from './list-items.ts';
import { controlText, drawnText, isIcon, pictureText } from './pictures.ts';
import { findFormulas, isFormulaScript, mathText, toScript, type Script } from './scripts.ts';
import { codeText, TextLine, type WhiteSpace } from './text-line.ts';

export type ConvertedHtml = {
  html: string;
  /** The number of pictures that the log leaves out. Icons don't count. */
  pictures: number;
};

type HtmlOptions = {
  /** Opens each closed `<details>`: an exported journal folds what its owner wrote. A paste has what a person saw. */
  opensDetails?: boolean;
};

/** Matches what is before rows or cells whose table was not copied: without a table, a parser would drop their tags. */
const ROWS_ALONE =
  /^(?:\s|<!--(?:(?!-->)[^])*-->|<(?:html|body|meta)\b[^<>]*>)*(?=<(?:tr|td|th|tbody|thead|tfoot|caption)\b)/i;

/** HTML that is too complex becomes a paragraph for each line. */
export function htmlToLog(source: string, { opensDetails = false }: HtmlOptions = {}): ConvertedHtml {
  const { html, css } = splitStyles(source);
  if (isTooComplex(html)) return { html: textAsHtml(html), pictures: 0 };
  const body = parseInert(html.replace(ROWS_ALONE, '$&<table>'));
  if (!opensDetails) for (const closed of body.querySelectorAll('details:not([open])')) closeDetails(closed);
  return new Converter(body, css).convert(body);
}

/** A closed `<details>` shows its summary alone. */
function closeDetails(details: Element): void {
  const summary = [...details.children].find(({ localName }) => localName === 'summary');
  details.replaceChildren(...(summary ? [summary] : []));
}

/** The state that a child inherits. */
type Context = {
  container: Container;
  block: BlockTag;
  whiteSpace: WhiteSpace;
  marks: readonly Mark[];
  script: Script | null;
  isRaised: boolean;
  transform: string;
  /** `visibility: hidden`, or a font of no size: an inner element can be visible again. */
  isInvisible: boolean;
  isBlockified: boolean;
  isInLink: boolean;
  /** The lists around, up to the closest quote or cell. */
  listDepth: number;
  list: ListContext | null;
};

const HEADINGS: ReadonlyMap<string, BlockTag> = new Map(
  [1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `h${Math.min(level, 3)}` as BlockTag]),
);
const BOX = /^\[[ x]\]$/;

class Converter {
  private readonly styleOf: (element: Element) => Declarations;
  private readonly formulas: ReadonlyMap<Element, Element>;
  private readonly showIndents = createIndents();
  private line = new TextLine();
  private root = createRoot();
  private blocks = 0;
  /** A check box that has no text yet. */
  private box = '';
  private pictures = 0;

  constructor(body: Element, css: string) {
    this.styleOf = createStyleReader(css);
    this.formulas = findFormulas(body);
  }

  convert(body: Element): ConvertedHtml {
    const context: Context = {
      container: this.root,
      block: 'p',
      whiteSpace: 'collapse',
      marks: [],
      script: null,
      isRaised: false,
      transform: '',
      isInvisible: false,
      isBlockified: false,
      isInLink: false,
      listDepth: 0,
      list: null,
    };
    const style = this.styleOf(body);
    const inherited = this.inherit(body, style, context);
    this.walkChildren(body, inherited);
    this.endBlock(inherited);
    return { html: writeLog(this.root), pictures: this.pictures };
  }

  private walkChildren(element: Element, context: Context): void {
    for (const child of element.childNodes) this.walk(child, context);
  }

  private walk(node: Node, context: Context): void {
    if (node.nodeType === Node.TEXT_NODE) this.addText(node.nodeValue ?? '', context);
    else if (node.nodeType === Node.ELEMENT_NODE) this.walkElement(node as Element, context);
  }

  private displayOf(element: Element, isBlockified = false): Display {
    const style = this.styleOf(element);
    return isVisuallyHidden(style) || isIconName(element, style) ? 'none' : displayOf(element, style, isBlockified);
  }

  private addText(text: string, context: Context): void {
    if (context.isInvisible) return;
    const shown = transformText(text, context.transform, this.line);
    this.line.add(context.script ? toScript(shown, context.script) : shown, context.whiteSpace, context.marks);
  }

  private endBlock({ container, block }: Context): void {
    for (const pieces of this.line.take(block === 'p' && container.kind !== 'item' ? this.showIndents : null)) {
      const html = writeInline(pieces);
      // A check box that is alone in its block begins the next block.
      if (BOX.test(html)) this.box = `${html} `;
      else {
        addBlock(container, block, this.box + html);
        this.blocks += 1;
        this.box = '';
      }
    }
  }

  private walkElement(element: Element, context: Context): void {
    const style = this.styleOf(element);
    const display = this.displayOf(element, context.isBlockified);
    const math = this.formulas.get(element);
    if (math && math !== element) return this.addFormula(math, display, context);
    if (display === 'none') {
      if (isHiddenSeparator(element, style)) this.line.add(' ', 'collapse', context.marks);
      return;
    }
    if (math) return this.addFormula(math, display, context);
    const inner = this.inherit(element, style, context);
    inner.isBlockified = display === 'flex' || (display === 'contents' && context.isBlockified);
    switch (element.localName) {
      case 'br':
        if (!inner.isInvisible) this.line.breakLine();
        return;
      case 'img':
        return this.addPicture(element, style, inner);
      case 'input':
      case 'textarea':
      case 'select':
        return this.addControl(element, inner);
      case 'en-todo':
        // Evernote's element is empty, but read as HTML it holds the text behind it.
        this.addBox(element.getAttribute('checked') === 'true', inner);
        return this.walkChildren(element, inner);
      case 'svg':
        return this.walkDrawing(element, inner);
      case 'rt':
        return this.addReading(element, inner);
      case 'tspan':
        // With `dy` it begins a line of the label of a drawing.
        if (element.hasAttribute('dy')) this.line.breakLine();
        return this.walkChildren(element, inner);
      case 'q':
        return this.walkQuotation(element, inner);
      case 'a':
        return this.walkLink(element, display, inner);
      case 'table':
        this.endBlock(context);
        return this.walkRows(element, inner, isLayout(element));
      default:
        this.walkBox(element, style, display, inner, context);
    }
  }

  private walkBox(element: Element, style: Declarations, display: Display, inner: Context, outer: Context): void {
    const tag = element.localName;
    if (display === 'contents' || display === 'inline') this.walkContent(element, style, inner);
    else if (display === 'inline-block') {
      this.line.enterBox();
      if (hasItemsSideBySide(style)) this.walkItems(element, inner);
      else if (!isReplaced(element)) this.walkContent(element, style, inner);
      this.line.leaveBox();
    } else {
      this.endBlock(outer);
      if (PREFORMATTED.has(tag)) this.addCode(element, inner);
      else if (display === 'table') this.walkRows(element, inner, isLayout(element));
      else if (display === 'row') this.addRow(this.readRow(element, inner), false, inner);
      else if (!isReplaced(element)) {
        this.enterBlock(element, style, inner);
        this.walkContent(element, style, inner);
        this.endBlock(inner);
      }
    }
  }

  /** Adds the items of an inline flex box or grid, with spaces for the gaps between them. */
  private walkItems(element: Element, context: Context): void {
    for (const child of element.childNodes) {
      this.line.add(' ', 'collapse', context.marks);
      this.walk(child, context);
    }
  }

  private walkContent(element: Element, style: Declarations, context: Context): void {
    const isChecked = checkboxOf(element, style);
    if (isChecked !== null) this.addBox(isChecked, context);
    const drawn = drawnText(element);
    if (drawn !== null && !context.isInvisible) this.line.add(drawn, 'collapse', context.marks);
    if (drawn !== null && element.localName === 'div') this.endBlock(context);
    this.walkChildren(element, context);
  }

  /** Changes the context of a block's content: an item, a list, a quote or a heading. */
  private enterBlock(element: Element, style: Declarations, context: Context): void {
    const tag = element.localName;
    const marker = markerOf(element, style);
    const heading = HEADINGS.get(tag);
    if (marker) {
      for (const written of marker.elements) written.remove();
      const { level, tag: listTag, number } = marker;
      this.enterItem(context, { level, tag: listTag, source: marker.source, number, continues: false });
    } else if (isList(element)) {
      context.list = openList(element);
      context.listDepth += 1;
    } else if (tag === 'li') this.enterListItem(element, context);
    else if (tag === 'blockquote' && !/^(?:none|0)/.test(style.get('border') ?? '')) {
      context.container = openQuote(context.container);
      context.listDepth = 0;
      context.list = null;
    } else if (heading) context.block = heading;
  }

  private enterListItem(element: Element, context: Context): void {
    const { list } = context;
    const value = Number.parseInt(element.getAttribute('value') ?? '', 10);
    const explicit = levelOf(element, list?.element);
    const number = Number.isNaN(value) ? (list?.start ?? null) : value;
    this.enterItem(context, {
      level: Math.max(1, context.listDepth, explicit),
      tag: list?.tag ?? 'ul',
      source: list?.element,
      number,
      continues: explicit > 0 && number === null,
    });
    this.box = '';
    // In a list that counts up, only the first item needs a number.
    if (list) list.start = list.step === -1 && number !== null ? number - 1 : null;
  }

  private enterItem(context: Context, item: Omit<Item, 'kind' | 'parent' | 'flow'>): void {
    context.container = { kind: 'item', parent: listParent(context.container), ...item, flow: null };
  }

  private inherit(element: Element, style: Declarations, context: Context): Context {
    const tag = element.localName;
    const hasNoSize = hasZeroFontSize(style);
    const visibility = style.get('visibility');
    const isLink = tag === 'a' && element.hasAttribute('href');
    const script = scriptOf(tag, style);
    const inner: Context = {
      ...context,
      whiteSpace: whiteSpaceOf(tag, style) ?? context.whiteSpace,
      transform: style.get('text-transform') ?? (tag === 'button' ? '' : context.transform),
      isInvisible:
        visibility === undefined && hasNoSize === null
          ? context.isInvisible
          : hasNoSize === true || /^(?:hidden|collapse)$/.test(visibility ?? ''),
      isInLink: context.isInLink || isLink,
    };
    if (script) {
      inner.isRaised = true;
      inner.script = isFormulaScript(element.textContent) ? script : null;
    }
    inner.marks = marksOf(
      tag,
      style,
      context.marks,
      inner.isInLink,
      HEADINGS.has(tag) || context.block.startsWith('h'),
    );
    return inner;
  }

  private addFormula(math: Element, display: Display, context: Context): void {
    const isBlock =
      display === 'block' ||
      /^(?:block|true)$/.test((math.closest('mjx-container') ?? math).getAttribute('display') ?? '');
    if (isBlock) this.endBlock(context);
    if (!context.isInvisible) this.line.add(mathText(math), 'collapse', context.marks);
    if (isBlock) this.endBlock(context);
  }

  private addPicture(picture: Element, style: Declarations, context: Context): void {
    if (context.isInvisible) return;
    const text = pictureText(picture);
    if (text !== null) this.line.add(text, 'keep', context.marks);
    else if (style.get('display') === 'block') this.endBlock(context);
    if (text === null && !isIcon(picture, style.get('width'))) this.pictures += 1;
  }

  /** Adds the text that a field shows: its value, the chosen option, or a box. Never adds a password. */
  private addControl(control: Element, context: Context): void {
    const type = control.getAttribute('type')?.toLowerCase() ?? 'text';
    if (control.localName === 'input' && /^(?:checkbox|radio)$/.test(type))
      return this.addBox(control.hasAttribute('checked'), context);
    const text = controlText(control, type);
    if (context.isInvisible || text === '') return;
    this.line.add(' ', 'collapse', context.marks);
    this.line.add(text, 'keep', context.marks);
    this.line.add(' ', 'collapse', context.marks);
  }

  /** Adds a check box as text: an open task must not look like a finished one. */
  private addBox(isChecked: boolean, context: Context): void {
    if (!context.isInvisible) this.line.add(isChecked ? '[x] ' : '[ ] ', 'collapse', []);
  }

  /** Adds the text of an SVG drawing, each label as a block. */
  private walkDrawing(drawing: Element, context: Context): void {
    for (const part of drawing.children) {
      if (/^(?:text|foreignObject)$/i.test(part.localName)) {
        this.endBlock(context);
        this.walkChildren(part, context);
        this.endBlock(context);
      } else if (!/^(?:title|desc|metadata|defs|style|script)$/.test(part.localName)) this.walkDrawing(part, context);
    }
  }

  /** Adds the reading of a Chinese or Japanese word in parentheses. A browser shows it above the word. */
  private addReading(reading: Element, context: Context): void {
    this.line.append('(', context.marks);
    this.walkChildren(reading, context);
    this.line.append(')', context.marks);
  }

  /** Adds a `<q>` with quotation marks, which the browser draws and the HTML does not have. */
  private walkQuotation(quotation: Element, context: Context): void {
    const isInner = quotation.parentElement?.closest('q') !== null;
    if (!context.isInvisible) this.line.add(isInner ? '‘' : '“', 'collapse', context.marks);
    this.walkChildren(quotation, context);
    if (!context.isInvisible) this.line.add(isInner ? '’' : '”', 'collapse', context.marks);
  }

  /**
   * Logs store no links, so the address follows the link's text or replaces it. An address in code would change the
   * code.
   */
  private walkLink(link: Element, display: Display, context: Context): void {
    const isBlock = display !== 'inline' && display !== 'contents' && display !== 'inline-block';
    if (isBlock) this.endBlock(context);
    else if (display === 'inline-block') this.line.enterBox();
    const start = this.line.takePosition();
    const blocksBefore = this.blocks;
    const drawn = drawnText(link);
    if (drawn !== null && !context.isInvisible) this.line.add(drawn, 'collapse', context.marks);
    this.walkChildren(link, context);
    const href = link.getAttribute('href');
    // A raised link is the number of a footnote.
    if (href !== null && !context.isRaised && !context.marks.includes('code') && !context.isInvisible) {
      const isOneLine = this.blocks === blocksBefore;
      const label = isOneLine ? this.line.textSince(start) : link.textContent;
      const { suffix, replacement } = linkAsText(label.replace(/\s+/g, ' ').trim(), href);
      if (replacement !== null && isOneLine) this.line.replaceSince(start, replacement, context.marks);
      else if (suffix !== null && (isOneLine || !this.line.isBlank)) this.line.append(suffix, context.marks);
      else if (suffix !== null) appendToLastBlock(this.root, escapeHtml(suffix));
    }
    if (isBlock) this.endBlock(context);
    else if (display === 'inline-block') this.line.leaveBox();
  }

  private addCode(element: Element, context: Context): void {
    const parts: string[] = [];
    this.readCode(element, context, parts);
    const code = parts.join('').replace(/^\n/, '').trimEnd();
    if (code.trim() === '') return;
    addBlock(context.container, 'pre', escapeHtml(code));
    this.blocks += 1;
  }

  private readCode(element: Element, context: Context, code: string[]): void {
    const endLine = (): void => {
      if (code.at(-1)?.endsWith('\n') === false) code.push('\n');
    };
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE && child.nodeValue && !context.isInvisible)
        code.push(codeText(transformText(child.nodeValue, context.transform), context.whiteSpace));
      if (child.nodeType !== Node.ELEMENT_NODE) continue;
      const inner = child as Element;
      const display = this.displayOf(inner);
      if (inner.localName === 'br') code.push('\n');
      else if (inner.localName === 'img') code.push(pictureText(inner) ?? '');
      else if (display !== 'none' && !isReplaced(inner)) {
        const isBlock = !/^(?:inline|inline-block|contents|cell)$/.test(display);
        if (isBlock) endLine();
        this.readCode(inner, this.inherit(inner, this.styleOf(inner), context), code);
        if (display === 'cell') code.push('\t');
        else if (isBlock) endLine();
      }
    }
  }

  private walkRows(table: Element, context: Context, isLayoutTable: boolean): void {
    const rows: Root[][] = [];
    const collect = (parent: Element): void => {
      for (const child of parent.children) {
        const display = this.displayOf(child);
        if (display === 'none') continue;
        const inner = this.inherit(child, this.styleOf(child), context);
        if (display === 'row-group' || display === 'contents') collect(child);
        else if (display === 'row') rows.push(this.readRow(child, inner));
        else rows.push([this.readCell([child], context)]);
      }
    };
    collect(table);
    const isOneColumn = rows.every((cells) => cells.filter(hasBlocks).length <= 1);
    for (const cells of rows) this.addRow(cells, isLayoutTable || isOneColumn, context);
  }

  /** The content of each cell. Neighbours that are not cells share one, as in a browser. */
  private readRow(row: Element, context: Context): Root[] {
    const cells: Root[] = [];
    let others: Node[] = [];
    const endOthers = (): void => {
      if (others.some((node) => /\S/.test(node.textContent ?? ''))) cells.push(this.readCell(others, context));
      others = [];
    };
    for (const child of row.childNodes) {
      const display = child.nodeType === Node.ELEMENT_NODE ? this.displayOf(child as Element) : 'inline';
      if (display === 'cell') {
        endOthers();
        cells.push(this.readCell([child], context));
      } else if (display !== 'none') others.push(child);
    }
    endOthers();
    return cells;
  }

  private readCell(nodes: readonly Node[], context: Context): Root {
    const { root, line } = this;
    this.root = createRoot();
    this.line = new TextLine();
    const inner: Context = { ...context, container: this.root, block: 'p', listDepth: 0, list: null };
    for (const node of nodes) this.walk(node, inner);
    this.endBlock(inner);
    const cell = this.root;
    this.root = root;
    this.line = line;
    return cell;
  }

  /**
   * Adds the row as one line, its cells joined. But if a single cell has text, and it is the first or `isLayoutRow` is
   * true, its blocks stay as they are.
   */
  private addRow(cells: readonly Root[], isLayoutRow: boolean, context: Context): void {
    const filled = cells.filter(hasBlocks);
    if (filled.length === 0) return;
    this.blocks += 1;
    if (filled.length === 1 && (isLayoutRow || filled[0] === cells[0])) moveBlocks(filled[0]!, context.container);
    else {
      const texts = (isLayoutRow ? filled : cells).map((cell) => blocksAsLines(cell).join('<br>'));
      addBlock(context.container, 'p', joinCells(texts));
    }
  }
}

const hasBlocks = ({ flow }: Root): boolean => flow.children.length > 0;

const isLayout = (table: Element): boolean => /^(?:presentation|none)$/.test(table.getAttribute('role') ?? '');
