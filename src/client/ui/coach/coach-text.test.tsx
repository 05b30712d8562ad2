/// <reference types="vite/client" />
import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CoachText } from './coach-text.tsx';

/** Tags with their attributes, as a browser would read them. */
const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];
const ALLOWED = /^<\/?(?:p|ul|ol|li|strong|em)>$/;

const piece = fc.constantFrom(
  ...[
    '**',
    '*',
    '_',
    '# ',
    '- ',
    '1. ',
    '\n',
    '\n\n',
    ' ',
    'item 1',
    'items 2, 3.2',
    '[Called Ann]',
    '[<b>]',
    '<a href="//x">',
    '</p>',
    '<img src=x',
  ],
  ...[
    '[x](javascript:1)',
    '![x](//y)',
    '&lt;',
    '"',
    "'",
    '>',
    '`',
    '<script>',
    'https://x.example',
    ' onload=x ',
    '\0',
  ],
);
const output = fc.oneof(
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string(),
);

test('no output of a model can make a link, an image or an attribute', () => {
  fc.assert(
    fc.property(output, fc.boolean(), (text, writing) => {
      const [, ...inside] = tagsOf(renderToStaticMarkup(<CoachText text={text} writing={writing} />));
      const last = inside.pop();
      expect(last).toBe('</div>');
      for (const tag of inside) expect(tag).toMatch(ALLOWED);
    }),
    { numRuns: 1_500 },
  );
});

const CITED = [
  { ref: '1', line: 1 },
  { ref: '3.2', line: 5 },
  { ref: 'Called Ann', line: 6 },
];

test('where cited lines can be shown, their buttons are the only other thing, and only for lines that exist', () => {
  fc.assert(
    fc.property(output, (text) => {
      const html = renderToStaticMarkup(<CoachText text={text} cited={CITED} onCitation={() => undefined} />);
      const [, ...inside] = tagsOf(html);
      inside.pop();
      for (const tag of inside) {
        if (!ALLOWED.test(tag)) {
          expect(tag).toMatch(
            /^<\/button>$|^<button type="button"(?: class="[\w-]*")? aria-label="(?:(1|3\.2), show item \1|Called Ann, show this line) in your log">$/,
          );
        }
      }
    }),
    { numRuns: 1_500 },
  );
});

test('a citation of a line that exists is a button, another stays text', () => {
  const html = renderToStaticMarkup(<CoachText text="Items 1 and 9." cited={CITED} onCitation={() => undefined} />);
  expect(html.match(/<button/g)).toHaveLength(1);
  expect(html).toContain('9.');
});
