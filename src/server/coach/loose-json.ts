/**
 * A lenient parser of objects that are nearly JSON: other quotation marks, names without quotation marks, comments,
 * missing or extra commas, `True`, `False` and `None` of Python, and unescaped quotation marks within a string. Only
 * for replies of models.
 */
import { parseJson } from '../parse-json.ts';

/** The quotation marks that can close a string, by the one that opens it. */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”"'],
  ['„', '“”"'],
  ['‘', '’'],
  ['«', '»'],
]);
const MARK = String.raw`["'“”‘’]?`;
const NAME = String.raw`[A-Za-z_][\w -]{0,30}`;
/**
 * A quotation mark closes a string only if the pattern for its place matches behind it: `AFTER_MEMBER` for a value of
 * an object, whose next name may be cut off, `AFTER_ITEM` for one of a list, and `AFTER_NAME` for a name. Any other
 * quotation mark belongs to the string. Sentences contain `#12` and `word =`: `#` before a word therefore closes no
 * string, and a name with `=` does only after a comma or a line break.
 */
const AFTER_MEMBER = new RegExp(
  String.raw`\s*(?:,?\s*(?:\}|$|\x60{3}|//|#(?!\w)|/\*|${MARK}${NAME}${MARK}\s*:)|,\s*["'“](?:${NAME}${MARK})?\s*$)|[ \t]*[,\n]\s{0,40}${MARK}${NAME}${MARK}\s*=`,
  'y',
);
const AFTER_ITEM = /\s*(?:,|\]|\/\/|#(?!\w)|\/\*)/y;
const AFTER_NAME = /\s*(?:[:：]|=>?)/y;
const BLANKS = /(?:\s|(?:\/\/|#)[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*/y;
const BARE = /[^\s,}\]"'][^,}\]\n"]{0,40}/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['none', null],
  ['undefined', null],
]);
const MAX_DEPTH = 10;

export type LooseObject = { entries: [name: string, value: unknown][]; end: number };

/**
 * The object that begins at `start`; null if it cannot be read. A missing closing brace at the end of the text is
 * accepted, unless a number comes last: a `1` may be a truncated `10`.
 */
export function parseLooseObject(text: string, start: number): LooseObject | null {
  const reader = new Reader(text, start);
  const entries = reader.readObject(0);
  return entries && { entries, end: reader.at };
}

class Reader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  readObject(depth: number): [string, unknown][] | null {
    this.at += 1;
    const entries: [string, unknown][] = [];
    for (;;) {
      this.#skip(BLANKS);
      if (this.#take('}')) return entries;
      const name = this.#readName();
      if (name === null || this.#skip(AFTER_NAME) === null) return null;
      const value = this.#readValue(depth, AFTER_MEMBER);
      if (value === undefined) return null;
      entries.push([name, value]);
      this.#skip(BLANKS);
      if (this.#isAtEnd()) return typeof value === 'number' ? null : entries;
      this.#take(',');
    }
  }

  #readList(depth: number): unknown[] | undefined {
    this.at += 1;
    const items: unknown[] = [];
    for (;;) {
      this.#skip(BLANKS);
      if (this.#take(']')) return items;
      const item = this.#readValue(depth, AFTER_ITEM);
      if (item === undefined) return undefined;
      items.push(item);
      this.#skip(BLANKS);
      this.#take(',');
    }
  }

  /** The next value; undefined if it cannot be read. */
  #readValue(depth: number, after: RegExp): unknown {
    this.#skip(BLANKS);
    const sign = this.#text[this.at] ?? '';
    if (depth >= MAX_DEPTH) return undefined;
    if (sign === '[') return this.#readList(depth + 1);
    if (CLOSING.has(sign)) return this.#readText(after) ?? undefined;
    if (sign === '{') {
      const entries = this.readObject(depth + 1);
      return entries ? Object.fromEntries(entries) : undefined;
    }
    const bare = this.#skip(BARE)
      ?.replace(/\s*(?:\/[/*]|#).*$/, '')
      .trim();
    if (bare === undefined) return undefined;
    const known = WORDS.get(bare.toLowerCase());
    if (known !== undefined) return known;
    return /^[+-]?\d+(?:\.\d+)?$/.test(bare) ? Number(bare) : bare;
  }

  #readName(): string | null {
    if (CLOSING.has(this.#text[this.at] ?? '')) return this.#readText(AFTER_NAME);
    return this.#skip(new RegExp(NAME, 'y'))?.trim() ?? null;
  }

  #readText(after: RegExp): string | null {
    const closing = CLOSING.get(this.#text[this.at]!)!;
    for (let end = this.at + 1; end < this.#text.length; end += 1) {
      if (this.#text[end] === '\\') end += 1;
      else if (closing.includes(this.#text[end]!)) {
        after.lastIndex = end + 1;
        if (!after.test(this.#text)) continue;
        const source = this.#text.slice(this.at + 1, end);
        this.at = end + 1;
        return parseJson(`"${repairEscapes(source).replaceAll(/(?<!\\)"/g, '\\"')}"`) as string;
      }
    }
    return null;
  }

  /** Moves behind what the pattern matches here, and returns it; null if it does not match. */
  #skip(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.at += found?.length ?? 0;
    return found;
  }

  #take(sign: string): boolean {
    if (this.#text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  #isAtEnd(): boolean {
    return this.at >= this.#text.length || this.#text.startsWith('```', this.at);
  }
}

/**
 * Escapes raw control characters in a JSON string. Of the backslashes that are no escape of JSON, it drops those of
 * punctuation, as in `\[` or `\'`, and keeps those before a letter or digit, as in `C:\Temp`.
 */
export const repairEscapes = (string: string): string =>
  string
    .replaceAll(/(\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))|(\\(?=[\p{L}\p{N}]))|\\/gu, (_, valid?: string, literal?: string) =>
      literal === undefined ? (valid ?? '') : String.raw`\\`,
    )
    // oxlint-disable-next-line no-control-regex -- JSON forbids exactly these
    .replaceAll(/[\0-\x1f]/g, (control) => JSON.stringify(control).slice(1, -1));
