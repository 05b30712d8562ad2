/** Tests the reading of plain text from terminals, chats and notes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeHtml } from './entry-html.ts';
import { normalizeText, textToLog } from './text-to-log.ts';

const convert = (text: string): string => textToLog(text).html;
const p = (...texts: string[]): string => texts.map((text) => `<p>${text}</p>`).join('');
const nbsp = (count: number): string => '&nbsp;'.repeat(count);
const li = (...texts: string[]): string => texts.map((text) => `<li><p>${text}</p></li>`).join('');

test('makes a paragraph of each line and drops blank lines', () => {
  expect(convert('Fixed the login\r\n\r\n  Wrote the tests \n\nReviewed <b>')).toBe(
    p('Fixed the login', `${nbsp(2)}Wrote the tests`, 'Reviewed &lt;b&gt;'),
  );
});

test('ends a line at unusual separators, and drops controls', () => {
  expect(convert('a\u2028b\u2029c\u0085d\u000Be\u000Cf\u0007\u001B\uFFFCg')).toBe(p('a', 'b', 'c', 'd', 'e', 'fg'));
  expect(normalizeText('a\r\nb\u000Bc\u0000\ufeff')).toBe('a\nb\nc');
  const colours = '\u001B[1;31mred\u001B[0m \u001B]8;;https://a.example\u0007link\u001B]8;;\u001B\\ [0m\u001B[K';
  expect(normalizeText(colours)).toBe('red link [0m');
});

test.each(['- a', '* a', '+ a', '• a', '· a', 'o\ta'])('turns %j into an item', (line) => {
  expect(convert(line)).toBe(`<ul>${li('a')}</ul>`);
});

test.each([
  '21. November',
  '3. 11. 2026',
  'e. coli',
  'c. 40 people',
  '— Hola',
  '– Hola',
  '- 5 °C',
  '+ 3 new customers',
  '1. a',
  '2026. A good year',
  '-5 degrees',
  '1.5 hours',
  'a.m. meeting',
  '*bold*',
  '--flag off',
  'o boy',
  '[link](x)',
  '-',
  '✓ 12 tests passed',
  '-----',
  '* * *',
  '– – –',
  '> quoted',
])('keeps %j as a sentence, alone and between others', (line) => {
  const html = line.replace('>', '&gt;');
  expect(convert(line)).toBe(p(html));
  expect(convert(`One\n${line}\nTwo`)).toBe(p('One', html, 'Two'));
});

test.each([
  ['1. a\n2. b', `<ol>${li('a', 'b')}</ol>`],
  ['21. a\n22. b\n\n23. c', `<ol start="21">${li('a', 'b', 'c')}</ol>`],
  ['(3) a\n(4) b', `<ol start="3">${li('a', 'b')}</ol>`],
  ['b) a\nc) b', `<ol start="2">${li('a', 'b')}</ol>`],
  ['A. a\nB. b', `<ol>${li('a', 'b')}</ol>`],
  ['1. a\n1. b\n1. c', `<ol>${li('a', 'b', 'c')}</ol>`],
  ['a. x\na. y', p('a. x', 'a. y')],
  ['- a\n  1. b', `<ul><li><p>a</p><ol>${li('b')}</ol></li></ul>`],
  ['● a\n● b', `<ul>${li('a', 'b')}</ul>`],
  ['\uF0B7\ta', `<ul>${li('a')}</ul>`],
  ['1. a\n3. b', p('1. a', '3. b')],
  ['1. a\n2) b', p('1. a', '2) b')],
  ['3. 11. 2026\n4. 11. 2026', p('3. 11. 2026', '4. 11. 2026')],
  ['– a\n– b', `<ul>${li('a', 'b')}</ul>`],
  ['— Hola\n— Adiós', p('— Hola', '— Adiós')],
  ['- 5 °C\n- 7 °C', p('- 5 °C', '- 7 °C')],
  ['- a\n- 5 °C\n- b', `<ul>${li('a', '- 5 °C', 'b')}</ul>`],
  ['- old\n+ new', p('- old', '+ new')],
])('reads the markers of a run: %j', (text, html) => {
  expect(convert(text)).toBe(html);
});

test.each([
  ['１．買い物\n２．掃除', `<ol>${li('買い物', '掃除')}</ol>`],
  ['３． 買い物\n４． 掃除', `<ol start="3">${li('買い物', '掃除')}</ol>`],
  ['1、开会\n2、写报告\n3、回邮件', `<ol>${li('开会', '写报告', '回邮件')}</ol>`],
  ['（1）开会\n（2）写报告', `<ol>${li('开会', '写报告')}</ol>`],
  ['（９）회의\n（１０）보고', `<ol start="9">${li('회의', '보고')}</ol>`],
  ['1.买菜\n2.开会', `<ol>${li('买菜', '开会')}</ol>`],
  ['1)買い物\n2)掃除', `<ol>${li('買い物', '掃除')}</ol>`],
  ['1. 买菜\n2.开会', `<ol>${li('买菜', '开会')}</ol>`],
  ['①买菜\n② 开会', `<ol>${li('买菜', '开会')}</ol>`],
  ['⑲ a\n⑳ b', `<ol start="19">${li('a', 'b')}</ol>`],
  ['⑴a\n⑵b', `<ol>${li('a', 'b')}</ol>`],
  ['❷a\n❸b', `<ol start="2">${li('a', 'b')}</ol>`],
  ['一、买菜\n二、开会', `<ol>${li('买菜', '开会')}</ol>`],
  ['（十九）买菜\n（二十）开会\n（二十一）回家', `<ol start="19">${li('买菜', '开会', '回家')}</ol>`],
  ['㈠买菜\n㈡开会', `<ol>${li('买菜', '开会')}</ol>`],
  ['一、买菜\n  1、苹果\n  2、梨\n二、开会', `<ol><li><p>买菜</p><ol>${li('苹果', '梨')}</ol></li>${li('开会')}</ol>`],
  ['1、开会', p('1、开会')],
  ['①と②を比べた', p('①と②を比べた')],
  ['①a\n①b', p('①a', '①b')],
  ['１．a\n３．b', p('１．a', '３．b')],
  ['１．５時間\n２．５時間', p('１．５時間', '２．５時間')],
  ['3、4月的事\n4、5月的事', p('3、4月的事', '4、5月的事')],
  ['一、二个人\n二、三个人', p('一、二个人', '二、三个人')],
  ['1.5h\n2.5h', p('1.5h', '2.5h')],
  ['1.a\n2.b', p('1.a', '2.b')],
  ['二三、a\n二四、b', p('二三、a', '二四、b')],
])('reads the numbers of East Asian texts in a run: %j', (text, html) => {
  expect(convert(text)).toBe(html);
});

test('keeps a run that a paragraph interrupts counting', () => {
  expect(convert('Plan:\n1. a\n2. b\nLater:\n3. c')).toBe(
    `${p('Plan:')}<ol>${li('a', 'b')}</ol>${p('Later:')}<ol start="3">${li('c')}</ol>`,
  );
});

test('keeps the levels of nested lists for any indentation', () => {
  expect(convert('1. a\n   - b\n   - c\n      * d\n2. e')).toBe(
    `<ol><li><p>a</p><ul>${li('b')}<li><p>c</p><ul>${li('d')}</ul></li></ul></li>${li('e')}</ol>`,
  );
  expect(convert('- a\n\t- b\n- c')).toBe(`<ul><li><p>a</p><ul>${li('b')}</ul></li>${li('c')}</ul>`);
  expect(convert('    - a\n    - b\n  - c')).toBe(`<ul>${li('a', 'b', 'c')}</ul>`);
});

test('keeps an indented line below an item in the item', () => {
  expect(convert('1. a\n   more\n2. b')).toBe(`<ol>${li('a<br>more', 'b')}</ol>`);
});

test('keeps check boxes as text', () => {
  expect(convert('- [ ] a\n- [x] b')).toBe(`<ul>${li('[ ] a', '[x] b')}</ul>`);
  expect(convert('[ ] a\n☑ b')).toBe(`<ul>${li('[ ] a', '☑ b')}</ul>`);
});

test('keeps every line of shell output and of a quoted mail', () => {
  const session = '$ npm test\n\n > vitest run\n ✓ 12 tests passed\n-- \n>\n>> Thanks\n      14\n';
  expect(convert(session)).toBe(
    p(
      '$ npm test',
      `${nbsp(1)}&gt; vitest run`,
      `${nbsp(1)}✓ 12 tests passed`,
      '--',
      '&gt;',
      '&gt;&gt; Thanks',
      `${nbsp(6)}14`,
    ),
  );
});

test('joins tab-separated cells', () => {
  expect(convert('Name\tCalls\nAda\t12\nBob\t')).toBe(p('Name · Calls', 'Ada · 12', 'Bob'));
  expect(convert('Name\tCalls\nThat was all')).toBe(p('Name\tCalls', 'That was all'));
});

test('joins tab-separated cells below an empty first cell', () => {
  expect(convert('Name\tCalls\nAda\t12\n\t3')).toBe(p('Name · Calls', 'Ada · 12', '– · 3'));
});

const code = (text: string): string => `<pre><code>${text}</code></pre>`;

test.each([
  ['function f() {\n  return 1;\n}', code('function f() {\n  return 1;\n}')],
  ['    def f(x):\n        y = x\n\n        return y', code('def f(x):\n    y = x\n\n    return y')],
  ['{\n  "a": 1,\n  "b": [\n    2\n  ]\n}', code('{\n  "a": 1,\n  "b": [\n    2\n  ]\n}')],
  ['if (a) {\n\tb();\n}', code('if (a) {\n\tb();\n}')],
  [
    'Fixed it:\n\nif (a) {\n  b();\n}\n\nThen lunch',
    `${p('Fixed it:')}${code('if (a) {\n  b();\n}')}${p('Then lunch')}`,
  ],
  ['all: x.o\n\tgcc x.o\n', code('all: x.o\n\tgcc x.o')],
  ['services:\n  web:\n    image: nginx', code('services:\n  web:\n    image: nginx')],
  ['on: [push]\njobs:\n  test:\n    steps:\n      - uses: checkout\n        with:\n          depth: 1', undefined],
  ['- name: Install\n  apt:\n    name: nginx\n- name: Start\n  service: nginx', undefined],
  ['Resources:\n  Bucket:\n    Type: AWS::S3::Bucket', undefined],
  ['# Settings\nserver:\n  port: 80\n\n  host: "::"\nlog:\n  level: info', undefined],
  ['SELECT a,\n       b\n  FROM t\n WHERE c = 1', undefined],
  ['select id\n  from users\n where age > 3\n order by id', undefined],
  ['-- daily\nWITH x AS (\n  SELECT 1\n)\nSELECT *\n  FROM x;', undefined],
  ['create table t (\n  id int,\n  name text,\n  age int,\n  at date\n);', undefined],
  ['server {\n  listen 80;\n  location / {\n    root /srv;\n  }\n}', undefined],
  ['.a {\n  color: red;\n}', undefined],
  ['def f(x):\n    if x:\n        return x\n    print(x)', undefined],
  ['if [ -f x ]; then\n  rm x\nfi', undefined],
  ['<a>\n  <b>text</b>\n</a>', undefined],
  ['src\n├── a.ts\n│   └── b.ts\n    └── c.ts', undefined],
  ['npm ci\nnpm test', p('npm ci', 'npm test')],
  ['Dear diary,\n  today I ran\n  far', p('Dear diary,', `${nbsp(2)}today I ran`, `${nbsp(2)}far`)],
  ['Notes:\n  Morning: ran\n  Evening: read', p('Notes:', `${nbsp(2)}Morning: ran`, `${nbsp(2)}Evening: read`)],
  ['- Work: shipped\n  Note: late', `<ul>${li('Work: shipped<br>Note: late')}</ul>`],
  ['Select the shoes\n  and pack', p('Select the shoes', `${nbsp(2)}and pack`)],
  ['Lunch (\n  cheap)', p('Lunch (', `${nbsp(2)}cheap)`)],
  [
    'The new stack:\n\nservices:\n  web:\n    image: nginx\n\nWorks now.',
    `${p('The new stack:')}${code('services:\n  web:\n    image: nginx')}${p('Works now.')}`,
  ],
])('keeps the indentation of code: %j', (text, html) => {
  expect(convert(text)).toBe(html ?? code(escapeHtml(text)));
});

test.each([
  [
    'Error: no\n    at f (a.js:1)\n    at g (b.js:2)',
    p('Error: no', `${nbsp(4)}at f (a.js:1)`, `${nbsp(4)}at g (b.js:2)`),
  ],
  [
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1',
    p('Traceback (most recent call last):', `${nbsp(2)}File "a.py", line 1`, 'KeyError: 1'),
  ],
  ['[core]\n  editor vim\n  pager less', p('[core]', `${nbsp(2)}editor vim`, `${nbsp(2)}pager less`)],
  ['  Tyger Tyger,\n  burning bright', p('Tyger Tyger,', 'burning bright')],
  [
    'Ein Haus,\n  ein Baum\n\nEin Weg,\n  ein Zaun',
    p('Ein Haus,', `${nbsp(2)}ein Baum`, 'Ein Weg,', `${nbsp(2)}ein Zaun`),
  ],
  ['Log:\n\n    at f\n\n    at g', p('Log:', `${nbsp(4)}at f`, `${nbsp(4)}at g`)],
  ['- a\n\n  more of a\n- b', `<ul>${li('a<br>more of a', 'b')}</ul>`],
  ['  Erster Absatz\nmit Einzug', p(`${nbsp(2)}Erster Absatz`, 'mit Einzug')],
])('keeps one level of indentation: %j', (text, html) => {
  expect(convert(text)).toBe(html);
});

test('shows no indentation of layout, which would make a long text too large to store', () => {
  const layout = ['left', ...Array.from({ length: 2_000 }, (_, line) => `${' '.repeat(60)}right ${line}`)].join('\n');
  expect(convert(layout).length).toBeLessThan(layout.length);
  expect(convert(`left\n${' '.repeat(60)}right`)).toBe(p('left', `${nbsp(40)}right`));
});

test('shows a bounded indentation, however many parts code makes of a text', () => {
  const prose = fc
    .array(fc.nat(60), { minLength: 60, maxLength: 160 })
    .map((indents) => ['Words', ...indents.map((indent) => `${' '.repeat(indent)}right`)].join('\n'));
  const program = fc.nat(9).map((n) => `function f${n}() {\n  return ${n};\n}`);
  fc.assert(
    fc.property(fc.array(fc.tuple(prose, program), { minLength: 6, maxLength: 12 }), (parts) => {
      const text = parts.map((part) => part.join('\n\n')).join('\n\n');
      // Five thousand columns of `&nbsp;`, and the tags of a line.
      expect(convert(text).length).toBeLessThan(
        text.replaceAll(/ +/g, ' ').length + 6 * 5_000 + 12 * text.split('\n').length,
      );
    }),
    { numRuns: 50 },
  );
});

test('keeps the indentation of an outline without markers', () => {
  expect(convert('Launch\n  Design\n    Mockups\n  Build')).toBe(
    p('Launch', `${nbsp(2)}Design`, `${nbsp(4)}Mockups`, `${nbsp(2)}Build`),
  );
  expect(convert('  Launch\n\tDesign\n  Rest')).toBe(p('Launch', `${nbsp(2)}Design`, 'Rest'));
  expect(convert('Launch\n\u00A0\u00A0Design\n\n\u00A0\u00A0- item')).toBe(
    p('Launch', `${nbsp(2)}Design`) + `<ul>${li('item')}</ul>`,
  );
});

test.each([
  ['closing brackets', `a\n  ]${')'.repeat(200_000)}x`],
  ['blocks of YAML', `key:\n  key:${' !a:'.repeat(200_000)} x\n  key: b`],
])('reads a long line of %s in linear time', (_name, text) => {
  // Quadratic time would exceed the test's timeout.
  expect(textToLog(text).html.length).toBeGreaterThan(text.length);
});
