/** Collects the text of one block and collapses its white space as a browser shows it. */
import type { Mark, Piece } from '#domain/log/log-builder.ts';
import { indentOf, type ShowIndents } from '#domain/log/indented-text.ts';
import { normalizeText } from '#domain/log/text-to-log.ts';

export type WhiteSpace = 'collapse' | 'keep-lines' | 'keep';

const BLANK = /^[\s\u200B\u2060]*$/;

const COLLAPSIBLE = /[ \t\n\r\f]+/g;

export const codeText = (text: string, whiteSpace: WhiteSpace): string =>
  normalizeText(whiteSpace === 'collapse' ? text.replace(COLLAPSIBLE, ' ') : text);

export class TextLine {
  private pieces: Piece[] = [];
  private atLineStart = true;
  /** Set by `takePosition`: the next text begins a new piece. */
  private isPositionTaken = false;
  /** A space that is shown only if text follows on the line. */
  private pendingSpace: readonly Mark[] | null = null;

  add(raw: string, whiteSpace: WhiteSpace, marks: readonly Mark[]): void {
    // Separators that are not white space of HTML end a line in any mode.
    const text = normalizeText(whiteSpace === 'collapse' ? raw.replace(COLLAPSIBLE, ' ') : raw);
    const [first, ...others] = text.split('\n');
    this.addSegment(first!, whiteSpace, marks);
    for (const segment of others) {
      this.breakLine();
      this.addSegment(segment, whiteSpace, marks);
    }
  }

  private addSegment(segment: string, whiteSpace: WhiteSpace, marks: readonly Mark[]): void {
    if (whiteSpace === 'keep') {
      if (segment !== '') this.push(segment, marks);
      return;
    }
    const text = segment.replace(COLLAPSIBLE, ' ');
    if (text.startsWith(' ') && !this.atLineStart) this.pendingSpace ??= marks;
    const words = text.replace(/^ | $/g, '');
    if (words === '') return;
    this.push(words, marks);
    if (text.endsWith(' ')) this.pendingSpace = marks;
  }

  private push(text: string, marks: readonly Mark[]): void {
    if (this.pendingSpace) {
      const spaceMarks = this.pendingSpace.filter((mark) => marks.includes(mark));
      this.pendingSpace = null;
      this.push(' ', spaceMarks);
    }
    const last = this.pieces.at(-1);
    if (last && !this.isPositionTaken && last.marks.join() === marks.join()) last.text += text;
    else this.pieces.push({ text, marks });
    this.isPositionTaken = false;
    this.atLineStart = false;
  }

  breakLine(): void {
    this.pieces.push(null);
    this.pendingSpace = null;
    this.atLineStart = true;
  }

  /** A box in the line, such as a button: the spaces around it are shown, those at its own ends are not. */
  enterBox(): void {
    if (this.pendingSpace) this.push('', []);
    this.atLineStart = true;
  }

  leaveBox(): void {
    this.pendingSpace = null;
    this.atLineStart = false;
  }

  /** Where the next text begins, for `textSince` and `replaceSince`. */
  takePosition(): number {
    this.isPositionTaken = true;
    return this.pieces.length;
  }

  textSince(position: number): string {
    return this.pieces
      .slice(position)
      .map((piece) => piece?.text ?? ' ')
      .join('');
  }

  /** Replaces the text since `position`, but not a space at its start. */
  replaceSince(position: number, text: string, marks: readonly Mark[]): void {
    const space = this.textSince(position).startsWith(' ') ? ' ' : '';
    this.pieces.length = position;
    this.append(space + text, marks);
  }

  append(text: string, marks: readonly Mark[]): void {
    const space = this.pendingSpace;
    this.pendingSpace = null;
    this.push(text, marks);
    this.pendingSpace = space;
  }

  get endsInWord(): boolean {
    const last = this.pieces.at(-1)?.text.slice(-2) ?? '';
    return this.pendingSpace === null && !this.atLineStart && /[\p{L}\p{N}]$/u.test(last);
  }

  get isBlank(): boolean {
    return this.pieces.every((piece) => piece === null || BLANK.test(piece.text));
  }

  /**
   * Ends the block and returns its paragraphs, which blank lines separate, trimmed at both ends. `showIndents` keeps an
   * indentation of two columns or more, which has a meaning in text such as YAML copied from a mail.
   */
  take(showIndents: ShowIndents | null): Piece[][] {
    const { pieces } = this;
    this.pieces = [];
    this.atLineStart = true;
    this.pendingSpace = null;
    const lines: Piece[][] = [[]];
    for (const piece of pieces) {
      if (piece) lines.at(-1)!.push(piece);
      else lines.push([]);
    }
    const paragraphs: Piece[][] = [];
    let isOpen = false;
    for (const line of lines) {
      const trimmed = trimEnd(isOpen ? line : trimStart(line, showIndents));
      if (trimmed.length === 0) isOpen = false;
      else if (isOpen) paragraphs.at(-1)!.push(null, ...trimmed);
      else {
        paragraphs.push(trimmed);
        isOpen = true;
      }
    }
    return paragraphs;
  }
}

function trimStart(line: Piece[], showIndents: ShowIndents | null): Piece[] {
  const first = line.findIndex((piece) => !BLANK.test(piece!.text));
  if (first === -1) return [];
  const blanks = line.slice(0, first).map((piece) => piece!.text);
  const text = line[first]!.text.trimStart();
  const indent = indentOf((blanks.join('') + line[first]!.text).replaceAll('\u00A0', ' '));
  const shown = showIndents !== null && indent > 1 ? showIndents([indent])[0]! + text : text;
  return [{ ...line[first]!, text: shown }, ...line.slice(first + 1)];
}

function trimEnd(line: Piece[]): Piece[] {
  const last = line.findLastIndex((piece) => !BLANK.test(piece!.text));
  if (last === -1) return [];
  return [...line.slice(0, last), { ...line[last]!, text: line[last]!.text.trimEnd() }];
}
