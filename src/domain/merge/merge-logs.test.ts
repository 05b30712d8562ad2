import { describe, expect, test } from 'vitest';
import { isCleanLog } from '#domain/log/entry-html.ts';
import { mapPosition, mergeLogs, mergeMessage } from './merge-logs.ts';

/** Items without a tag of their own are paragraphs. */
const items = (...texts: string[]): string =>
  texts.map((text) => `<li>${text.startsWith('<p>') ? text : `<p>${text}</p>`}</li>`).join('');
const ol = (...texts: string[]): string => `<ol>${items(...texts)}</ol>`;
const ul = (...texts: string[]): string => `<ul>${items(...texts)}</ul>`;
const from = (start: number, ...texts: string[]): string => `<ol start="${start}">${items(...texts)}</ol>`;
const quote = (html: string): string => `<blockquote>${html}</blockquote>`;
const code = (text: string): string => `<pre><code>${text}</code></pre>`;

type Example = [name: string, base: string, mine: string, theirs: string, merged: string];

function expectMerged([, base, mine, theirs, merged]: Example): void {
  const { html } = mergeLogs(base, mine, theirs);
  expect(html).toBe(merged);
  expect(isCleanLog(html)).toBe(true);
}

describe('lines of both devices are merged:', () => {
  test.each<Example>([
    ['two additions: mine first', ol('a'), ol('a', 'm'), ol('a', 't'), ol('a', 'm', 't')],
    ['additions in two places', ol('a', 'b'), ol('m', 'a', 'b'), ol('a', 'b', 't'), ol('m', 'a', 'b', 't')],
    ['a day that both began', '', ol('m'), ol('t'), ol('m', 't')],
    ['a list with one empty item that both began', ol(''), ol('m', 'n'), ol('t'), ol('m', 'n', 't')],
    ['an empty item at the end of both', ol('a'), ol('a', 'm', ''), ol('a', 't', ''), ol('a', 'm', 't', '')],
    ['the same addition', ol('a'), ol('a', 'same'), ol('a', 'same', 't'), ol('a', 'same', 't')],
    ['an addition that one device continued', ol('a'), ol('a', 'Ran 1'), ol('a', 'Ran 10 km'), ol('a', 'Ran 10 km')],
    [
      'a long addition that one device wrote something before',
      ol('a'),
      ol('a', 'Ran 10 km'),
      ol('a', 'Today: Ran 10 km'),
      ol('a', 'Today: Ran 10 km'),
    ],
    [
      'a long addition that one device moved and wrote something before',
      ol('a'),
      ol('Ran 10 km', 'a'),
      ol('a', 'Today: Ran 10 km'),
      ol('Today: Ran 10 km', 'a'),
    ],
    [
      'two blocks of code, one of which begins like the other',
      ol('a'),
      `${ol('a')}${code('run build')}`,
      `${ol('a')}${code('run build --watch')}`,
      `${ol('a')}${code('run build')}${code('run build --watch')}`,
    ],
    [
      'the same short line, added before and behind two shared ones',
      ol('one', 'ok'),
      ol('ok', 'one', 'ok'),
      ol('one', 'ok', 'ok'),
      ol('ok', 'one', 'ok', 'ok'),
    ],
    ['two short additions with the same first letter', ol('z'), ol('z', 'a'), ol('z', 'ab'), ol('z', 'a', 'ab')],
    [
      'equal lines, one of which was deleted',
      ol('x', 'x', 'x'),
      ol('x', 'x', 'x', 'm'),
      ol('x', 'x'),
      ol('x', 'x', 'm'),
    ],
    [
      'a line that was there twice, of which each device replaced another copy',
      ol('Stand-up', 'Stand-up'),
      ol('Stand-up', 'm'),
      ol('t', 'Stand-up'),
      ol('t', 'Stand-up', 'm'),
    ],
    [
      'a line that was there twice, of which each device deleted another copy around a shared line',
      ol('x', 'a', 'x'),
      ol('x', 'a', 'm'),
      ol('t', 'a', 'x'),
      ol('t', 'x', 'a', 'm'),
    ],
    [
      'a line that was there three times, of which each device deleted another copy',
      ol('x', 'a', 'x', 'b', 'x'),
      ol('a', 'x', 'b', 'x', 'm'),
      ol('x', 'a', 'b', 'x', 't'),
      ol('a', 'b', 'x', 'm', 't'),
    ],
    [
      'a line that was there twice, of which one device deleted a copy and the other wrote a shorter one below',
      ol('Ran ten km', 'Ran ten km'),
      ol('m', 'Ran ten km', 'Ran ten'),
      ol('Ran ten km'),
      ol('m', 'Ran ten km', 'Ran ten'),
    ],
    [
      'the same short line added in two places',
      ol('a', 'b'),
      ol('x', 'a', 'b'),
      ol('a', 'b', 'x'),
      ol('x', 'a', 'b', 'x'),
    ],
    [
      'a child here and a sibling there',
      ol(`<p>a</p>${ul('x')}`, 'b'),
      ol(`<p>a</p>${ul('x')}`, 'm', 'b'),
      ol(`<p>a</p>${ul('x', 't')}`, 'b'),
      ol(`<p>a</p>${ul('x', 't')}`, 'm', 'b'),
    ],
    [
      'lines of one quote',
      quote('<p>q</p>'),
      quote('<p>q</p><p>m</p>'),
      quote('<p>t</p><p>q</p>'),
      quote('<p>t</p><p>q</p><p>m</p>'),
    ],
    [
      'headings, prose and code',
      '<p>a</p>',
      '<h1>M</h1><p>a</p>',
      `<p>a</p>${code('t\nu')}`,
      `<h1>M</h1><p>a</p>${code('t\nu')}`,
    ],
  ])('%s', (...example) => {
    expectMerged(example);
    expect(mergeLogs(example[1], example[2], example[3]).doubts).toEqual([]);
  });
});

