// @vitest-environment happy-dom
/** HTML as word processors, chats and browsers put it on the clipboard. */
import { describe, expect, test } from 'vitest';
import { cleanPastedHtml } from './paste-html.ts';

/** The structure alone, on one line. */
const clean = (html: string): string =>
  cleanPastedHtml(html)
    .replace(/\s*(?:class|id|dir|role|lang|align|aria-level|width|border|cellspacing|cellpadding)="[^"]*"/g, '')
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim();

const WORD_HEAD =
  '<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!-- @list l0 {mso-list-id:1;} p.MsoNormal {margin:0} --></style></head><body lang=EN-US><!--StartFragment-->';

const wordItem = (level: number, marker: string, text: string, list = 'l0'): string =>
  `<p class=MsoListParagraphCxSpMiddle style='text-indent:-.25in;mso-list:${list} level${level} lfo1'><!--[if !supportLists]--><span style='mso-bidi-font-family:Aptos'><span style='mso-list:Ignore'>${marker}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;&nbsp; </span></span></span><!--[endif]-->${text}<o:p></o:p></p>`;

describe('Word', () => {
  test('numbered paragraphs become one numbered list', () => {
    expect(
      clean(`${WORD_HEAD}${wordItem(1, '1.', 'alpha')}${wordItem(1, '2.', 'beta')}<!--EndFragment--></body></html>`),
    ).toMatch(/^<ol><li>(?:<span><\/span>)?alpha ?<\/li><li>(?:<span><\/span>)?beta ?<\/li><\/ol>$/);
  });

  test('levels nest, and bullets inside numbers stay bullets', () => {
    const html = `${WORD_HEAD}${wordItem(1, '1.', 'a')}\n${wordItem(2, '·', 'b')}\n${wordItem(2, '·', 'c')}\n${wordItem(1, '2.', 'd')}`;
    expect(clean(html).replaceAll('<span></span>', '').replaceAll(' <', '<')).toBe(
      '<ol><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>',
    );
  });

  test('a paragraph between two lists keeps them apart', () => {
    const html = `${WORD_HEAD}${wordItem(1, '1.', 'a')}<p class=MsoNormal>between</p>${wordItem(1, '1.', 'b', 'l1')}`;
    expect(clean(html).replaceAll('<span></span>', '').replaceAll(' <', '<')).toBe(
      '<ol><li>a</li></ol><p>between</p><ol><li>b</li></ol>',
    );
  });

  test('a list that begins at its second level is kept', () => {
    expect(
      clean(wordItem(2, 'a)', 'deep'))
        .replaceAll('<span></span>', '')
        .replaceAll(' <', '<'),
    ).toBe('<ol><li><ol><li>deep</li></ol></li></ol>');
  });

  test('blank paragraphs are no lines', () => {
    expect(
      clean(`${WORD_HEAD}<p class=MsoNormal>a</p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal>b</p>`),
    ).toBe('<p>a</p><p>b</p>');
  });
});

const DOCS = '<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1f2e">';
const docsSpan = (text: string, style = ''): string =>
  `<span style="font-size:11pt;font-family:Arial,sans-serif;color:#000000;${style}vertical-align:baseline;white-space:pre-wrap;">${text}</span>`;
const docsItem = (content: string, level = 1): string =>
  `<li dir="ltr" style="list-style-type:decimal;font-size:11pt;" aria-level="${level}"><p dir="ltr" style="line-height:1.38;margin-top:0pt;" role="presentation">${content}</p></li>`;

