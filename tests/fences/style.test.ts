/**
 * Tests the part of docs/style.md that a machine can check: the length of commit subjects and of the cells of tables,
 * and that comments cite what stays current.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_SUBJECT_LENGTH = 72;
/** A longer cell belongs into the text below its table. */
const MAX_CELL_LENGTH = 300;

const trackedFiles = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
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
  const citation = /(^\s*(\/\*|\*|\/\/)|\s\/\/ ).*\b\d{4}_\w+\.sql\b/;
  const found = trackedFiles
    .filter((file) => /^(src|tests|simulators|benchmarks|scripts)\/.*\.(ts|tsx|mjs|css)$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => citation.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test('comments name files that exist', () => {
  const comment = /^\s*(?:\/\*|\*|\/\/)|\s\/\/ /;
  const fileName = /(?<![\w./-])(?:[\w-]+\/)*[\w-][\w.-]*\.(?:tsx?|mjs|css)\b/g;
  const isTracked = (name: string): boolean => trackedFiles.some((file) => `/${file}`.endsWith(`/${name}`));
  const found = trackedFiles
    .filter((file) => /^(src|tests|simulators|benchmarks|scripts)\/.*\.(ts|tsx|mjs|css)$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line) => line.slice(comment.exec(line)?.index ?? line.length).match(fileName) ?? [])
        .filter((name) => !isTracked(name))
        .map((name) => `${file}: ${name}`),
    );
  expect(found).toEqual([]);
});

test('a file that is also a program runs it last, when every constant of the file has its value', () => {
  const found = trackedFiles
    .filter((file) => /^(src|tests|simulators|benchmarks|scripts|database)\/.*\.ts$/.test(file))
    .filter((file) => {
      const [, afterProgram = ''] = readFileSync(join(ROOT, file), 'utf8').split(/^if \(import\.meta\.main\)/m);
      return /^(export )?(const|let|class) /m.test(afterProgram);
    });
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