describe('an edited line', () => {
  test.each<Example>([
    ['by theirs', ol('the plan', 'b'), ol('the plan', 'b', 'm'), ol('the new plan', 'b'), ol('the new plan', 'b', 'm')],
    [
      'replaced by other words',
      ol('a', 'Ran', 'c'),
      ol('a', 'Swam', 'c'),
      ol('a', 'Ran', 'c', 't'),
      ol('a', 'Swam', 'c', 't'),
    ],
    ['by both in the same way', ol('the plan'), ol('the new plan', 'm'), ol('the new plan'), ol('the new plan', 'm')],
    [
      'by both, one of which contains the other',
      ol('Ran 1'),
      ol('Ran 1 km'),
      ol('We Ran 1 km today'),
      ol('We Ran 1 km today'),
    ],
    ['emptied here and edited there', ol('a', 'b'), ol('a', ''), ol('a', 'b c'), ol('a', 'b c')],
    ['emptied here and deleted there', ol('a', 'b'), ol('a', ''), ol('a'), ol('a')],
    [
      'and moved by the other',
      ol('a', 'b', 'c', 'the plan'),
      ol('the plan', 'a', 'b', 'c'),
      ol('a', 'b', 'c', 'the plan t'),
      ol('the plan t', 'a', 'b', 'c'),
    ],
    ['moved by both', ol('a', 'b', 'c'), ol('c', 'a', 'b'), ol('a', 'c', 'b'), ol('c', 'a', 'b')],
    ['swapped by both', ol('a', 'b'), ol('b', 'a'), ol('b', 'a'), ol('b', 'a')],
    [
      'split here and edited there',
      ol('alpha beta', 'z'),
      ol('alpha', 'beta', 'z'),
      ol('alpha beta gamma', 'z'),
      ol('alpha beta gamma', 'beta', 'z'),
    ],
    [
      'joined here and left alone there',
      ol('alpha', 'beta', 'z'),
      ol('alpha beta', 'z'),
      ol('alpha', 'beta', 'z', 't'),
      ol('alpha beta', 'z', 't'),
    ],
  ])('%s', (...example) => {
    expectMerged(example);
    expect(mergeLogs(example[1], example[2], example[3]).doubts).toEqual([]);
  });

  test('that both edited differently is kept twice, mine directly before theirs, and reported once', () => {
    const { html, doubts, isDoubtful } = mergeLogs(
      ol('a', 'the plan', 'c'),
      ol('a', 'the plan m', 'c'),
      ol('a', 't the plan', 'c'),
    );
    expect(html).toBe(ol('a', 'the plan m', 't the plan', 'c'));
    expect(doubts).toEqual([{ kind: 'editedTwice', mine: 'the plan m', theirs: 't the plan', line: 1 }]);
    expect(isDoubtful).toBe(false);
    expect(mergeLogs(ol('a', 'the plan', 'c'), html, ol('a', 't the plan', 'c'))).toMatchObject({ html, doubts: [] });
    expect(mergeLogs(ol('a', 'the plan', 'c'), ol('a', 'the plan m', 'c'), html)).toMatchObject({ html, doubts: [] });
  });

  test('that both edited differently keeps its nested lines below the version of mine', () => {
    const nested = (text: string) => ol('a', `<p>${text}</p>${ul('x')}`);
    const { html, doubts } = mergeLogs(nested('the plan'), nested('the plan m'), nested('t the plan'));
    expect(html).toBe(ol('a', 't the plan', `<p>the plan m</p>${ul('x')}`));
    expect(doubts).toEqual([{ kind: 'editedTwice', mine: 'the plan m', theirs: 't the plan', line: 2 }]);
  });

  test('makes the merge doubtful if both edited most lines differently', () => {
    const texts = ['first thing', 'second thing', 'third thing', 'fourth thing', 'fifth thing'];
    const by = (author: string, count: number) =>
      ol(...texts.map((text, i) => (i < count ? `${author} ${text} ${author}` : text)));
    expect(mergeLogs(ol(...texts), by('m', 4), by('t', 4)).isDoubtful).toBe(true);
    expect(mergeLogs(ol(...texts), by('m', 3), by('t', 3)).isDoubtful).toBe(false);
    expect(mergeLogs(ol(...texts), by('m', 5), by('t', 2)).isDoubtful).toBe(false);
    const others = ['one', 'two', 'three', 'four'];
    const longer = (log: string) => log.replace('</ol>', `${items(...others)}</ol>`);
    expect(mergeLogs(longer(ol(...texts)), longer(by('m', 4)), longer(by('t', 4))).isDoubtful).toBe(false);
  });
});

