/** Builds the HTML of a log from blocks in reading order: nests lists by their levels and joins lists that continue. */
import { escapeHtml, LIST_START } from './entry-html.ts';

export type BlockTag = 'p' | 'h1' | 'h2' | 'h3' | 'pre';
export type ListTag = 'ol' | 'ul';

type Block = { kind: 'block'; tag: BlockTag; html: string };
/** `hasBoxes`: its first item begins with a check box. */
type List = { kind: 'list'; tag: ListTag; start: number; hasBoxes: boolean; items: Flow[] };
/** A place for blocks. `levels`: the open lists, the innermost last. */
type Flow = { kind: 'flow'; tag: 'root' | 'quote' | 'li'; children: (Block | List | Flow)[]; levels: OpenList[] };
type OpenList = { level: number; list: List; source: unknown };

/** Where a block belongs. A quote or an item is added to the log with its first block, so an empty one is not. */
export type Container = Root | Quote | Item;
export type Root = { kind: 'root'; flow: Flow };
export type Quote = { kind: 'quote'; parent: Container; flow: Flow | null };
export type Item = {
  kind: 'item';
  /** The root or quote whose lists are counted by `level`. */
  parent: Root | Quote;
  /** 1 for the outermost list. */
  level: number;
  tag: ListTag;
  /** The element of the list: an item of another list begins a list of its own, unless it continues the numbers. */
  source: unknown;
  /** The number that the program gives to the item, or to the first one of its list. */
  number: number | null;
  /** Continues a list after its nested lists: the program writes each level as a list of its own. */
  continues: boolean;
  flow: Flow | null;
};

/** Items and quotes that are nested deeper stay at this level. An item takes two of the `ENTRY_MAX_DEPTH` levels. */
const MAX_LEVEL = 20;

const newFlow = (tag: Flow['tag']): Flow => ({ kind: 'flow', tag, children: [], levels: [] });

export const createRoot = (): Root => ({ kind: 'root', flow: newFlow('root') });

const depthOf = (container: Container): number => (container.kind === 'root' ? 0 : 1 + depthOf(container.parent));

export const openQuote = (parent: Container): Container =>
  depthOf(parent) < MAX_LEVEL ? { kind: 'quote', parent, flow: null } : parent;

/** The closest container that is not an item. */
export const listParent = (container: Container): Root | Quote =>
  container.kind === 'item' ? container.parent : container;

function openFlow(container: Container, hasBox = false): Flow {
  if (container.kind === 'root') return container.flow;
  if (container.flow) return container.flow;
  if (container.kind === 'item') return (container.flow = addItem(openFlow(container.parent), container, hasBox));
  const parent = openForBlock(container.parent);
  // The first block of an item must be a paragraph, so a quote at its start is unwrapped.
  if (parent.tag === 'li' && parent.children.length === 0) return (container.flow = parent);
  parent.children.push((container.flow = newFlow('quote')));
  return container.flow;
}

/** A block ends the lists that are open at its place. */
function openForBlock(container: Container, hasBox = false): Flow {
  const flow = openFlow(container, hasBox);
  if (container.kind === 'item') closeTo(openFlow(container.parent), container.level);
  else flow.levels = [];
  return flow;
}

function closeTo({ levels }: Flow, level: number): void {
  while (levels.length > 0 && levels.at(-1)!.level > level) levels.pop();
}

/** `hasBox`: the item begins with a check box. A list of tasks joins no list of bullets beside it. */
function addItem(flow: Flow, { level: wanted, tag, source, number, continues }: Item, hasBox: boolean): Flow {
  const level = Math.min(wanted, MAX_LEVEL);
  closeTo(flow, level);
  const open = flow.levels.at(-1);
  const added = newFlow('li');
  const outer = open?.level === level ? flow.levels.at(-2) : open;
  const siblings = (outer ? outer.list.items.at(-1)! : flow).children;
  const before = siblings.at(-1);
  let list = before?.kind === 'list' && before.tag === tag ? before : undefined;
  const isSame = list !== undefined && open?.list === list && open.source === source;
  if (list && tag === 'ul' && !isSame && list.hasBoxes !== hasBox) list = undefined;
  if (list && tag === 'ol') {
    const next = list.start + list.items.length;
    const isAfterNested = continues && list.items.at(-1)!.children.at(-1)!.kind === 'list';
    if (!isAfterNested && (number ?? (isSame ? next : 1)) !== next) list = undefined;
  }
  if (!list) {
    const start = tag === 'ol' && number !== null && LIST_START.test(String(number)) ? number : 1;
    siblings.push((list = { kind: 'list', tag, start, hasBoxes: hasBox, items: [] }));
  }
  if (open?.level === level) flow.levels.pop();
  flow.levels.push({ level, list, source });
  list.items.push(added);
  return added;
}

