/** Recognises code and data in plain text, whose indentation has a meaning. */

export const HEADING = /^(#{1,6}) +\S/;
export const LIST_ITEM = /^\s*(?:\d{1,9}[.)]|[-+*•]) /;
/** The line below a heading. A line of dashes is more often a rule. */
export const HEADING_RULE = /^={3,}\s*$/;

/** Lines of shell, program or SQL code. */
const CODE_LINE = [
  /^\s*(?:\$ |% |>>> |#!|\/\/|\/\*|<(?!https?:|mailto:|u>)[a-z!?/])/i,
  /^\s*(?:sudo|npm|npx|yarn|pnpm|git|docker|kubectl|brew|apt|apt-get|pip|pip3|curl|wget|ssh|scp|cd|mkdir|chmod|chown|echo|export|cargo) [\w./~"'$@:`-]+/,
  /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX)|ALTER TABLE)\b/,
  /^\s*(?:def|class|func|function|fn|const|let|var|public|private|static|import|from|return|async) [\w{*$].*[{};:)]\s*$/,
  /^\s*[\w.$-]+\s?(?:[-+*/]?=|:=|==)\s?\S/,
  /&&|\|\||\$\(|\$\{|=>|[=!]==|\(\);|\);\s*$|[{;]\s*$.*[=(]|\\\s*$/,
  /^\s*[})\]]+[;,)]*\s*$/,
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

/** Code whose lines are indented: without the indentation it would be lost. */
export function isIndentedCode(lines: readonly string[]): boolean {
  const filled = lines.filter((line) => line.trim() !== '');
  const isIndented = filled.some((line) => indentOf(line) > indentOf(filled[0]!));
  const code = filled.filter((line) => isCodeLine(line) || DATA_LINE.test(line));
  return isIndented && filled.length > 1 && code.length * 2 >= filled.length;
}
