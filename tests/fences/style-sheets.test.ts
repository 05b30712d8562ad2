/**
 * Compares the classes of CSS modules with those that components name. The compiler knows no classes, so a misspelt
 * one, or one whose rule was removed, would leave an element without its style.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const files = execFileSync('git', ['ls-files', 'src/client'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const sheets = files.filter((file) => file.endsWith('.module.css'));

const readFile = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The names of the classes, without what comments and strings look like and without those of `:global`. */
function definedClasses(css: string): Set<string> {
  const selectors = css.replaceAll(/\/\*.*?\*\/|'[^']*'|:global\([^)]*\)/gs, '');
  return new Set([...selectors.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name]) => name!));
}

type Use = { file: string; sheet: string; names: Set<string>; isDynamic: boolean };

/**
 * The names that a source uses of each style sheet it imports. `isDynamic`: it also computes names, such as
 * `styles[tone]`.
 */
function readUses(file: string, source: string): Use[] {
  const code = source.replaceAll(/^import .*$/gm, '').replaceAll(/\bimport\([^)]*\)/g, '');
  return [...source.matchAll(/^import (\w+) from '([^']+\.module\.css)';/gm)].map(([, variable, path]) => ({
    file,
    sheet: path!.startsWith('#client')
      ? path!.replace('#client', 'src/client')
      : relative(ROOT, resolve(ROOT, dirname(file), path!)),
    names: new Set([...code.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, 'g'))].map(([, name]) => name!)),
    isDynamic: code.includes(`${variable}[`),
  }));
}

const uses = files.filter((file) => /\.tsx?$/.test(file)).flatMap((file) => readUses(file, readFile(file)));

test('every class that a component names has a rule in its style sheet', () => {
  const missing = uses.flatMap(({ file, sheet, names }) => {
    const defined = definedClasses(readFile(sheet));
    return [...names].filter((name) => !defined.has(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('every class of a style sheet is named by a component', () => {
  const unused = sheets.flatMap((sheet) => {
    const importers = uses.filter((use) => use.sheet === sheet);
    if (importers.some(({ isDynamic }) => isDynamic)) return [];
    return [...definedClasses(readFile(sheet))]
      .filter((name) => !importers.some(({ names }) => names.has(name)))
      .map((name) => `${sheet}: ${name}`);
  });
  expect(unused).toEqual([]);
});

test('a component imports the style sheets of its own folder and of those above alone', () => {
  const foreign = uses.filter(({ file, sheet }) => !file.startsWith(`${dirname(sheet)}/`));
  expect(foreign.map(({ file, sheet }) => `${file}: ${sheet}`)).toEqual([]);
});

test('a class without a rule is found, and neither a comment nor an import counts as one', () => {
  const source = `import charts from './charts.module.css';\nimport('./charts.tsx');\n<p className={charts.quiet} />`;
  const [use] = readUses('src/client/ui/a.tsx', source);
  expect(use).toEqual({
    file: 'src/client/ui/a.tsx',
    sheet: 'src/client/ui/charts.module.css',
    names: new Set(['quiet']),
    isDynamic: false,
  });
  expect(definedClasses('/* .quiet */ .loud:hover > .part { opacity: 0.5 }')).toEqual(new Set(['loud', 'part']));
});
