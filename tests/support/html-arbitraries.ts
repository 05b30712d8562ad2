/** Generates HTML as programs copy it: styles that change what is shown and where it breaks, lists, tables, hidden text. */
import fc from 'fast-check';

/** No generated word is a cell separator, or an empty cell, of a log. */
const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z]{1,6}\d{0,2}$/) },
  fc.constantFrom(
    '12',
    '3.5',
    '5 °C',
    'a&amp;b',
    '&lt;x&gt;',
    '50%',
    '“q”',
    '(x)',
    '=',
    '#tag',
    'é',
    '日本語',
    'שלום',
    '🎉',
    '1.',
    '*',
  ),
);

const space = fc.constantFrom('', '', ' ', '  ', '\n', '\n  ', '\t');

const join = (parts: readonly string[], between: readonly string[]): string =>
  parts.map((part, index) => part + (between[index] ?? '')).join('');

const sequence = (part: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(part, { minLength: 1, maxLength }), fc.array(space, { minLength: maxLength, maxLength }))
    .map(([parts, spaces]) => join(parts, spaces));

const HIDDEN = [
  'style="display:none"',
  'style="display: none; font-size: 1px"',
  'style="display:none!important;display:block"',
  'style="/* x */display:none;display:-x-box"',
  'hidden',
];
const INLINE_STYLES = [
  '',
  'display:initial',
  'display:block;display:-x-box',
  'font-weight:700',
  'font-style: italic',
  'text-decoration:underline line-through',
  'white-space: pre-wrap',
  'white-space:pre',
  'white-space:pre-line',
  'white-space: normal',
  'white-space:nowrap',
  'white-space: break-spaces',
  'white-space-collapse: preserve; text-wrap-mode: wrap',
  'display:inline',
  'display: block',
  'display:inline-block',
  'text-transform:uppercase',
  'float:left',
  'position:absolute',
  'position: relative; top: 2px',
  'vertical-align: super',
  'font-size: 12px; color: rgb(0, 0, 0)',
];
const BLOCK_STYLES = [
  ...['', 'display:inline', 'display: inline-block', 'display:flex', 'display: grid', 'display:flow-root'],
  ...[
    'white-space: pre-wrap',
    'white-space:pre-line',
    'margin:0;font-weight:bold',
    'display:list-item',
    'float: right',
  ],
];

const styled = (tag: string, style: string, content: string, more = ''): string =>
  style === '' ? `<${tag}${more}>${content}</${tag}>` : `<${tag} style="${style}"${more}>${content}</${tag}>`;

/** Rules whose order, selectors and importance compete for the elements with these classes. */
const CLASSES = ['', '', '', ' class="a"', ' class="b"', ' class="b a"', ' class="a c" id="d"'];
const styleSheet = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('.a', '.b', 'span.a', 'SPAN.b', '.c, .b', '#d', 'span', '@media print', 'td.a', 'li'),
        fc.constantFrom(
          'display:none',
          'display:none !important',
          'display:inline',
          'display:block',
          'white-space:pre',
          'white-space:normal!important',
          'text-transform:uppercase',
        ),
      )
      .map(([selector, body]) =>
        selector.startsWith('@') ? `${selector} { .a { ${body} } }` : `${selector} { ${body}; color: red }`,
      ),
    { minLength: 1, maxLength: 4 },
  )
  .map((rules) => `<style>${rules.join('\n')}</style>`);

/** The picture's text is what the page shows: see `pictureText`. */
const emoji = fc
  .constantFrom('💡', '👍🏽', '🇩🇪', '❤️')
  .map((text) => `<img alt="${text}" src="data:image/gif;base64,AA" data-shown width="20">`);

const scripts = fc
  .tuple(fc.constantFrom('sup', 'sub'), fc.constantFrom('2', '10', '-1', 'n', 'st', '(3)'))
  .map(([tag, text]) => `<${tag}>${text}</${tag}>`);

