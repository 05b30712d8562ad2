/**
 * Finds the Markdown mark that a typed character completes. The delimiters follow CommonMark's flanking rules (spec 0.31,
 * section 6.2) and are stricter where a work log has formulas, globs and identifiers: `2*3*4`, `*.log`, `__init__`.
 */

export type MarkName = 'bold' | 'italic' | 'strike' | 'code';

export type TypedMark = {
  marks: readonly MarkName[];
  /** The offset of the opening delimiter. */ from: number;
  size: number;
};

const MARKS: Readonly<Record<string, readonly MarkName[]>> = {
  '*': ['italic'],
  _: ['italic'],
  '**': ['bold'],
  __: ['bold'],
  '***': ['bold', 'italic'],
  ___: ['bold', 'italic'],
  '~~': ['strike'],
  '`': ['code'],
};

const CLOSER = /([*_~`])\1*$/;
/** A letter or digit of a script that puts spaces between words. The other scripts have marks within a sentence. */
const IN_WORD = /(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}])[\p{L}\p{M}\p{N}]$/u;
const SIGN_OF_CODE = /[/\\.$=+<>&%#@^|]$/;
const WORD_START = /^[\p{L}\p{M}\p{N}]/u;
const CANNOT_BEGIN = /^[\s.,;:!?/\\|)\]}]/;
const CANNOT_END = /[\s/\\|([{]$/;
const IDENTIFIER = /^\w+$/;

/** `before` ends with the typed character; `after` is what follows the caret. Null if nothing is completed. */
export function findTypedMark(before: string, after: string): TypedMark | null {
  const [run, sign] = CLOSER.exec(before) ?? [];
  const marks = MARKS[run ?? ''];
  if (run === undefined || sign === undefined || !marks || after.startsWith(sign)) return null;
  const size = run.length;
  const end = before.length - size;
  const isCode = sign === '`';
  if (/^\s$/.test(before[end - 1] ?? ' ') || (!isCode && CANNOT_END.test(before.slice(0, end)))) return null;
  if (sign === '_' && WORD_START.test(after)) return null;
  for (let last = end; (last = before.slice(0, last).lastIndexOf(sign)) >= 0;) {
    const content = before.slice(last + 1, end);
    while (before[last - 1] === sign) last -= 1;
    const outside = before.slice(0, last);
    // A sign between spaces, as in `2 * 3`, is no delimiter. Any other one ends the search.
    const isLoose = /^\s/.test(content) && /(?:^|\s)$/.test(outside);
    if (isLoose && !isCode) continue;
    const canBegin = isCode ? /^\S/.test(content) : !CANNOT_BEGIN.test(content);
    const canFollow = !IN_WORD.test(outside) && !SIGN_OF_CODE.test(outside);
    const isWhole = end - content.length - last === size;
    const isName = sign === '_' && size > 1 && IDENTIFIER.test(content);
    return content !== '' && isWhole && canBegin && canFollow && !isName ? { marks, from: last, size } : null;
  }
  return null;
}
