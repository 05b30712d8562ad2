/**
 * Tests the part of docs/style.md that a machine can check: commit subjects, and how comments, test titles and the
 * sentences of documents begin.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_SUBJECT_LENGTH = 72;
/** A longer cell belongs into the text below its table. */
const MAX_CELL_LENGTH = 300;

const CHECKED_FILES =
  /^(src|tests|simulators|benchmarks|scripts|database)\/.*\.(ts|tsx|mjs|css|sql)$|^[^/]+\.config\.ts$/;
/** This file's examples break the rules on purpose, so the file is not checked. */
const THIS_FILE = 'tests/fences/style.test.ts';
const GENERATED_FILES: ReadonlySet<string> = new Set(['database/schema.sql']);
/** Matches a sentence, not a question, that begins with a clause in place of a subject or a pronoun without a noun. */
const HEADLESS = /^(who|whoever|whom|whose|what|whatever|wherever|nobody|nothing|none|of what|so that)\b(?!.*\?$)/i;
const PRONOUN = /^(it|they|he|she|one|somebody)\b/i;
const RIDDLE = /\b((is|are|was|were) none|no other one|is no more|shall not)\b/i;

const trackedFiles = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const files = trackedFiles.filter(
  (file) => CHECKED_FILES.test(file) && !GENERATED_FILES.has(file) && file !== THIS_FILE,
);

/** The text of each comment; consecutive `//` or `--` lines are one comment. */
function commentsOf(file: string, source: string): string[] {
  const pattern = file.endsWith('.sql')
    ? /(?:^[ \t]*--.*\n)+/gm
    : /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=[;,{)(\]]) \/\/.*/gm;
  return [...source.matchAll(pattern)].map(([comment]) =>
    comment
      .replace(/^\s*\/\*\*?|\*\/\s*$/g, '')
      .split('\n')
      .map((line) => line.replace(/^\s*(\/\/|--|\*)?\s*/, ''))
      .join(' ')
      .trim()
      // The first line of a migration names its phase.
      .replace(/^phase: \w+ /, ''),
  );
}

const sentencesOf = (comment: string): string[] => comment.split(/(?<=[.!?:]) +(?=[A-Z`])/);

/** The prose of a Markdown document: no headings, tables, code or quotations. */
const proseOf = (source: string): string[] =>
  source
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/^(#|\|).*$/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((block) =>
      block
        .replace(/"[^"]*"/g, '""')
        .replace(/\*\*/g, '')
        .replace(/\s+/g, ' '),
    )
    .map((block) => block.replace(/^ ?(?:[-*]|\d+\.) /, '').trim());

function titlesOf(source: string): string[] {
  const call = /\b(?:test|it|describe|step)(?:\.\w+)*(?:\([^'"`\n]*\))?\(\s*(['"`])(.*?)\1/g;
  return [...source.matchAll(call)].map(([, , title]) => title!);
}

const isRiddle = (sentence: string): boolean => HEADLESS.test(sentence) || RIDDLE.test(sentence);

describe('the rules find', () => {
  test.each([
    ['// Who leaves early has had no try.\n'],
    ['/** Reads the row. Whoever asks twice gets the same. */'],
    ['/*\n * What was refused was none.\n */'],
    ['const a = 1; // no other one\n'],
    ['// phase: expand\n// What grows without end gets a rule.\n'],
  ])('%s', (source) => {
    expect(commentsOf('a.ts', source).flatMap(sentencesOf).some(isRiddle)).toBe(true);
  });

  test('a title that begins with a clause', () => {
    expect(titlesOf("test('what was told is kept', () => {});").some(isRiddle)).toBe(true);
  });

  test.each([['Saves wait.\n\n- **Limits.** What does not fit is refused.'], ['1. Whoever asks gets it.']])(
    'an opening in the document %j',
    (source) => {
      expect(proseOf(source).flatMap(sentencesOf).some(isRiddle)).toBe(true);
    },
  );

  test('no fault in headings, tables, code and quotations of a document', () => {
    const source = '# What is stored\n\nIt says "Saved. Nothing is lost."\n\n| what |\n\n```\nNothing.\n```\n';
    expect(proseOf(source).flatMap(sentencesOf).filter(isRiddle)).toEqual([]);
  });

  test('no fault in plain sentences', () => {
    const comment = '/** Reads the row. No-op if the lease was lost: the caller retries. */';
    expect(commentsOf('a.ts', comment).flatMap(sentencesOf).filter(isRiddle)).toEqual([]);
  });
});

test('comments have a subject', () => {
  const found = files.flatMap((file) =>
    commentsOf(file, readFileSync(join(ROOT, file), 'utf8'))
      .flatMap(sentencesOf)
      .filter(isRiddle)
      .map((sentence) => `${file}: ${sentence}`),
  );
  expect(found).toEqual([]);
});

test('the sentences of documents have a subject', () => {
  const found = trackedFiles
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      proseOf(readFileSync(join(ROOT, file), 'utf8'))
        .flatMap(sentencesOf)
        .filter((sentence) => HEADLESS.test(sentence))
        .map((sentence) => `${file}: ${sentence}`),
    );
  expect(found).toEqual([]);
});

test('the cells of tables in documents are short', () => {
  const found = trackedFiles
    .filter((file) => file.endsWith('.md') && !file.startsWith('docs/specification/'))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('|') && !/^[|: -]+$/.test(line))
        .flatMap((line) => line.split('|').map((cell) => cell.trim()))
        .filter((cell) => cell.length > MAX_CELL_LENGTH)
        .map((cell) => `${file}: ${cell}`),
    );
  expect(found).toEqual([]);
});

test('comments outside of migrations name an object of the schema, not the migration that a later one supersedes', () => {
  const found = files
    .filter((file) => !file.startsWith('database/'))
    .flatMap((file) =>
      commentsOf(file, readFileSync(join(ROOT, file), 'utf8'))
        .filter((comment) => /\b\d{4}_\w+\.sql\b/.test(comment))
        .map((comment) => `${file}: ${comment}`),
    );
  expect(found).toEqual([]);
});

test('test titles have a subject', () => {
  const found = files
    .filter((file) => /\.(test|spec)\.tsx?$/.test(file))
    .flatMap((file) =>
      titlesOf(readFileSync(join(ROOT, file), 'utf8'))
        .filter((title) => isRiddle(title) || PRONOUN.test(title))
        .map((title) => `${file}: ${title}`),
    );
  expect(found).toEqual([]);
});

test('commit subjects are short and name one change', () => {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  // Checks the commits after the commit that added docs/style.md: earlier commits follow no rule. A clone of depth 1
  // has no such commits.
  const added = git('log', '--diff-filter=A', '--format=%H', '--', 'docs/style.md').split('\n').at(-1);
  const subjects = git('log', '--no-merges', '--format=%s', added ? `${added}..HEAD` : 'HEAD..HEAD').split('\n');
  const faults = subjects.filter((subject) => subject.length > MAX_SUBJECT_LENGTH || subject.includes(';'));
  expect(faults).toEqual([]);
});