test('an edit is recognised in an earlier merge that has a similar line in its place', () => {
  const bold = (text: string) => ul(`<p><strong>${text}</strong></p>`);
  const base = `${bold('first thing team done')}${ol('second task team done')}`;
  const mine = ol('m task team done');
  const theirs = `${bold('first thing team done')}${ol('t task team done')}`;
  const { html } = mergeLogs(base, mine, theirs);
  expect(html).toBe(ol('m task team done', 't task team done'));
  for (const again of [
    mergeLogs(base, html, theirs),
    mergeLogs(base, html, mine),
    mergeLogs(base, mine, html),
    mergeLogs(base, theirs, html),
  ])
    expect(again.html).toBe(html);
});

test('a kept edit is recognised in an earlier merge where a similar line was deleted', () => {
  const base = `${ul('a1 a2 a3 team done')}<p>b1 b2 b3</p>${ol('c1 c2 c3 team done')}`;
  const mine = `<p>m b2 b3</p>${ol('c1 c2 c3 team done')}`;
  const theirs = ul('t a2 a3 team done');
  const { html } = mergeLogs(base, mine, theirs);
  for (const again of [
    mergeLogs(base, html, theirs),
    mergeLogs(base, html, mine),
    mergeLogs(base, mine, html),
    mergeLogs(base, theirs, html),
  ])
    expect([...again.html.matchAll(/<p>[^<]*<\/p>/g)].map(String).sort()).toEqual([
      '<p>m b2 b3</p>',
      '<p>t a2 a3 team done</p>',
    ]);
});

