// @vitest-environment happy-dom
/** Tests `cleanPastedHtml` with HTML of Word, Google Docs and Google Sheets, with links, styles and scripts. */
import { describe, expect, test, vi } from 'vitest';
import { withoutStyles } from '#client/lib/log-html/inert-html.ts';
import { cleanPastedHtml } from './paste-html.ts';

/** The cleaned HTML without layout attributes, on one line. */
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
  test('turns numbered paragraphs into one numbered list', () => {
    expect(
      clean(`${WORD_HEAD}${wordItem(1, '1.', 'alpha')}${wordItem(1, '2.', 'beta')}<!--EndFragment--></body></html>`),
    ).toMatch(/^<ol><li>(?:<span><\/span>)?alpha ?<\/li><li>(?:<span><\/span>)?beta ?<\/li><\/ol>$/);
  });

  test('nests levels and keeps bullets inside numbers', () => {
    const html = `${WORD_HEAD}${wordItem(1, '1.', 'a')}\n${wordItem(2, '·', 'b')}\n${wordItem(2, '·', 'c')}\n${wordItem(1, '2.', 'd')}`;
    expect(clean(html).replaceAll('<span></span>', '').replaceAll(' <', '<')).toBe(
      '<ol><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>',
    );
  });

  test('keeps two lists separate around a paragraph', () => {
    const html = `${WORD_HEAD}${wordItem(1, '1.', 'a')}<p class=MsoNormal>between</p>${wordItem(1, '1.', 'b', 'l1')}`;
    expect(clean(html).replaceAll('<span></span>', '').replaceAll(' <', '<')).toBe(
      '<ol><li>a</li></ol><p>between</p><ol><li>b</li></ol>',
    );
  });

  test('keeps a list that begins at its second level', () => {
    expect(
      clean(wordItem(2, 'a)', 'deep'))
        .replaceAll('<span></span>', '')
        .replaceAll(' <', '<'),
    ).toBe('<ol><li><ol><li>deep</li></ol></li></ol>');
  });

  test('drops blank paragraphs', () => {
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
  test('ignores the wrapper <b> and reads bold from styles', () => {
    const html = `${DOCS}<p dir="ltr">${docsSpan('plain ')}${docsSpan('strong', 'font-weight:700;')}${docsSpan(' both', 'font-weight:700;font-style:italic;text-decoration:underline;')}</p></b>`;
    expect(clean(html).replace(/<\/?span>/g, '')).toBe(
      '<meta charset="utf-8"><p>plain <strong>strong</strong><u><em><strong> both</strong></em></u></p>',
    );
  });

  test('moves a nested list into the item before it', () => {
    const html = `${DOCS}<ol>${docsItem(docsSpan('a'))}<ol>${docsItem(docsSpan('b'), 2)}</ol>${docsItem(docsSpan('c'))}</ol></b>`;
    expect(clean(html).replace(/<\/?(?:span|meta)[^>]*>/g, '')).toBe(
      '<ol><li><p>a</p><ol><li><p>b</p></li></ol></li><li><p>c</p></li></ol>',
    );
  });

  test('drops line breaks between paragraphs', () => {
    expect(clean(`${DOCS}<p>a</p><br><p>b</p></b>`).replace(/<meta[^>]*>/, '')).toBe('<p>a</p><p>b</p>');
  });
});

