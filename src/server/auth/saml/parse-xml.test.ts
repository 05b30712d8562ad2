import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unicodeText } from '../../../../tests/support/unicode-text.ts';
import { failureOf } from '../../../../tests/support/saml-documents.ts';
import { parseXml } from './parse-xml.ts';

test('parseXml reads namespaces, entities and character references', () => {
  const root = parseXml(
    '\uFEFF<?xml version="1.0"?><a:b xmlns:a="urn:a" c="&lt;&#65;">x<d xmlns="urn:d"/>y&amp;</a:b>',
  );
  expect(root).toMatchObject({ namespace: 'urn:a', name: 'b', text: 'xy&' });
  expect(root.attributes.get('c')).toBe('<A');
  expect(root.children).toMatchObject([{ namespace: 'urn:d', name: 'd' }]);
});

/** As some providers declare two namespaces for each value. */
const groups = (count: number): string =>
  `<a>${'<b xmlns:xs="urn:xs" xmlns:xsi="urn:xsi" xsi:type="xs:string">x</b>'.repeat(count)}</a>`;
const namespaces = (count: number): string =>
  Array.from({ length: count }, (_, index) => `xmlns:n${index}="urn:${index}"`).join(' ');

test('parseXml accepts 300 values with namespaces of their own, 1,000 elements and 64 namespaces in scope', () => {
  expect(parseXml(groups(300)).children).toHaveLength(300);
  expect(parseXml(`<a ${namespaces(64)}>${'<b/>'.repeat(999)}</a>`).children).toHaveLength(999);
});

test.each([
  ['too many elements', `<a>${'<b/>'.repeat(1_000)}</a>`],
  ['too many attributes', `<a ${Array.from({ length: 1_001 }, (_, index) => `a${index}=''`).join(' ')}/>`],
  ['too many attributes', groups(334)],
  ['too many namespaces', `<a ${namespaces(65)}/>`],
  ['too many namespaces', `<a ${namespaces(40)}><b ${namespaces(25)}/></a>`],
])('parseXml names the limit of a document with %s', (limit, text) =>
  expect(failureOf(() => parseXml(text))).toBe(`the document has ${limit}`),
);

test.each([
  ['a document type', '<!DOCTYPE a><a/>'],
  ['an entity', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
  ['a comment', '<a><!-- b --></a>'],
  ['a CDATA section', '<a><![CDATA[b]]></a>'],
  ['a processing instruction', '<a><?b c?></a>'],
  ['a style sheet', '<?xml-stylesheet href="x"?><a/>'],
  ['an undeclared entity', '<a>&nbsp;</a>'],
  ['an undeclared prefix', '<a:b/>'],
  ['a second root', '<a/><b/>'],
  ['no end', '<a><b></b>'],
  ['no markup', 'text'],
  ['nothing', ''],
  ['crossed tags', '<a><b></a></b>'],
  ['51 levels', '<a>'.repeat(51) + '</a>'.repeat(51)],
])('parseXml refuses %s', (_, text) => expect(failureOf(() => parseXml(text))).not.toBeNull());

test('parseXml parses any text or refuses it with an XmlError', () => {
  const piece = fc.constantFrom(
    '<a>',
    '</a>',
    '<a ',
    'b="c"',
    '>',
    '/>',
    '&amp;',
    '&',
    '<!',
    '<?',
    ']]>',
    'xmlns:x="y"',
    'x:',
  );
  const text = fc.oneof(unicodeText(), fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }));
  fc.assert(
    fc.property(text, (input) => {
      failureOf(() => parseXml(Array.isArray(input) ? input.join('') : input));
    }),
    { numRuns: 500 },
  );
});
