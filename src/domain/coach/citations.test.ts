import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import {
  citableLines,
  createCitationFinder,
  labelLineNumbers,
  MAX_CITATION_LENGTH,
  resolveCitations,
  toCitations,
} from './citations.ts';
import { day } from '../day/day.ts';
import { textWriter } from '../export/formats/text-format.ts';

const refs = (html: string) => citableLines(html).map(({ ref }) => ref);
const li = (...items: string[]) => items.map((item) => `<li>${item}</li>`).join('');
const p = (text: string) => `<p>${text}</p>`;

describe('the refs of a log', () => {
  test.each([
    ['numbered items', `<ol>${li(p('a'), p('b'))}</ol>`, ['1', '2']],
    [
      'nested items',
      `<ol>${li(p('a'), `${p('b')}<ol>${li(p('c'), p('d'))}</ol>`, p('e'))}</ol>`,
      ['1', '2', '2.1', '2.2', '3'],
    ],
    ['a list with another start', `<ol start="4">${li(p('a'), p('b'))}</ol>`, ['4', '5']],
    ['an empty item has its number on the page', `<ol>${li(p(''), p('b'))}</ol>`, ['2']],
    ['an item that starts with a nested list', `<ol>${li(`<ol>${li(p('c'))}</ol>`)}</ol>`, ['1.1']],
    ['bullets', `<ul>${li(p('Called <b>Ann</b>'), p('Wrote'))}</ul>`, ['Called Ann', 'Wrote']],
    ['bullets in a numbered item', `<ol>${li(`${p('a')}<ul>${li(p('Called Ann'))}</ul>`)}</ol>`, ['1', 'Called Ann']],
    ['numbers in a bullet', `<ul>${li(`${p('Trip')}<ol>${li(p('Booked it'))}</ol>`)}</ul>`, ['Trip', 'Booked it']],
    [
      'the second line of an item',
      `<ol>${li('<p>a<br>and why</p>', '<p>b</p><p>with Ann</p>')}</ol>`,
      ['1', 'and why', '2', 'with Ann'],
    ],
    ['paragraphs and headings', `<h2>Morning</h2>${p('Called Ann, then Ben')}`, ['Morning', 'Called Ann then Ben']],
    ['a list in a quote', `<blockquote><ol>${li(p('a'))}</ol></blockquote>`, ['1']],
    [
      'two lists with the same numbers',
      `<ol>${li(p('Tea'), p('Sent it'))}</ol><h3>Later</h3><ol>${li(p('Ran'))}</ol>`,
      ['Tea', '2', 'Later', 'Ran'],
    ],
    [
      'a list that continues the numbers',
      `<ol>${li(p('a'))}</ol>${p('Rest')}<ol start="2">${li(p('b'))}</ol>`,
      ['1', 'Rest', '2'],
    ],
    ['a negative number', `<ol start="-1">${li(p('Minus'), p('b'))}</ol>`, ['Minus', '0']],
    ['a long line', p('One two three four five six seven eight'), ['One two three four five six']],
    ['a long line without spaces', p('工'.repeat(90)), ['工'.repeat(40)]],
    [
      'lines with the same start',
      p('One two three four five six seven') + p('One two three four five six eight'),
      ['One two three four five six seven', 'One two three four five six eight'],
    ],
    ['reserved characters', p('Fixed [x] `a_b`, **twice** | "done"'), ['Fixed x a b twice done']],
    ['lines that cannot be cited', `${p('2026')}${p('---')}${p('item 3')}`, [null, null, null]],
  ])('%s', (_what, html, expected) => {
    expect(refs(html)).toEqual(expected);
  });

  test('refs equal the numbers of the text export', () => {
    const html = `<ol>${li(p('a'), `${p('b')}<ol start="3">${li(p('c'), p('d'))}</ol>`)}</ol>`;
    const none = { hustleScore: null, feedback: null, analyzedAt: null };
    const [, , ...exported] = textWriter()
      .entry({ date: day('2026-11-20'), content: html, ...none }, 0)
      .trimEnd()
      .split('\n');
    expect(exported.map((line) => line.trim())).toEqual(
      citableLines(html).map(({ ref, text }) => `${ref!.split('.').at(-1)}. ${text}`),
    );
  });

  test('citableLines marks headings', () => {
    expect(citableLines(`<h2>Morning</h2>${p('Called Ann')}`).map(({ isHeading }) => isHeading)).toEqual([true, false]);
  });
});

const HTML = `<ol>${li(p('Shipped billing'), `${p('Tests')}<ol>${li(p('Unit'))}</ol>`)}</ol>${p('Called the landlord about the heating')}<p>Called Ann</p>`;
const known = (text: string) => resolveCitations(text, createCitationFinder(citableLines(HTML)));

describe('resolveCitations', () => {
  test.each([
    ['See [1] and [2.1].', 'See [1] and [2.1].', [1, 3]],
    ['See [1, 2.1, 9].', 'See [1, 2.1].', [1, 3]],
    ['See [9] and [2.2, 7] now.', 'See and now.', []],
    ['See [item 2.1] and [#1].', 'See [2.1] and [1].', [3, 1]],
    ['[called the landlord about] it', '[Called the landlord about the heating] it', [4]],
    [
      '["Called Ann"] and [“Called the landlord about the heating…”]',
      '[Called Ann] and [Called the landlord about the heating]',
      [5, 4],
    ],
    ['[Called] is two of them, [sic] and [see 1] are none', '[Called] is two of them, [sic] and [see 1] are none', []],
    [`[${'x'.repeat(MAX_CITATION_LENGTH + 1)}]`, `[${'x'.repeat(MAX_CITATION_LENGTH + 1)}]`, []],
  ])('resolves the citations of %j', (text, expected, lines) => {
    const { text: read, cited } = known(text);
    expect(read).toBe(expected);
    expect(cited.map(({ line }) => line)).toEqual(lines);
  });
});

test('citations of an earlier version are labelled as line positions', () => {
  expect(labelLineNumbers('See [4] and [1, 3], not [sic].')).toBe('See [line 4] and [line 1, line 3], not [sic].');
  expect(toCitations([1, 4], null)).toEqual([
    { line: 1, ref: 'line 1' },
    { line: 4, ref: 'line 4' },
  ]);
  expect(toCitations([1, 4], ['1', '2.1'])).toEqual([
    { line: 1, ref: '1' },
    { line: 4, ref: '2.1' },
  ]);
});

test('takes linear time on an adversarial log or reply', async () => {
  const cpuMs = await measureCpuMs(() => {
    expect(citableLines(p('same words again and again in each of them').repeat(3_000))).toHaveLength(3_000);
    const blanks = `${' '.repeat(120_000)}${'<u> </u>'.repeat(16_000)}`;
    expect(citableLines(p(`${blanks}x`))).toMatchObject([{ text: 'x' }]);
    for (const sign of ['[1 ', ' [', '[1,', ' ', '[a, '])
      expect(known(sign.repeat(16_000 / sign.length)).text.length).toBeLessThanOrEqual(16_000);
  });
  expect(cpuMs).toBeLessThan(2_000);
});
