/** Writes the responses of the simulated SAML identity provider: valid ones, or with one member that a test changes. */
import { randomBytes } from 'node:crypto';

export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const MINUTE_MS = 60_000;

/** The content of a response. A test changes one member and leaves the others valid. */
export type ResponseFields = {
  requestId: string;
  /** The content of the `NameID` element, escaped by the caller. */
  nameId: string;
  nameIdFormat: string;
  issuer: string;
  audience: string;
  recipient: string;
  destination: string;
  status: string;
  notBefore: Date;
  notOnOrAfter: Date;
  /** Markup of the attributes. */
  attributes: string;
  assertionId: string;
  /** Changes the whole text before it is signed. */
  edit: (xml: string) => string;
};

export const newId = (): string => `_${randomBytes(16).toString('hex')}`;

/** @param values markup, escaped by the caller */
export const attribute = (name: string, ...values: string[]): string =>
  `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`;

/** @param serviceMetadata of the server that the response is for */
export const acsUrlOf = (serviceMetadata: string): string =>
  /AssertionConsumerService [^>]*Location="([^"]+)"/.exec(serviceMetadata)![1]!;

export function writeResponse(serviceMetadata: string, issuer: string, overrides: Partial<ResponseFields>): string {
  const acsUrl = acsUrlOf(serviceMetadata);
  const fields = {
    nameId: 'ana@corp.example',
    nameIdFormat: EMAIL_FORMAT,
    issuer,
    audience: /entityID="([^"]+)"/.exec(serviceMetadata)![1]!,
    recipient: acsUrl,
    destination: acsUrl,
    status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    notBefore: new Date(Date.now() - MINUTE_MS),
    notOnOrAfter: new Date(Date.now() + 5 * MINUTE_MS),
    attributes: '',
    assertionId: newId(),
    edit: (xml: string) => xml,
    requestId: '',
    ...overrides,
  };
  const [from, to] = [fields.notBefore.toISOString(), fields.notOnOrAfter.toISOString()];
  const now = new Date().toISOString();
  return fields.edit(
    [
      `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"`,
      ` ID="${newId()}" Version="2.0" IssueInstant="${now}" Destination="${fields.destination}"`,
      ` InResponseTo="${fields.requestId}"><saml:Issuer>${fields.issuer}</saml:Issuer>`,
      `<samlp:Status><samlp:StatusCode Value="${fields.status}"/></samlp:Status>`,
      `<saml:Assertion ID="${fields.assertionId}" Version="2.0" IssueInstant="${now}"><saml:Issuer>${fields.issuer}</saml:Issuer>`,
      `<saml:Subject><saml:NameID Format="${fields.nameIdFormat}">${fields.nameId}</saml:NameID>`,
      `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData`,
      ` NotOnOrAfter="${to}" Recipient="${fields.recipient}" InResponseTo="${fields.requestId}"/>`,
      `</saml:SubjectConfirmation></saml:Subject>`,
      `<saml:Conditions NotBefore="${from}" NotOnOrAfter="${to}"><saml:AudienceRestriction>`,
      `<saml:Audience>${fields.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
      `<saml:AuthnStatement AuthnInstant="${now}"><saml:AuthnContext><saml:AuthnContextClassRef>`,
      `urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
      fields.attributes === '' ? '' : `<saml:AttributeStatement>${fields.attributes}</saml:AttributeStatement>`,
      `</saml:Assertion></samlp:Response>`,
    ].join(''),
  );
}