const BOX = /^\[[ x]\] /;

export function addBlock(container: Container, tag: BlockTag, html: string): void {
  const flow = openForBlock(container, BOX.test(html));
  const isFirst = flow.tag === 'li' && flow.children.length === 0;
  flow.children.push(
    isFirst ? { kind: 'block', tag: 'p', html: asParagraph(tag, html) } : { kind: 'block', tag, html },
  );
}

/** An item begins with a paragraph, also if it shows a heading or code. */
function asParagraph(tag: BlockTag, html: string): string {
  if (tag === 'p') return html;
  return tag === 'pre' ? codeLines(html) : `<strong>${html}</strong>`;
}

const codeLines = (code: string): string =>
  code
    .split('\n')
    .map((line) => (line === '' ? '' : `<code>${line}</code>`))
    .join('<br>');

/** The HTML of each block, for a paragraph that shows each as a line. */
export const blocksAsLines = (root: Root): string[] => linesOf(root.flow);

const linesOf = (flow: Flow): string[] =>
  flow.children.flatMap((child) => {
    if (child.kind === 'block') return [child.tag === 'pre' ? codeLines(child.html) : child.html];
    return child.kind === 'list' ? child.items.flatMap(linesOf) : linesOf(child);
  });

/** In an item, each line of the blocks becomes a paragraph: headings, lists and quotes are flattened. */
export function moveBlocks(root: Root, container: Container): void {
  if (container.kind === 'item') for (const line of linesOf(root.flow)) addBlock(container, 'p', line);
  else openForBlock(container).children.push(...root.flow.children);
}

/** Appends inline HTML to the last block of a root, unless that is code. */
export function appendToLastBlock({ flow }: Root, html: string): void {
  let last = flow.children.at(-1);
  while (last && last.kind !== 'block') last = last.kind === 'list' ? last.items.at(-1) : last.children.at(-1);
  if (last) last.html += last.tag === 'pre' ? '' : html;
}

export const writeLog = ({ flow }: Root): string => flow.children.map(writeNode).join('');

function writeNode(node: Block | List | Flow): string {
  if (node.kind === 'block')
    return node.tag === 'pre' ? `<pre><code>${node.html}</code></pre>` : `<${node.tag}>${node.html}</${node.tag}>`;
  if (node.kind === 'flow') {
    const tag = node.tag === 'quote' ? 'blockquote' : 'li';
    return `<${tag}>${node.children.map(writeNode).join('')}</${tag}>`;
  }
  const start = node.start === 1 ? '' : ` start="${node.start}"`;
  return `<${node.tag}${start}>${node.items.map(writeNode).join('')}</${node.tag}>`;
}

export const MARKS = ['strong', 'em', 'u', 's', 'code'] as const;
export type Mark = (typeof MARKS)[number];

/** Null is a line break. */
export type Piece = { text: string; marks: readonly Mark[] } | null;

/** The pieces as inline HTML. Opens each mark once for adjacent pieces. */
export function writeInline(pieces: readonly Piece[]): string {
  let html = '';
  let open: readonly Mark[] = [];
  const change = (marks: readonly Mark[]): void => {
    let common = 0;
    while (common < open.length && open[common] === marks[common]) common += 1;
    for (const mark of open.slice(common).toReversed()) html += `</${mark}>`;
    for (const mark of marks.slice(common)) html += `<${mark}>`;
    open = marks;
  };
  for (const piece of pieces) {
    if (piece) change(piece.marks);
    html += piece ? escapeHtml(piece.text) : '<br>';
  }
  change([]);
  return html;
}