test('bare text at the deepest level moves outwards, because its paragraph would be too deep', () => {
  const deep = (text: string) => `${'<ul><li>'.repeat(50)}${text}${'</li></ul>'.repeat(50)}`;
  const { html } = mergeLogs(deep('a'), deep('a m'), `${deep('a')}<p>t</p>`);
  expect(isCleanLog(deep('a'))).toBe(true);
  expect(isCleanLog(html)).toBe(true);
  expect(html).toContain('<p>a m</p>');
});

test('a line that one device marked and the other nested moves outwards if it would be too deep', () => {
  const nested = (depth: number, html: string) => `${'<ul><li>'.repeat(depth)}${html}${'</li></ul>'.repeat(depth)}`;
  const base = nested(47, '<p>a</p><p>b c</p>');
  const mine = nested(47, '<p>a</p><p><strong><em><u>b c</u></em></strong></p>');
  const theirs = nested(49, '<p>a</p><p>b c</p>');
  expect([base, mine, theirs].map(isCleanLog)).toEqual([true, true, true]);
  const { html } = mergeLogs(base, mine, theirs);
  expect(isCleanLog(html)).toBe(true);
  expect(html).toContain('<strong><em><u>b c</u></em></strong>');
});

test('short lines that both added in different places are kept in both orders', () => {
  const base = '<p>aa bb cc</p>';
  const mine = '<p>cc</p><p>aa bb</p>';
  const theirs = '<p>aa bb</p><p>t</p><p>cc</p>';
  expect(mergeLogs(base, mine, theirs).html).toBe('<p>cc</p><p>aa bb</p><p>t</p><p>cc</p>');
  expect(mergeLogs(base, theirs, mine).html).toBe('<p>cc</p><p>aa bb</p><p>t</p><p>cc</p>');
});

describe('a deleted line', () => {
  test.each<Example>([
    ['that the other left alone', ol('a', 'b', 'c'), ol('a', 'c'), ol('a', 'b', 'c', 't'), ol('a', 'c', 't')],
    ['of both', ol('a', 'b', 'c'), ol('a', 'c'), ol('a', 'c', 't'), ol('a', 'c', 't')],
    ['that the other moved', ol('aa', 'bb', 'cc'), ol('aa', 'bb'), ol('cc', 'aa', 'bb'), ol('cc', 'aa', 'bb')],
    ['that the other nested', ol('a', 'b'), ol('a'), ol(`<p>a</p>${ol('b')}`), ol(`<p>a</p>${ol('b')}`)],
    [
      'that the other made bold',
      ol('a', 'b'),
      ol('a'),
      ol('a', '<p><strong>b</strong></p>'),
      ol('a', '<p><strong>b</strong></p>'),
    ],
    ['whose list the other toggled', ol('a', 'b', 'c'), ol('a', 'c'), ul('a', 'b', 'c'), ul('a', 'c')],
    [
      'with children, one of which was edited',
      ol('z', `<p>a</p>${ul('x', 'y')}`, 'c'),
      ol('z', 'c'),
      ol('z', `<p>a</p>${ul('x', 'y t')}`, 'c'),
      ol('z', 'y t', 'c'),
    ],
    [
      'with children, one of which was added',
      ol('z', `<p>a</p>${ul('x')}`, 'c'),
      ol('z', 'c'),
      ol('z', `<p>a</p>${ul('x', 't')}`, 'c'),
      ol('z', 't', 'c'),
    ],
    [
      'with a second paragraph that was edited',
      ol('z', '<p>a</p><p>b b</p>'),
      ol('z'),
      ol('z', '<p>a</p><p>b b t</p>'),
      ol('z', 'b b t'),
    ],
    [
      'that was only emptied, against a move',
      ol('aa', 'bb', 'cc'),
      ol('aa', 'bb', ''),
      ol('cc', 'aa', 'bb'),
      ol('cc', 'aa', 'bb'),
    ],
    ['and everything else, against an edit', ol('a', 'b'), '', ol('a', 'b t'), ol('b t')],
  ])('%s', (...example) => expectMerged(example));

  test.each([
    ['theirs', ol('a', 'c'), ol('a', 'b b t', 'c')],
    ['mine', ol('a', 'b b t', 'c'), ol('a', 'c')],
  ])('stays with the edit of %s, which is reported', (_editor, mine, theirs) => {
    expect(mergeLogs(ol('a', 'b b', 'c'), mine, theirs)).toMatchObject({
      html: ol('a', 'b b t', 'c'),
      doubts: [{ kind: 'editedAndDeleted', text: 'b b t', line: 1 }],
    });
  });

  test('is not reported if the other device only moved it or took words off it', () => {
    const base = ol('aa', 'bb', 'cc dd');
    expect(mergeLogs(base, ol('aa', 'bb'), ol('cc dd', 'aa', 'bb'))).toMatchObject({
      html: ol('cc dd', 'aa', 'bb'),
      doubts: [],
    });
    expect(mergeLogs(base, ol('aa', 'bb'), ol('aa', 'bb', 'cc'))).toMatchObject({
      html: ol('aa', 'bb', 'cc'),
      doubts: [],
    });
  });
});

