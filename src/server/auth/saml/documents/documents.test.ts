/** Tests the parsers of SAML documents: which documents they accept, and why they refuse the others. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthError } from '../../wire/errors.ts';
import { mapAttributes, parseAttributeMapping } from './attribute-mapping.ts';
import { parseIdpMetadata } from './idp-metadata.ts';
import { InvalidResponseError, inspectResponse } from './inspect-response.ts';
import { XmlError, parseXml } from './parse-xml.ts';
import { readAssertion } from './read-assertion.ts';
import { parseSamlKey } from '../saml-key.ts';

const failureOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof XmlError || error instanceof InvalidResponseError || error instanceof AuthError)
      return error.message;
    throw error;
  }
};

describe('XML', () => {
  test('is read with namespaces, entities and character references', () => {
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
  ])('with %s is refused', (_, text) => expect(failureOf(() => parseXml(text))).not.toBeNull());

  test('of any text is refused with an XmlError or parsed', () => {
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
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }));
    fc.assert(
      fc.property(text, (input) => {
        failureOf(() => parseXml(Array.isArray(input) ? input.join('') : input));
      }),
      { numRuns: 500 },
    );
  });
});

const EXPECTED = {
  requestId: '_request',
  acsUrl: 'https://journal.example/acs',
  entityId: 'https://journal.example/metadata',
  idpEntityId: 'https://idp.example/metadata',
  now: new Date('2026-11-22T12:00:00Z'),
};
const NAMESPACES =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
const SIGNATURE =
  '<ds:Signature><ds:SignedInfo><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/></ds:SignedInfo></ds:Signature>';
const ASSERTION = [
  `<saml:Assertion ${NAMESPACES} ID="_a" IssueInstant="2026-11-22T12:00:00.123Z"><saml:Issuer> https://idp.example/metadata </saml:Issuer>`,
  SIGNATURE,
  '<saml:Subject><saml:NameID Format="f">ana</saml:NameID>',
  '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData',
  ' Recipient="https://journal.example/acs" InResponseTo="_request" NotOnOrAfter="2026-11-22T12:05:00Z"/>',
  '</saml:SubjectConfirmation></saml:Subject>',
  '<saml:Conditions NotBefore="2026-11-22T11:59:00Z" NotOnOrAfter="2026-11-22T13:05:00+01:00">',
  '<saml:AudienceRestriction><saml:Audience>https://other.example</saml:Audience>',
  '<saml:Audience>https://journal.example/metadata</saml:Audience></saml:AudienceRestriction></saml:Conditions>',
  '<saml:AuthnStatement SessionNotOnOrAfter="2026-11-22T20:00:00Z"/>',
  '<saml:AttributeStatement><saml:Attribute Name="urn:mail" FriendlyName="mail">',
  '<saml:AttributeValue>a@b.c</saml:AttributeValue><saml:AttributeValue><saml:x/></saml:AttributeValue>',
  '<saml:AttributeValue>two\nlines</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>',
].join('');

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

describe('metadata of an identity provider', () => {
  const home = { publicUrl: 'https://journal.example' };
  const metadataOf = (inner: string, attributes = 'entityID="urn:idp"'): string =>
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" ${attributes}>${inner}</md:EntityDescriptor>`;
  const serviceAt = (url: string): string =>
    `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${url}"/>`;
  const keyOf = (certificate: string, use = 'use="signing"'): string =>
    `<md:KeyDescriptor ${use}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
  const descriptor = (inner: string): string => `<md:IDPSSODescriptor>${inner}</md:IDPSSODescriptor>`;
  const SERVICE = serviceAt('https://idp.example/sso');
  const problemOf = (xml: string) => failureOf(() => parseIdpMetadata(xml, home));
  test.each([
    ['SAML Metadata is not valid: the document is not well-formed', '<a'],
    ['SAML Metadata is not valid: the document has forbidden markup', `<!DOCTYPE x>${metadataOf('')}`],
    ['SAML Metadata is larger than 256 KB', metadataOf(' '.repeat(262_145))],
    ['SAML Metadata does not contain an EntityDescriptor', '<EntityDescriptor/>'],
    ['SAML Metadata does not contain an EntityID', metadataOf('', '')],
    ['SAML Metadata contains an EntityID that is too long', metadataOf('', `entityID="${'a'.repeat(1_025)}"`)],
    ['SAML Metadata does not contain any IDPSSODescriptor', metadataOf('')],
    ['SAML Metadata contains multiple IDPSSODescriptors', metadataOf(descriptor('').repeat(2))],
    ['SAML Metadata does not contain a SingleSignOnService for HTTP-Redirect', metadataOf(descriptor(''))],
    [
      'SAML Metadata does not contain a SingleSignOnService for HTTP-Redirect',
      metadataOf(descriptor(serviceAt('/sso'))),
    ],
    ['SAML Metadata does not contain a signing certificate', metadataOf(descriptor(SERVICE))],
    [
      'SAML Metadata does not contain a signing certificate',
      metadataOf(descriptor(SERVICE + keyOf('AAAA', 'use="encryption"'))),
    ],
    ['SAML Metadata contains an invalid signing certificate', metadataOf(descriptor(SERVICE + keyOf('AAAA')))],
    ['SAML Metadata contains an invalid signing certificate', metadataOf(descriptor(SERVICE + keyOf('*')))],
    [
      'SAML Metadata contains too many signing certificates',
      metadataOf(descriptor(SERVICE + keyOf('AAAA').repeat(11))),
    ],
  ])('is refused: %s', (reason, xml) => expect(problemOf(xml)).toBe(reason));

  test.each([
    'http://idp.example/sso',
    'javascript:alert(1)',
    'https://a:b@idp.example/',
    'http://localhost:8080/',
    'https://127.0.0.1/',
  ])('with %s is refused', (url) =>
    expect(problemOf(metadataOf(descriptor(serviceAt(url))))).toBe(
      'SAML Metadata contains a SingleSignOnService that is not at a HTTPS URL',
    ),
  );

  test('of a provider on loopback is accepted only by a server on loopback', () => {
    const xml = metadataOf(descriptor(serviceAt('http://localhost:8080/sso')));
    const problem = failureOf(() => parseIdpMetadata(xml, { publicUrl: 'http://localhost:3000' }));
    expect(problem).toBe('SAML Metadata does not contain a signing certificate');
  });
});

describe('an attribute mapping', () => {
  const attributes = new Map([
    ['mail', ['', 'a@b.c', 'd@e.f']],
    ['long', ['x'.repeat(300)]],
  ]);

  test('takes the first value of the first name that has one, else the default', () => {
    const mapping = parseAttributeMapping({
      keys: {
        address: { name: 'nothing', names: ['none', 'mail'] },
        long: { name: 'long', array: false },
        level: { name: 'level', default: 3 },
        absent: { name: 'absent' },
      },
    });
    expect(mapAttributes(mapping, attributes)).toEqual({ address: 'a@b.c', long: 'x'.repeat(250), level: 3 });
  });

  test.each([
    [{ keys: [] }, 'keys must be an object'],
    [{ keys: { a: 'mail' } }, 'each key must have an object'],
    [{ keys: { a: { name: 7 } } }, 'name and names must be attribute names'],
    [{ keys: { a: { names: 'mail' } } }, 'name and names must be attribute names'],
    [{ keys: { a: { names: Array.from({ length: 11 }, String) } } }, 'name and names must be attribute names'],
    [{ keys: { a: { default: {} } } }, 'default must be a short text, number or boolean'],
    [{ keys: { a: { default: 'x'.repeat(251) } } }, 'default must be a short text, number or boolean'],
    [{ keys: { sub: { name: 'x' } } }, 'a key is not a valid claim name'],
    [JSON.parse('{"keys":{"__proto__":{"name":"x"}}}'), 'a key is not a valid claim name'],
    [
      { keys: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, {}])) },
      'at most 20 keys are supported',
    ],
  ])('%j is refused', (json, reason) =>
    expect(failureOf(() => parseAttributeMapping(json))).toBe(`attribute_mapping is not valid: ${reason}`),
  );
});

test.each([
  ['', 'it holds no unencrypted private key'],
  [
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
    'it holds no unencrypted private key',
  ],
  ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', 'it holds no certificate'],
])('a key file is refused: %s', (text, reason) => {
  expect(() => parseSamlKey(text)).toThrow(reason);
});
