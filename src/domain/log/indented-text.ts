/** Recognises code and data in plain text, whose indentation has a meaning. */

export const HEADING = /^(#{1,6}) +\S/;
/** The first line of a fenced code block. The lookahead prevents quadratic time in a long run of `~`. */
export const FENCE = /^[ \t]*(`{3,}|~{3,}(?!~))[^`]*$/;
export const LIST_ITEM = /^\s*(?:\d{1,9}[.)]|[-+*•]) /;
/** The underline of a setext heading. A line of dashes does not count: it is more often a thematic break. */
export const HEADING_RULE = /^={3,}\s*$/;

/** Lines of shell, program or SQL code. */
const CODE_LINE = [
  /^\s*(?:\$ |% |>>> |#!|\/\/|\/\*|<(?!https?:|mailto:|u>)[a-z!?/])/i,
  /^\s*(?:sudo|npm|npx|yarn|pnpm|git|docker|kubectl|brew|apt|apt-get|pip|pip3|curl|wget|ssh|scp|cd|mkdir|chmod|chown|echo|export|cargo) [\w./~"'$@:`-]+/,
  /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX)|ALTER TABLE)\b/,
  /^\s*(?:def|class|func|function|fn|const|let|var|public|private|static|import|from|return|async) [\w{*$].*[{};:)]\s*$/,
  /^\s*[\w.$-]+\s?(?:[-+*/]?=|:=|==)\s?\S/,
  /&&|\|\||\$\(|\$\{|=>|[=!]==|\(\);|\);\s*$|[{;]\s*$.*[=(]|\\\s*$/,
  /^\s*[})\]]+(?:[;,][;,)]*)?\s*$/,
];
const withoutInlineCode = (line: string): string => line.replace(/`[^`\n]+`/g, ' ');
export const isCodeLine = (line: string): boolean =>
  CODE_LINE.some((pattern) => pattern.test(LIST_ITEM.test(line) ? withoutInlineCode(line) : line)) &&
  !HEADING.test(line) &&
  !HEADING_RULE.test(line);

export const INDENT = /^[ \t]*/;
const TAB_WIDTH = 4;

export const indentOf = (line: string): number => {
  const spaces = INDENT.exec(line)![0];
  return spaces.length + (spaces.split('\t').length - 1) * (TAB_WIDTH - 1);
};

/** A program's data: `{`, `"key": 1,`. */
const DATA_LINE = /^\s*(?:[{[]|"[^"]*": ?.*)\s*$/;

/** Lines that are common in blocks of code, and rare in indented prose. */
const BLOCK_LINE = [
  /(?:[{[;]|\w\()\s*$/,
  /^\s*(?:if|elif|else|for|while|try|except|finally|with|def|class|match|case)\b.*:\s*$/,
  /^\s*(?:pass|break|continue|end|endif|fi|done|esac|return|raise|yield)\b/,
  /\b(?:then|do)\s*$/,
  /^\s*[\w.]+\(.*\)[;,]?\s*$/,
  // The branches of a tree of files.
  /^[\s│|]*[├└╰]/,
];

/** The start of a line with a YAML key, which may be the first field of an item. */
const KEY_START = String.raw`^\s*(?:- +)*(?:<<|[\w./$@-]+|"[^"]+"|'[^']+'):`;
const KEY = new RegExp(String.raw`${KEY_START}(?:\s+\S.*|\s*)$`);
const SENTENCE_CASE = /^\s*(?:- +)*["']?[A-Z][a-z]*:/;
/** An item or a comment of YAML, or the start or end of a document. */
const OTHER_YAML = /^\s*(?:- \S|#|---\s*$|\.\.\.\s*$)/;
/** A key that opens a block: it has no value, or only the sign of a block of text, an anchor or a tag. */
const OPENS_BLOCK = new RegExp(String.raw`${KEY_START}(?:\s+(?:[|>][-+\d]*|[&!]\S+))*\s*(?:\s#.*)?$`);

/** The column of the key: an item's first field stands behind its dash. */
const columnOf = (line: string): number => indentOf(line) + (/^\s*((?:- +)*)/.exec(line)![1] ?? '').length;

/**
 * Nested keys in lines that are mostly keys. `Notes:` above two lines with a colon is prose: keys in sentence case
 * count only if they are nested twice.
 */
function isYaml(lines: readonly string[]): boolean {
  const keys = lines.filter((line) => KEY.test(line));
  const others = lines.filter((line) => !KEY.test(line) && OTHER_YAML.test(line));
  const isNested = lines.filter((line, index) => {
    const next = lines[index + 1];
    if (next === undefined || !KEY.test(line) || !KEY.test(next)) return false;
    return OPENS_BLOCK.test(line) ? columnOf(next) > indentOf(line) : indentOf(next) > indentOf(line);
  });
  const needed = keys.filter((line) => SENTENCE_CASE.test(line)).length * 2 > keys.length ? 2 : 1;
  return isNested.length >= needed && (keys.length + others.length) * 3 >= lines.length * 2;
}

const SQL_START =
  /^\s*(?:with\s+(?:recursive\s+)?\w+\s+as|select|insert\s+into|update\s+[\w."]+|delete\s+from|create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?:table|index|view|function|materialized)|alter\s+table|merge\s+into)\b/i;
const SQL_CLAUSE =
  /^\s*(?:from|where|and|or|on|using|(?:(?:left|right|inner|outer|full|cross|natural)\s+)*join|group\s+by|order\s+by|having|limit|set|values|union|returning|case|when|then|else|end)\b/i;

/**
 * The first line starts with an SQL keyword. The rest must end in `;` or `)`, or have a clause. A keyword in lower case
 * may begin a sentence, so it needs two clauses.
 */
function isSql(lines: readonly string[]): boolean {
  const [first = '', ...rest] = lines.filter((line) => !/^\s*--/.test(line));
  if (!SQL_START.test(first)) return false;
  if (/[;)]\s*$/.test(rest.at(-1) ?? '')) return true;
  const clauses = rest.filter((line) => SQL_CLAUSE.test(line)).length;
  return clauses >= (/^\s*[A-Z]{4}/.test(first) ? 1 : 2);
}

/** A target and its commands, which begin with a tab. */
const isMakefile = (lines: readonly string[]): boolean =>
  lines.some((line, index) => TARGET.test(line) && /^\t\S/.test(lines[index + 1] ?? '')) &&
  lines.filter((line) => TARGET.test(line) || /^[\t#]/.test(line)).length * 3 >= lines.length * 2;
const TARGET = /^[\w./%-]+:(?!\S)/;

/** Code or data with indented lines, which lose their meaning without the indentation. */
export function isIndentedCode(lines: readonly string[]): boolean {
  const filled = lines.filter((line) => line.trim() !== '');
  if (!filled.some((line) => indentOf(line) > indentOf(filled[0]!))) return false;
  // Blank lines separate code from prose more often than code from code, so a text with some needs more lines of code.
  const share = /\n\s*\n/.test(lines.join('\n').trim()) ? 2 / 3 : 1 / 2;
  const code = filled.filter((line) =>
    [isCodeLine, ...[DATA_LINE, ...BLOCK_LINE].map((pattern) => (text: string) => pattern.test(text))].some((is) =>
      is(line),
    ),
  );
  return code.length >= filled.length * share || isYaml(filled) || isSql(filled) || isMakefile(filled);
}

/** Lines whose indentation shows levels: it rises twice, or returns to a level that it has left. */
export function isOutline(lines: readonly string[]): boolean {
  let levels: number[] = [];
  for (const indent of lines.filter((line) => line.trim() !== '').map(indentOf)) {
    const outer = levels.filter((level) => level < indent);
    if (levels.length > outer.length + 1 && levels[outer.length] === indent) return true;
    levels = [...outer, indent];
    if (levels.length > 2) return true;
  }
  return false;
}

/** Blanks that are shown at the start of any line: a log in HTML and Markdown loses others. */
const NO_BREAK_SPACE = '\u00A0';
/** A deeper indentation is cut: it is layout, such as a line at the right of the page. */
const MAX_COLUMNS = 40;
/** The limit for one text. A column takes six bytes of HTML: a long text would make its day too large to store. */
const MAX_SHOWN_COLUMNS = 5_000;

/**
 * Returns the visible indentation of lines, given in columns. Empty strings if the text would then have more than
 * `MAX_SHOWN_COLUMNS`.
 */
export type ShowIndents = (indents: readonly number[]) => string[];

/** One per text: it counts the columns that it has shown. */
export function createIndents(): ShowIndents {
  let left = MAX_SHOWN_COLUMNS;
  return (indents) => {
    const columns = indents.map((indent) => Math.min(indent, MAX_COLUMNS));
    const sum = columns.reduce((total, count) => total + count, 0);
    if (sum > left) return columns.map(() => '');
    left -= sum;
    return columns.map((count) => NO_BREAK_SPACE.repeat(count));
  };
}
