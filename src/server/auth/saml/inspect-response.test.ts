import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ASSERTION, EXPECTED, failureOf, NAMESPACES, SIGNATURE } from '../../../../tests/support/saml-documents.ts';
import { inspectResponse } from './read-assertion.ts';

describe('a response', () => {
  const RESPONSE = [
    `<samlp:Response ${NAMESPACES} ID="_r" InResponseTo="_request" Destination="https://journal.example/acs">`,
    '<saml:Issuer>https://idp.example/metadata</saml:Issuer>',
    '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>',
    ASSERTION,
    '</samlp:Response>',
  ].join('');
  const inspect = (xml: string) => inspectResponse(xml, EXPECTED);

  test('passes with and without its own signature, destination and issuer', () => {
    expect(inspect(RESPONSE)).toEqual({ isResponseSigned: false });
    expect(inspect(RESPONSE.replace('<samlp:Status>', () => `${SIGNATURE}<samlp:Status>`))).toEqual({
      isResponseSigned: true,
    });
    const bare = RESPONSE.replace(/ Destination="[^"]+"/, '').replace(/<saml:Issuer>[^<]+<\/saml:Issuer>/, '');
    expect(inspect(bare)).toEqual({ isResponseSigned: false });
  });

  test.each([
    ['the document is not well-formed', '</samlp:Response>', ''],
    ['the document has forbidden markup', '<samlp:Status>', '<!-- --><samlp:Status>'],
    ['the document is no response', 'SAML:2.0:protocol', 'SAML:2.0:x'],
    ['the response belongs to another request', 'InResponseTo="_request" Dest', 'InResponseTo="_other" Dest'],
    ['the response belongs to another request', 'InResponseTo="_request" Dest', 'Dest'],
    ['the response is for another address', 'Destination="https://journal', 'Destination="https://other'],
    ['the response has another issuer', '>https://idp.example/metadata<', '>https://other.example<'],
    ['the status is urn:oasis:names:tc:SAML:2.0:status:Requester', 'status:Success', 'status:Requester'],
    ['the status is missing', 'samlp:StatusCode', 'samlp:Code'],
    ['the assertion is encrypted', '</samlp:Response>', '<saml:EncryptedAssertion/></samlp:Response>'],
    ['the response does not hold one assertion', '</samlp:Response>', '<saml:Assertion/></samlp:Response>'],
    ['the response does not hold one assertion', '<saml:Subject>', '<saml:Assertion/><saml:Subject>'],
    ['the response does not hold one assertion', '<saml:Subject>', '<x xmlns="urn:x"><Assertion/></x><saml:Subject>'],
    ['the document holds a second response', '<samlp:Status>', '<samlp:Response/><samlp:Status>'],
    ['an id is not unique', 'ID="_r"', 'ID="_a"'],
    ['an id is not unique', '<saml:Subject>', '<saml:Subject Id="_r">'],
    ['a signature is not in its place', '<saml:Subject>', `<saml:Subject>${SIGNATURE}`],
    ['a signature is not in its place', '<samlp:Status>', `<samlp:Status>${SIGNATURE}`],
    [
      'the algorithm http://www.w3.org/2000/09/xmldsig#rsa-sha1 is not allowed',
      /http[^"]+rsa-sha256/,
      'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
    ],
    [
      'the algorithm http://www.w3.org/2000/09/xmldsig#hmac-sha1 is not allowed',
      /http[^"]+rsa-sha256/,
      'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    ],
    ['a signature holds an object', '</ds:SignedInfo>', '</ds:SignedInfo><ds:Object/>'],
  ])('is refused because %s', (reason, part, replacement) => {
    const changed = RESPONSE.replace(part, () => replacement);
    expect(changed).not.toBe(RESPONSE);
    expect(failureOf(() => inspect(changed.replace(/(<samlp:Code[^>]*)(\/>)/, '$1/>')))).toBe(reason);
  });

  test('is refused if its assertion is not a child of it', () => {
    const moved = RESPONSE.replace(ASSERTION, () => `<samlp:Extensions>${ASSERTION}</samlp:Extensions>`);
    expect(failureOf(() => inspect(moved))).toBe('the assertion is not in its place');
  });

  test('with any edit is refused with an InvalidResponseError or passes', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: RESPONSE.length }),
        fc.nat({ max: 40 }),
        fc.string({ maxLength: 20 }),
        (at, cut, added) => {
          failureOf(() => inspect(RESPONSE.slice(0, at) + added + RESPONSE.slice(at + cut)));
        },
      ),
      { numRuns: 500 },
    );
  });
});
