/** Logs and random edits of them, for property tests of the merge. Edits add unique words, which tests find again. */
import fc from 'fast-check';

/** One text block. `depth`: how many lists are around it at most; 0 is a block outside of lists. */
export type EditedLine = {
  words: readonly string[];
  tag: 'p' | 'h1' | 'h2';
  depth: number;
  list: 'ol' | 'ul';
  isQuoted: boolean;
  mark: 'strong' | 's' | null;
};

export type LogEdit = { kind: (typeof KINDS)[number]; at: number; to: number };

const KINDS = [
  ...(['insert', 'insert', 'insert', 'delete', 'delete', 'edit', 'edit', 'append', 'move', 'moveBlock'] as const),
  ...([
    'nest',
    'lift',
    'toggleList',
    'toggleMark',
    'toggleHeading',
    'quote',
    'split',
    'join',
    'clear',
    'copy',
  ] as const),
] as const;

const COMMON_WORDS = ['call', 'with', 'the', 'report', 'team', 'done'];

const line = (words: readonly string[]): fc.Arbitrary<EditedLine> =>
  fc.record({
    words: fc.subarray(COMMON_WORDS).map((common) => [...words, ...common]),
    tag: fc.oneof({ weight: 8, arbitrary: fc.constant('p' as const) }, fc.constantFrom('h1' as const, 'h2' as const)),
    depth: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 3 })),
    list: fc.oneof({ weight: 4, arbitrary: fc.constant('ol' as const) }, fc.constant('ul' as const)),
    isQuoted: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
    mark: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, fc.constantFrom('strong' as const, 's' as const)),
  });

export const baseLines = (maxLength = 8): fc.Arbitrary<EditedLine[]> =>
  fc
    .integer({ min: 0, max: maxLength })
    .chain((count) =>
      fc.tuple(
        ...Array.from({ length: count }, (_, index) => line([`base${index}x`, `base${index}y`, `base${index}z`])),
      ),
    );

export const logEdits = (maxLength = 6): fc.Arbitrary<LogEdit[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(20), to: fc.nat(20) }), { maxLength });

/** `author` is the beginning of the unique word that an insert, an edit or an append adds. */
export function applyEdits(base: readonly EditedLine[], edits: readonly LogEdit[], author: string): EditedLine[] {
  const lines = [...base];
  edits.forEach(({ kind, at, to }, index) => {
    const word = `${author}${index}n`;
    const i = lines.length === 0 ? 0 : at % lines.length;
    const old = lines[i];
    const change = (changes: Partial<EditedLine>): void => void (old && (lines[i] = { ...old, ...changes }));
    const fresh: EditedLine = { words: [word], tag: 'p', depth: 1, list: 'ol', isQuoted: false, mark: null };
    if (kind === 'insert') lines.splice(at % (lines.length + 1), 0, { ...(old ?? fresh), words: [word, 'call'] });
    else if (!old) return;
    else if (kind === 'delete') lines.splice(i, 1);
    else if (kind === 'edit') change({ words: old.words.toSpliced(to % (old.words.length + 1), 1, word) });
    else if (kind === 'append') change({ words: [...old.words, word] });
    else if (kind === 'clear') change({ words: [] });
    else if (kind === 'copy') lines.splice(to % (lines.length + 1), 0, old);
    else if (kind === 'move' || kind === 'moveBlock') {
      const moved = lines.splice(i, kind === 'move' ? 1 : 3);
      lines.splice(to % (lines.length + 1), 0, ...moved);
    } else if (kind === 'nest') change({ depth: Math.min(4, old.depth + 1) });
    else if (kind === 'lift') change({ depth: Math.max(0, old.depth - 1) });
    else if (kind === 'toggleMark') change({ mark: old.mark === 'strong' ? null : 'strong' });
    else if (kind === 'toggleHeading') change({ tag: old.tag === 'p' ? 'h1' : 'p' });
    else if (kind === 'quote') change({ isQuoted: !old.isQuoted });
    else if (kind === 'toggleList') {
      const other = old.list === 'ol' ? 'ul' : 'ol';
      for (let j = i; j < Math.min(lines.length, i + 1 + (to % 5)); j += 1) lines[j] = { ...lines[j]!, list: other };
    } else if (kind === 'split') {
      const middle = Math.ceil(old.words.length / 2);
      lines.splice(i, 1, { ...old, words: old.words.slice(0, middle) }, { ...old, words: old.words.slice(middle) });
    } else if (lines[i + 1]) lines.splice(i, 2, { ...old, words: [...old.words, ...lines[i + 1]!.words] });
  });
  return lines;
}

/** The editor's HTML for these lines. A line is at most one list deeper than the line before, whatever its `depth`. */
export function renderLines(lines: readonly EditedLine[]): string {
  let html = '';
  const open: ('ol' | 'ul')[] = [];
  let isQuoted = false;
  const closeTo = (depth: number): void => {
    while (open.length > depth) html += `</li></${open.pop()!}>`;
  };
  for (const { words, tag, depth, list, isQuoted: shouldQuote, mark } of lines) {
    if (isQuoted !== shouldQuote || (depth > 0 && open.length > 0 && depth <= open.length && open[depth - 1] !== list))
      closeTo(isQuoted !== shouldQuote ? 0 : depth - 1);
    if (isQuoted !== shouldQuote) html += shouldQuote ? '<blockquote>' : '</blockquote>';
    isQuoted = shouldQuote;
    closeTo(depth);
    if (depth > 0 && open.length >= depth) html += '</li><li>';
    else if (depth > 0) {
      html += `<${list}><li>`;
      open.push(list);
    }
    const text = words.join(' ');
    const marked = mark && text ? `<${mark}>${text}</${mark}>` : text;
    html += `<${tag}>${marked}</${tag}>`;
  }
  closeTo(0);
  return isQuoted ? `${html}</blockquote>` : html;
}