const { inline, flow } = fc.letrec<{
  inline: string;
  inlineText: string;
  flow: string;
  block: string;
  cell: string;
  item: string;
}>((tie) => {
  const text = fc
    .tuple(space, fc.array(word, { minLength: 1, maxLength: 3 }), space)
    .map(([before, words, after]) => before + words.join(' ') + after);
  const inlines = sequence(tie('inline'), 3);
  const flows = sequence(tie('flow'), 3);
  const item = tie('item');
  const items = sequence(item, 3);
  return {
    inlineText: text,
    inline: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 6, arbitrary: text },
      {
        weight: 2,
        arbitrary: fc.constantFrom('<br>', '<br/>', '&nbsp;', '<span></span>', '<b></b>', '<o:p></o:p>', '<!-- x -->'),
      },
      emoji,
      scripts,
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom('b', 'i', 'u', 's', 'em', 'strong', 'code', 'font', 'label', 'mark', 'small'), inlines)
          .map(([tag, content]) => styled(tag, '', content)),
      },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...INLINE_STYLES), inlines, fc.constantFrom(...CLASSES))
          .map(([style, content, classes]) => styled('span', style, content, classes)),
      },
      fc
        .tuple(fc.constantFrom('span', 'b', 'div'), fc.constantFrom(...HIDDEN), word)
        .map(([tag, hidden, content]) => `<${tag} ${hidden}>${content}</${tag}>`),
      fc
        .tuple(fc.constantFrom('button', 'cite', 'q-x', 'abbr', 'slot', 'bdi', 'ins', 'time'), inlines)
        // No button stands in another one.
        .map(([tag, content]) => styled(tag, '', tag === 'button' ? content.replaceAll(/<\/?button>/g, '') : content)),
      fc
        .tuple(fc.constantFrom('script', 'style', 'template', 'noscript', 'title'), fc.constant('x'))
        .map(([tag, content]) => styled(tag, '', content)),
      fc
        .stringMatching(/^[a-z]{3,9}$/)
        .map((name) => `<a href="https://a.example/${name}">https://a.example/${name}</a>`),
    ),
    item: fc.oneof(
      { depthSize: 'small' },
      { weight: 4, arbitrary: inlines.map((content) => `<li>${content}</li>`) },
      flows.map((content) => `<li>${content}</li>`),
      inlines.map((content) => `<li><p>${content}</p></li>`),
      tie('block').map((content) => `<li style="list-style-type:none">${content}</li>`),
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), inlines)
        .map(([value, content]) => `<li value="${value}">${content}</li>`),
      fc
        .tuple(fc.integer({ min: 1, max: 4 }), inlines)
        .map(([level, content]) => `<li aria-level="${level}">${content}</li>`),
      items.map((content) => `<ul>${content}</ul>`),
    ),
    cell: fc.oneof(
      { depthSize: 'small' },
      { weight: 5, arbitrary: inlines },
      { weight: 1, arbitrary: fc.constantFrom('', ' ', '&nbsp;', '<br>') },
      { weight: 3, arbitrary: flows },
    ),
    block: fc.oneof(
      { depthSize: 'small' },
      { weight: 4, arbitrary: inlines.map((content) => `<p>${content}</p>`) },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...BLOCK_STYLES), flows)
          .map(([style, content]) => styled('div', style, content)),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('h1', 'h2', 'h4', 'address', 'dt'), inlines)
          .map(([tag, content]) => styled(tag, '', content)),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(
            fc.constantFrom(
              ...['blockquote', 'section', 'article', 'dd', 'center', 'figure', 'main', 'dl', 'form', 'fieldset'],
              ...['details open', 'summary', 'dialog open', 'nav', 'search', 'hgroup', 'menu'],
            ),
            flows,
          )
          .map(([tag, content]) => styled(tag, '', content)),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom('ul', 'ol', 'ol start="4"', 'ul style="list-style-type: none"'), items)
          .map(([tag, content]) => `<${tag}>${content}</${tag.slice(0, 2)}>`),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            fc.constantFrom('', ' style="white-space:normal"', ' role="presentation"'),
            fc.array(fc.array(tie('cell'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
            fc.constantFrom('td', 'th'),
          )
          .map(([attributes, rows, tag]) => {
            const html = rows.map((cells) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('\n')}</tr>`);
            return `<table${attributes}><tbody>\n${html.join('\n ')}</tbody></table>`;
          }),
      },
      fc
        .array(fc.oneof(text, fc.constantFrom('<br>', '<b>x </b>', '<div>y</div>')), { minLength: 1, maxLength: 3 })
        .map((parts) => `<pre>${parts.join('')}</pre>`),
      fc.constant('<hr>'),
    ),
    flow: fc.oneof(
      { depthSize: 'small' },
      { weight: 2, arbitrary: tie('inline') },
      { weight: 3, arbitrary: tie('block') },
    ),
  };
});

/** A fragment, or a document around one, as programs put it on the clipboard. */
export const clipboardHtml: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('', "<meta charset='utf-8'>", '<html>\n<body>\n<!--StartFragment-->') },
      styleSheet,
    ),
    fc.oneof(sequence(inline, 4), sequence(flow, 4)),
  )
  .map(
    ([head, content]) => `${head}${content}${head.startsWith('<html') ? '<!--EndFragment-->\n</body>\n</html>' : ''}`,
  );