test.each([
  [{ twice: 1, deleted: 0 }, 'A line was edited here and somewhere else. Both versions are kept, one below the other.'],
  [{ twice: 0, deleted: 1 }, 'A line was edited on one device and deleted on another. The edited line is kept.'],
  [
    { twice: 2, deleted: 3 },
    '2 lines were edited here and somewhere else. Both versions of each are kept, one below the other. 3 lines were edited on one device and deleted on another. The edited lines are kept.',
  ],
])('the message names the doubts %j', ({ twice, deleted }, message) => {
  const doubts = [
    ...Array.from({ length: twice }, () => ({ kind: 'editedTwice' as const })),
    ...Array.from({ length: deleted }, () => ({ kind: 'editedAndDeleted' as const })),
  ];
  expect(mergeMessage(doubts)).toBe(message);
});

describe('structure', () => {
  const sub = (...texts: string[]) => `<p>a</p>${ul(...texts)}`;
  test.each<Example>([
    [
      'an item moved with its children, one added by theirs',
      ol(sub('x'), 'b', 'c'),
      ol('b', 'c', sub('x')),
      ol(sub('x', 't'), 'b', 'c'),
      ol('b', 'c', sub('x', 't')),
    ],
    [
      'an item moved by theirs with its children, one added by mine',
      ol(sub('x'), 'b', 'c'),
      ol(sub('x', 'm'), 'b', 'c'),
      ol('b', 'c', sub('x')),
      ol('b', 'c', sub('x', 'm')),
    ],
    [
      'an item moved by theirs among its siblings, one added by mine',
      ol(sub('xx', 'yy', 'zz'), 'b'),
      ol(sub('xx', 'm', 'yy', 'zz'), 'b'),
      ol(sub('yy', 'zz', 'xx'), 'b'),
      ol(sub('m', 'yy', 'zz', 'xx'), 'b'),
    ],
    ['a list toggled by mine', ol('a', 'b'), ul('a', 'b'), ol('a', 't', 'b', 'u'), ul('a', 't', 'b', 'u')],
    ['a list toggled by theirs', ol('a', 'b'), ol('a', 'm', 'b', 'n'), ul('a', 'b'), ul('a', 'm', 'b', 'n')],
    [
      'a list quoted by mine',
      ol('a', 'b', 'c'),
      quote(ol('a', 'b', 'c')),
      ol('a', 't', 'b', 'c'),
      quote(ol('a', 't', 'b', 'c')),
    ],
    [
      'items nested by mine',
      ol('a', 'b', 'c'),
      ol(`<p>a</p>${ol('b', 'c')}`),
      ol('a', 'b', 't', 'c', 'u'),
      ol(`<p>a</p>${ol('b', 't', 'c')}`, 'u'),
    ],
    [
      'items lifted by mine',
      ol(sub('x', 'y')),
      ol('a', `<p>x</p>${ul('y')}`),
      ol(sub('x', 'y', 't')),
      ol('a', `<p>x</p>${ul('y', 't')}`),
    ],
    [
      'two items nested into each other',
      ol('aa', 'bb'),
      ol(`<p>bb</p>${ul('aa')}`),
      ol(`<p>aa</p>${ul('bb')}`),
      ol(`<p>bb</p>${ul('aa')}`),
    ],
    [
      'a list split by a heading',
      ol('a', 'b', 'c'),
      ol('a', 'b') + '<h1>T</h1>' + from(3, 'c'),
      ol('a', 'b', 'c c', 't'),
      ol('a', 'b') + '<h1>T</h1>' + from(3, 'c c', 't'),
    ],
    ['the start of a list', from(4, 'a'), from(7, 'a', 'm'), from(4, 'a', 't'), from(7, 'a', 'm', 't')],
    ['the start of a list that theirs changed', from(4, 'a'), from(4, 'a', 'm'), from(7, 'a'), from(7, 'a', 'm')],
    [
      'two lists in a row',
      ol('a') + ol('b'),
      ol('a') + ol('b', 'm'),
      ol('a', 't') + ol('b'),
      ol('a', 't') + ol('b', 'm'),
    ],
    ['bare text of another program', 'a', 'a<br>m', 'a<ul><li>t</li></ul>', '<p>a<br>m</p>' + ul('t')],
    [
      'an item without a paragraph',
      '<ol><li></li></ol><p>a</p>',
      '<ol><li></li></ol><p>a</p><p>m</p>',
      '<ol><li></li></ol><p>t</p><p>a</p>',
      '<ol><li><p></p></li></ol><p>t</p><p>a</p><p>m</p>',
    ],
    [
      'a parent replaced by theirs',
      ol(sub('x'), 'b'),
      ol(sub('x', 'm'), 'b'),
      ol(`<p>other</p>${ul('x')}`, 'b'),
      ol(`<p>other</p>${ul('x', 'm')}`, 'b'),
    ],
    [
      'a moved line that theirs replaced',
      ol('a', 'b', 'cc'),
      ol('cc', 'a', 'b'),
      ol('a', 'b', 't'),
      ol('cc', 'a', 'b', 't'),
    ],
  ])('%s', (...example) => expectMerged(example));
});

