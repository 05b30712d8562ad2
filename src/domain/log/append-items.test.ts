import { describe, expect, test } from 'vitest';
import { isCleanLog } from './entry-html.ts';
import { appendItems, parseItems } from './append-items.ts';

const item = (text: string): string => `<li><p>${text}</p></li>`;

describe('an item', () => {
  test.each([
    ['', `<ol>${item('new')}</ol>`],
    ['<ol><li><p></p></li></ol>', `<ol>${item('new')}</ol>`],
    [`<ol>${item('a')}</ol>`, `<ol>${item('a')}${item('new')}</ol>`],
    [`<ul>${item('a')}</ul>`, `<ul>${item('a')}${item('new')}</ul>`],
    ['<p>words</p>', `<p>words</p><ol>${item('new')}</ol>`],
    [
      `<ol><li><p>a</p><ol>${item('b')}</ol></li></ol>`,
      `<ol><li><p>a</p><ol>${item('b')}</ol></li>${item('new')}</ol>`,
    ],
    [
      `<blockquote><ol>${item('a')}</ol></blockquote>`,
      `<blockquote><ol>${item('a')}</ol></blockquote><ol>${item('new')}</ol>`,
    ],
  ])('joins %s', (html, expected) => expect(appendItems(html, ['new'])).toBe(expected));

  test('goes before the empty line at which an open page may be writing', () => {
    expect(appendItems(`<ol>${item('a')}${item('')}</ol>`, ['new'])).toBe(
      `<ol>${['a', 'new', ''].map(item).join('')}</ol>`,
    );
    expect(appendItems(`<ol>${item('a')}</ol><p></p><p><br></p>`, ['new'])).toBe(
      `<ol>${['a', 'new'].map(item).join('')}</ol><p></p><p><br></p>`,
    );
  });

  test('is text, not markup, and keeps its lines', () => {
    const html = appendItems('', ['a <b>\nb & c', '<script>']);
    expect(html).toBe('<ol><li><p>a &lt;b&gt;<br>b &amp; c</p></li><li><p>&lt;script&gt;</p></li></ol>');
    expect(isCleanLog(html)).toBe(true);
  });

  test('takes linear time with a long run of spaces', () => {
    // Quadratic time would exceed the test's timeout.
    const text = `a${' '.repeat(300_000)}b`;
    expect(appendItems('', [text])).toBe(`<ol>${item(text)}</ol>`);
  });
});

describe('the items of a text', () => {
  test.each([
    ['Shipped it', ['Shipped it']],
    ['  one \r\n\n two\u2028three', ['one', 'two', 'three']],
    ['- one\n- two', ['one', 'two']],
    ['1. one\n2. two\n   more of two', ['one', 'two\nmore of two']],
    ['* one\n  * below one', ['one', 'below one']],
    ['2026. A good year', ['2026. A good year']],
    ['-5 °C in Vienna', ['-5 °C in Vienna']],
    ['<b>bold</b> & &lt;', ['<b>bold</b> & &lt;']],
    ['a\u{e0048}\u200bb\u0000', ['ab']],
    [' \n\t\n\u200b', []],
  ])('%j', (text, items) => expect(parseItems(text)).toEqual(items));
});
