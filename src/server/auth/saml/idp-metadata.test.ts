import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../../tests/support/saml-documents.ts';
import { parseIdpMetadata } from './idp-metadata.ts';

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