describe('formatting', () => {
  test.each<Example>([
    [
      'a line made bold and edited',
      ol('a b'),
      ol('<p><strong>a b</strong></p>'),
      ol('a b c'),
      ol('<p><strong>a b c</strong></p>'),
    ],
    [
      'a line edited and made bold',
      ol('a b'),
      ol('a b c'),
      ol('<p><strong>a b</strong></p>'),
      ol('<p><strong>a b c</strong></p>'),
    ],
    ['marks taken off', ol('<p><s>a b</s></p>'), ol('a b'), ol('<p><s>a b c</s></p>'), ol('a b c')],
    [
      'a line made bold by both and edited',
      ol('a b'),
      ol('<p><strong>a b</strong></p>'),
      ol('<p><strong>a b c</strong></p>'),
      ol('<p><strong>a b c</strong></p>'),
    ],
    [
      'marks taken off a line that is marked in parts now',
      ol('<p><s>a b</s></p>'),
      ol('a b'),
      ol('<p><s>a</s> x <s>b</s></p>'),
      ol('<p><s>a</s> x <s>b</s></p>'),
    ],
    ['one word made bold and the line edited', ol('a b'), ol('<p>a <em>b</em></p>'), ol('a b c'), ol('a b c')],
    [
      'different marks: the longer',
      ol('a'),
      ol('<p><em>a</em></p>'),
      ol('<p><strong>a</strong></p>'),
      ol('<p><strong>a</strong></p>'),
    ],
    [
      'different marks in the other order',
      ol('a'),
      ol('<p><strong>a</strong></p>'),
      ol('<p><em>a</em></p>'),
      ol('<p><strong>a</strong></p>'),
    ],
    ['a paragraph made a heading and edited', '<p>T t</p>', '<h1>T t</h1>', '<p>T t u</p>', '<h1>T t u</h1>'],
    ['a paragraph made code and edited', '<p>T t</p>', code('T t'), '<p>T t u</p>', '<p>T t u</p>'],
    [
      'text like markup',
      ol('a &amp; b'),
      ol('a &amp; b &lt;m&gt;'),
      ol('a &amp; b', 'amp'),
      ol('a &amp; b &lt;m&gt;', 'amp'),
    ],
  ])('%s', (...example) => expectMerged(example));

  test('line breaks and code are edited as a whole', () => {
    expect(mergeLogs('<p>a<br>b</p>', '<p>a<br>b<br>m</p>', '<p>t<br>a<br>b</p>').html).toBe(
      '<p>a<br>b<br>m</p><p>t<br>a<br>b</p>',
    );
    expect(mergeLogs(code('a\nb'), code('a\nb\nm'), code('t\na\nb')).html).toBe(code('a\nb\nm') + code('t\na\nb'));
  });
});