describe('tables', () => {
  test('turns a row into a line and separates its cells', () => {
    const html =
      '<google-sheets-html-origin><table dir="ltr" border="1"><colgroup><col></colgroup><tbody><tr><td style="x">Task</td><td>Hours</td></tr><tr><td>Import\n bug</td><td>3</td></tr><tr><td></td><td></td></tr></tbody></table>';
    expect(clean(html)).toContain('<p>Task · Hours</p><p>Import bug · 3</p>');
  });

  test('unwraps a layout table of one column', () => {
    expect(clean('<table><tr><td><ul><li>a</li></ul></td></tr></table>')).toBe('<ul><li>a</li></ul>');
  });

  test('flattens a nested table', () => {
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
  ])('%j keeps its address as text', (html, kept) => {
    expect(clean(`<p>${html}</p>`).replace(/<\/?a\b[^>]*>/g, '')).toContain(kept);
  });

  test('keeps the address of a link from another ProseMirror editor', () => {
    const html = '<p data-pm-slice="1 1 []">a <a href="https://a.example/x">b</a></p>';
    expect(cleanPastedHtml(html)).toMatch(
      /^<p data-pm-slice="1 1 \[\]">a <a .*>b \(https:\/\/a\.example\/x\)<\/a><\/p>$/,
    );
  });
});

describe('safety', () => {
  test('removes style attributes and stylesheets', () => {
    const html =
      '<style>p{color:red}</style><p class="a"style="color:red" style=\'x\'>a</p><div data-pm-slice="1 1 []" style="y">b</div>';
    expect(cleanPastedHtml(html)).not.toMatch(/\sstyle\s*=|<style/i);
    expect(cleanPastedHtml('<p STYLE = "x">a</p>')).not.toMatch(/\sstyle\s*=/i);
  });

  test('removes event handlers', () => {
    expect(cleanPastedHtml('<img src="x" onerror="a()"><p onclick=b()>c</p>')).not.toMatch(/\son\w+\s*=/i);
  });

  test('keeps the word "style" in text', () => {
    expect(clean('<p>his style = fine</p>')).toBe('<p>his style = fine</p>');
  });

  test('removes scripts', () => {
    expect(clean('<p>a<script>alert(1)</script></p>')).toBe('<p>a </p>');
  });
});

describe('HTML that would take long', () => {
  test('is read in as many passes with 500 active attributes as with 5', () => {
    const passesFor = (count: number): number => {
      const replace = vi.spyOn(String.prototype, 'replace');
      withoutStyles(`<p ${'style=a '.repeat(count)}>x</p>`);
      const passes = replace.mock.calls.length;
      replace.mockRestore();
      return passes;
    };
    expect(passesFor(500)).toBe(passesFor(5));
    expect(withoutStyles(`<p ${'style=a onx=b '.repeat(500)}>`)).not.toMatch(/[ "'](?:style|onx)=/);
  });

  test('loses closed stylesheets and keeps the text behind an unclosed one', () => {
    expect(clean('a<style>b</style>c<title>d</title>e<xml>f<style>g</style>')).toBe('a c e<xml>f </xml>');
    const exec = vi.spyOn(RegExp.prototype, 'test');
    const searchesFor = (count: number): number => {
      exec.mockClear();
      cleanPastedHtml('<xml>'.repeat(count));
      return exec.mock.contexts.filter((pattern) => String(pattern).includes('xml')).length;
    };
    expect(searchesFor(100)).toBe(1);
    exec.mockRestore();
  });

  test('becomes a paragraph for each line if it holds more than 10,000 elements', () => {
    expect(cleanPastedHtml(`<div>a &amp; b</div>${'<b>'.repeat(10_000)}c<p>d <i>e</i></p>`)).toBe(
      '<p>a &amp; b</p><p>c</p><p>d e</p>',
    );
  });

  test('of Word continues a list after empty paragraphs', () => {
    const html = `${wordItem(1, '1.', 'a')}<p></p>${wordItem(1, '2.', 'b')}<p> </p>${wordItem(1, '3.', 'c')}`;
    expect(cleanPastedHtml(html).match(/<ol>/g)).toHaveLength(1);
  });

  test('is searched in the first 2,000 characters of a style', () => {
    const styled = (filler: number) =>
      cleanPastedHtml(`<span style="${'a:b;'.repeat(filler)}font-weight:bold">x</span>`);
    expect(styled(400)).toContain('<strong>');
    expect(styled(600)).not.toContain('<strong>');
  });
});
