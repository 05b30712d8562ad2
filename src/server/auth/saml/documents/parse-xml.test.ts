import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unicodeText } from '../../../../../tests/support/fuzz/unicode-text.ts';
import { failureOf } from '../../../../../tests/support/saml-documents.ts';
import { parseXml } from './parse-xml.ts';

test('parseXml reads namespaces, entities and character references', () => {
  const root = parseXml(
    '\uFEFF<?xml version="1.0"?><a:b xmlns:a="urn:a" c="&lt;&#65;">x<d xmlns="urn:d"/>y&amp;</a:b>',
  );
  expect(root).toMatchObject({ namespace: 'urn:a', name: 'b', text: 'xy&' });
  expect(root.attributes.get('c')).toBe('<A');
  expect(root.children).toMatchObject([{ namespace: 'urn:d', name: 'd' }]);
});

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
  ['5,001 elements', `<a>${'<b/>'.repeat(5_000)}</a>`],
  ['5,001 attributes', `<a ${Array.from({ length: 5_001 }, (_, index) => `a${index}=''`).join(' ')}/>`],
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
