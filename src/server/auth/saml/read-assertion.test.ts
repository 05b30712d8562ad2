import { describe, expect, test } from 'vitest';
import { ASSERTION, EXPECTED, failureOf } from '../../../../tests/support/saml-documents.ts';
import { parseXml } from './parse-xml.ts';
import { readAssertion } from './read-assertion.ts';

describe('an assertion', () => {
  const read = (xml: string) => readAssertion(parseXml(xml), EXPECTED);

  test('returns the name, and each plain attribute by its name and its friendly name', () => {
    const { nameId, attributes } = read(ASSERTION);
    expect(nameId).toEqual({ value: 'ana', format: 'f' });
    expect([...attributes]).toEqual([
      ['urn:mail', ['a@b.c']],
      ['mail', ['a@b.c']],
    ]);
  });

  test.each([
    ['the signature covers no assertion', 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"', 'xmlns:saml="urn:x"'],
    ['the assertion has another issuer', 'https://idp.example/metadata', 'https://idp.example/other'],
    ['Assertion does not have one Issuer', '<saml:Subject>', '<saml:Issuer/><saml:Subject>'],
    ['Assertion does not have one Subject', '<saml:Conditions', '<saml:Subject/><saml:Conditions'],
    ['Assertion does not have one Conditions', '<saml:AuthnStatement', '<saml:Conditions/><saml:AuthnStatement'],
    ['Assertion is not valid yet', '12:00:00.123Z', '12:01:01Z'],
    ['Conditions is not valid yet', '11:59:00Z', '12:01:01Z'],
    ['Conditions has expired', '13:05:00+01:00', '12:59:00+01:00'],
    ['a time of Conditions is not valid', '11:59:00Z', 'noon'],
    ['SubjectConfirmationData has expired', '12:05:00Z', '11:59:00Z'],
    ['the confirmation has no end', ' NotOnOrAfter="2026-11-22T12:05:00Z"', ''],
    ['the assertion is for another recipient', 'journal.example/acs', 'journal.example/acs/'],
    ['the assertion is for another recipient', 'cm:bearer', 'cm:sender-vouches'],
    ['the assertion belongs to another request', '_request', '_other'],
    ['the assertion belongs to another request', ' InResponseTo="_request"', ''],
    ['the assertion is for another audience', 'journal.example/metadata', 'journal.example/'],
    ['the assertion is for another audience', /<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, ''],
    [
      'the assertion is for another audience',
      '<saml:AudienceRestriction>',
      '<saml:AudienceRestriction><saml:Audience>x</saml:Audience></saml:AudienceRestriction><saml:AudienceRestriction>',
    ],
    ['the assertion has no authentication statement', '<saml:AuthnStatement', '<saml:Statement'],
    ['AuthnStatement has expired', '20:00:00Z', '11:00:00Z'],
    ['the subject has two names', '<saml:NameID', '<saml:NameID>x</saml:NameID><saml:NameID'],
    ['the name is not plain text', '>ana<', '>an<saml:x/>a<'],
    ['the name is not plain text', '>ana<', '>an&#10;a<'],
    ['the name is not plain text', '>ana<', `>${'a'.repeat(1_025)}<`],
  ])('is refused because %s', (reason, part, replacement) => {
    const changed = ASSERTION.replace(part, () => replacement);
    expect(changed).not.toBe(ASSERTION);
    expect(failureOf(() => read(changed))).toBe(reason);
  });
});
