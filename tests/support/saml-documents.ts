/** A valid SAML assertion, and the reasons for which the parsers of documents refuse others. */
import { AuthError } from '#server/auth/http/errors.ts';
import { InvalidResponseError } from '#server/auth/saml/read-assertion.ts';
import { XmlError } from '#server/auth/saml/parse-xml.ts';

/** The reason why the document is refused; null if it is accepted. */
export const failureOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof XmlError || error instanceof InvalidResponseError || error instanceof AuthError)
      return error.message;
    throw error;
  }
};

export const EXPECTED = {
  requestId: '_request',
  acsUrl: 'https://journal.example/acs',
  entityId: 'https://journal.example/metadata',
  idpEntityId: 'https://idp.example/metadata',
  now: new Date('2026-11-22T12:00:00Z'),
};
export const NAMESPACES =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
export const SIGNATURE =
  '<ds:Signature><ds:SignedInfo><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/></ds:SignedInfo></ds:Signature>';
export const ASSERTION = [
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
