/**
 * Finds statements that must not run on a large database while servers serve it (docs/operations/upgrades.md). The
 * rules know the forms that this repository uses; a statement that they reject wrongly stands below a line `-- safe:
 * REASON`.
 */
import type { Phase } from '#server/database/migrations/migration-files.ts';

type Statement = { text: string; isSafe: boolean };

const IN_MIGRATE = 'belongs in a file of its own with the phase migrate';

/** Statements that rewrite or scan a table under a lock, or hold locks for long. */
const BLOCKING: readonly (readonly [RegExp, string])[] = [
  [/^create (unique )?index (?!concurrently)/, `blocks writes: create index concurrently ${IN_MIGRATE}`],
  [/\bconcurrently\b/, `cannot run in a transaction: it ${IN_MIGRATE}`],
  [/^alter table .* validate constraint/, `reads the whole table: it ${IN_MIGRATE}`],
  [/^alter table .*\balter (column )?\w+ (set data )?type\b/, 'rewrites the table: add a column, backfill, contract'],
  [/^alter table .*\bset not null\b/, 'reads the whole table: add a check … not valid and validate it later'],
  [/^alter table .*\badd (constraint \w+ )?(check|foreign key)\b(?!.*\bnot valid\b)/, 'lacks not valid'],
  [/^alter table .*\badd (constraint \w+ )?(unique|primary key|exclude)\b(?!.* using index )/, 'lacks using index'],
  [/^alter table .*\badd column [^,]*\b(references|check|unique|primary key)\b/, 'adds its constraint validated'],
  [/^alter table .*\badd column [^,]*\bdefault (?!now\(\)|current_)[a-z_.]+\(/, 'rewrites the table for its default'],
  [/^alter table .*\badd column [^,]*(\bgenerated\b|serial\b)/, 'rewrites the table'],
  [/^alter table .*\bset (logged|unlogged|tablespace|access method)\b/, 'rewrites the table'],
  [/^(update|delete|truncate|with)\b/, `changes rows: it ${IN_MIGRATE}, in batches`],
  [/^insert\b.*\bselect\b/, `may write many rows: it ${IN_MIGRATE}, in batches`],
  [/^(vacuum|cluster|reindex|lock|refresh)\b/, 'blocks requests or cannot run in a transaction'],
  [/^do\b/, 'hides its statements: write them out'],
];

/** Statements that older servers may not survive. */
const BREAKING: readonly (readonly [RegExp, string])[] = [
  [/^drop |^alter table .*\bdrop (?!not null|default)/, 'removes what older servers use: phase contract'],
  [/\brename\b/, 'renames what older servers use: add the new name, contract the old one'],
  [/^revoke\b/, 'takes a right from older servers: phase contract'],
  [/^alter table .*\badd column [^,]*\bnot null\b(?!.*\bdefault\b)/, 'makes inserts of older servers fail: no default'],
];

/** Returns a line for each problem of a migration's file. */
export function findProblems(phase: Phase, sql: string): string[] {
  // The form of these files is checked when they are read (migration-files.ts).
  if (phase === 'migrate') return [];
  const statements = splitStatements(sql);
  const created = statements.flatMap(({ text }) => createdObject(text) ?? []);
  const rules = phase === 'expand' ? [...BLOCKING, ...BREAKING] : BLOCKING;
  return statements
    .filter(({ text, isSafe }) => !isSafe && !created.some((object) => concerns(text, object)))
    .flatMap(({ text }) =>
      rules.filter(([rule]) => rule.test(text)).map(([, problem]) => `${text.slice(0, 80)}: ${problem}`),
    );
}

/** The object that a statement creates: nobody uses it yet, or the file drops and creates it anew. */
function createdObject(text: string): string | undefined {
  const [, object] =
    /^create (?:or replace )?(?:unlogged )?(?:table|view|function|trigger|policy|type|schema) (?:if not exists )?([\w."]+)/.exec(
      text,
    ) ??
    /^alter table .*\badd (?:constraint) (\w+) /.exec(text) ??
    [];
  return object;
}

/** True for a statement about a new table, and for the removal of an object that the file creates again. */
function concerns(text: string, object: string): boolean {
  const name = object.replaceAll(/[.]/g, '\\.');
  return new RegExp(
    `^(?:alter table (?:only )?|create (?:unique )?index .*\\bon |revoke .* on (?:function |table )?(?:[\\w.]+, )*|` +
      `insert into |drop (?:table|view|function|trigger|policy|type) (?:if exists )?|alter table [\\w.]+ drop constraint )${name}(?![\\w.])`,
  ).test(text);
}

/** Returns the statements in lower case, with one space between words, without comments, texts and function bodies. */
function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  let text = '';
  let isSafe = false;
  const token = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|;|[^-/'$;]+|./gs;
  for (const [part] of sql.matchAll(token)) {
    if (part.startsWith('--') || part.startsWith('/*')) {
      if (/^-- safe: \S/.test(part)) isSafe = true;
      continue;
    }
    if (part.startsWith('$') && part.length > 1) text += ' body ';
    else if (part.startsWith("'")) text += "''";
    else if (part !== ';' || (/\bbegin atomic\b/i.test(text) && !/\bend\s*$/i.test(text))) text += part;
    else {
      statements.push({ text: normalise(text), isSafe });
      text = '';
      isSafe = false;
    }
  }
  if (text.trim() !== '') statements.push({ text: normalise(text), isSafe });
  return statements;
}

const normalise = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