describe('Google Docs', () => {
  test('the wrapper that is called bold is not, bold said with styles is', () => {
    const html = `${DOCS}<p dir="ltr">${docsSpan('plain ')}${docsSpan('strong', 'font-weight:700;')}${docsSpan(' both', 'font-weight:700;font-style:italic;text-decoration:underline;')}</p></b>`;
    expect(clean(html).replace(/<\/?span>/g, '')).toBe(
      '<meta charset="utf-8"><p>plain <strong>strong</strong><u><em><strong> both</strong></em></u></p>',
    );
  });

  test('a nested list beside its item goes into it', () => {
    const html = `${DOCS}<ol>${docsItem(docsSpan('a'))}<ol>${docsItem(docsSpan('b'), 2)}</ol>${docsItem(docsSpan('c'))}</ol></b>`;
    expect(clean(html).replace(/<\/?(?:span|meta)[^>]*>/g, '')).toBe(
      '<ol><li><p>a</p><ol><li><p>b</p></li></ol></li><li><p>c</p></li></ol>',
    );
  });

  test('breaks between paragraphs are only space', () => {
    expect(clean(`${DOCS}<p>a</p><br><p>b</p></b>`).replace(/<meta[^>]*>/, '')).toBe('<p>a</p><p>b</p>');
  });
});

describe('tables', () => {
  test('a row is a line, its cells are kept apart', () => {
    const html =
      '<google-sheets-html-origin><table dir="ltr" border="1"><colgroup><col></colgroup><tbody><tr><td style="x">Task</td><td>Hours</td></tr><tr><td>Import\n bug</td><td>3</td></tr><tr><td></td><td></td></tr></tbody></table>';
    expect(clean(html)).toContain('<p>Task · Hours</p><p>Import bug · 3</p>');
  });

  test('a table of one column is a layout: what it holds stays', () => {
    expect(clean('<table><tr><td><ul><li>a</li></ul></td></tr></table>')).toBe('<ul><li>a</li></ul>');
  });

  test('a table in a table', () => {
    const html = '<table><tr><td>x</td><td><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>';
    expect(clean(html)).toBe('<p>x · 1 · 2</p>');
  });
});

describe('links', () => {
  test.each([
    ['<a href="https://a.example/x">the <b>plan</b></a>, see', 'the <b>plan</b> (https://a.example/x), see'],
    ['<a href="https://a.example/x">https://a.example/x</a>', 'https://a.example/x'],
    ['<a href="mailto:a@b.example">Anna</a>', 'Anna (a@b.example)'],
    ['<a href="javascript:alert(1)">x</a>, <a href="data:text/html,x">y</a>, <a href="/z">z</a>', 'x, y, z'],
    ['<a href="https://a.example/x"><img src="y"></a> words', '<img src="y"> words'],
    ['<pre><a href="https://a.example/x">Vec</a></pre>', '<pre>Vec</pre>'],
  ])('%j keeps its address in words', (html, kept) => {
    expect(clean(`<p>${html}</p>`).replace(/<\/?a\b[^>]*>/g, '')).toContain(kept);
  });

  test('so do those of another editor like this one', () => {
    const html = '<p data-pm-slice="1 1 []">a <a href="https://a.example/x">b</a></p>';
    expect(cleanPastedHtml(html)).toMatch(
      /^<p data-pm-slice="1 1 \[\]">a <a .*>b \(https:\/\/a\.example\/x\)<\/a><\/p>$/,
    );
  });
});

describe('safety', () => {
  test('no style attribute and no style sheet is left for the browser to check', () => {
    const html =
      '<style>p{color:red}</style><p class="a"style="color:red" style=\'x\'>a</p><div data-pm-slice="1 1 []" style="y">b</div>';
    expect(cleanPastedHtml(html)).not.toMatch(/\sstyle\s*=|<style/i);
    expect(cleanPastedHtml('<p STYLE = "x">a</p>')).not.toMatch(/\sstyle\s*=/i);
  });

  test('no handler is left either', () => {
    expect(cleanPastedHtml('<img src="x" onerror="a()"><p onclick=b()>c</p>')).not.toMatch(/\son\w+\s*=/i);
  });

  test('the word style in the text stays', () => {
    expect(clean('<p>his style = fine</p>')).toBe('<p>his style = fine</p>');
  });

  test('scripts do not come along', () => {
    expect(clean('<p>a<script>alert(1)</script></p>')).toBe('<p>a </p>');
  });
});