describe('mapPosition', () => {
  const at = (base: string, mine: string, theirs: string, line: number, offset: number) =>
    mapPosition(mergeLogs(base, mine, theirs), { line, offset });

  test.each([
    ['in an unchanged log', ol('a'), ol('a', 'bc'), ol('a'), 1, 2, { line: 1, offset: 2 }],
    ['below an added line', ol('a', 'b'), ol('a', 'b m'), ol('t', 'a', 'b'), 1, 3, { line: 2, offset: 3 }],
    ['in a moved line', ol('a', 'b', 'cc'), ol('a', 'b', 'cc'), ol('cc', 'a', 'b'), 2, 1, { line: 0, offset: 1 }],
    [
      'before the words that theirs added',
      ol('one two'),
      ol('one two', 'm'),
      ol('one and two'),
      0,
      3,
      { line: 0, offset: 3 },
    ],
    [
      'behind the words that theirs added',
      ol('one two'),
      ol('one two', 'm'),
      ol('one and two'),
      0,
      5,
      { line: 0, offset: 9 },
    ],
    ['where theirs added words', ol('one two'), ol('one two', 'm'), ol('one and two'), 0, 4, { line: 0, offset: 4 }],
    ['in a text that theirs contains', ol('b'), ol('b c'), ol('a b c d'), 0, 2, { line: 0, offset: 4 }],
    [
      'in a line that theirs deleted',
      ol('aaa', 'b', 'c'),
      ol('aaa', 'b', 'c', 'm'),
      ol('aaa', 'c'),
      1,
      0,
      { line: 0, offset: 3 },
    ],
    ['in a first line that theirs deleted', ol('aaa', 'c'), ol('aaa', 'c', 'm'), ol('c'), 0, 2, { line: 0, offset: 0 }],
    [
      'in one of two edits of a line',
      ol('the plan'),
      ol('the plan m'),
      ol('t the plan'),
      0,
      10,
      { line: 0, offset: 10 },
    ],
    [
      'behind an edit of theirs',
      ol('the plan', 'z'),
      ol('the plan m', 'z'),
      ol('t the plan', 'z'),
      1,
      1,
      { line: 2, offset: 1 },
    ],
  ])('%s', (_name, base, mine, theirs, line, offset, expected) => {
    expect(at(base, mine, theirs, line, offset)).toEqual(expected);
  });

  test('of an empty log is the start', () => {
    expect(at('<p>a</p>', '', '<p>a b</p>', 0, 0)).toEqual({ line: 0, offset: 0 });
  });
});
