/// <reference types="vite/client" />
import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { CoachText } from './coach-text.tsx';

/** The tags of the markup, with their attributes. */
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

test('renders no link, image or attribute for any model output', () => {
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

test('adds only buttons for citations of existing lines', () => {
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

test('renders a citation of a missing line as text', () => {
  const html = renderToStaticMarkup(<CoachText text="Items 1 and 9." cited={CITED} onCitation={() => undefined} />);
  expect(html.match(/<button/g)).toHaveLength(1);
  expect(html).toContain('9.');
});
