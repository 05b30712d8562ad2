/** A SAML identity provider that this project did not write: samlify, with a key of its own. */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { X509CertificateGenerator } from '@peculiar/x509';
import * as samlify from 'samlify';

export type KeyPair = { privateKey: string; certificate: string };

/** A key and a certificate for it, as PEM. */
export async function newKeyPair(name: string, modulusLength = 2048): Promise<KeyPair> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength,
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date('2026-01-01'),
    notAfter: new Date('2056-01-01'),
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  return { privateKey, certificate: certificate.toString('pem') };
}

const newId = (): string => `_${randomBytes(16).toString('hex')}`;

export type AuthnRequest = { id: string; relayState: string };

/** The content of a response. A test changes one member and leaves the others right. */
export type ResponseFields = {
  requestId: string;
  /** Markup within the name, escaped by the caller. */
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

type Signing = { sign?: 'assertion' | 'message' | 'both' | 'none'; algorithm?: string; keys?: KeyPair };

export type SamlPeer = {
  readonly entityId: string;
  readonly keys: KeyPair;
  readonly metadata: string;
  /** Parses the address that a sign-in leads to, and verifies the request's signature against our metadata. */
  readRequest(url: string, ourMetadata: string): Promise<AuthnRequest>;
  /** A response as base64. */
  respond(
    ourMetadata: string,
    fields: Partial<ResponseFields> & { requestId: string },
    signing?: Signing,
  ): Promise<string>;
};

const SIGN_IN_URL = 'https://idp.example/sso';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

export async function createSamlPeer(name = 'idp.example', keyBits = 2048): Promise<SamlPeer> {
  samlify.setSchemaValidator({ validate: () => Promise.resolve('not validated') });
  const entityId = `https://${name}/metadata`;
  const keys = await newKeyPair(name, keyBits);
  const provider = ({ privateKey, certificate }: KeyPair, algorithm: string) =>
    samlify.IdentityProvider({
      entityID: entityId,
      privateKey,
      signingCert: certificate,
      requestSignatureAlgorithm: algorithm,
      wantAuthnRequestsSigned: true,
      nameIDFormat: [EMAIL_FORMAT],
      singleSignOnService: [{ Binding: samlify.Constants.namespace.binding.redirect, Location: SIGN_IN_URL }],
      singleLogoutService: [{ Binding: samlify.Constants.namespace.binding.redirect, Location: SIGN_IN_URL }],
      loginResponseTemplate: { context: '<unused/>', attributes: [] },
    });
  return {
    entityId,
    keys,
    metadata: provider(keys, RSA_SHA256).getMetadata(),

    async readRequest(url, ourMetadata) {
      const { searchParams, search } = new URL(url);
      const query = Object.fromEntries(searchParams);
      const octetString = search.slice(1).replace(/&Signature=.*$/, '');
      const ordered = ['SAMLRequest', 'RelayState', 'SigAlg']
        .map((part) => new RegExp(`(?:^|&)(${part}=[^&]*)`).exec(octetString)![1])
        .join('&');
      const sp = samlify.ServiceProvider({ metadata: ourMetadata });
      const { extract } = await provider(keys, RSA_SHA256).parseLoginRequest(sp, 'redirect', {
        query,
        octetString: ordered,
      });
      return { id: (extract as { request: { id: string } }).request.id, relayState: query['RelayState']! };
    },

    async respond(ourMetadata, fields, { sign = 'assertion', algorithm = RSA_SHA256, keys: signingKeys = keys } = {}) {
      const xml = writeResponse(ourMetadata, entityId, fields);
      if (sign === 'none') return Buffer.from(xml).toString('base64');
      const wanted = sign === 'message' ? ourMetadata.replace(/WantAssertionsSigned="true"/, '') : ourMetadata;
      const sp = samlify.ServiceProvider({ metadata: wanted, wantMessageSigned: sign !== 'assertion' });
      const response = await provider(signingKeys, algorithm).createLoginResponse(
        sp,
        {} as never,
        'post',
        {},
        {
          customTagReplacement: () => ({ id: newId(), context: xml }),
        },
      );
      return response.context;
    },
  };
}

const MINUTE_MS = 60_000;

function writeResponse(ourMetadata: string, entityId: string, overrides: Partial<ResponseFields>): string {
  const acsUrl = /AssertionConsumerService [^>]*Location="([^"]+)"/.exec(ourMetadata)![1]!;
  const fields = {
    nameId: 'ana@corp.example',
    nameIdFormat: EMAIL_FORMAT,
    issuer: entityId,
    audience: /entityID="([^"]+)"/.exec(ourMetadata)![1]!,
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

export const attribute = (name: string, ...values: string[]): string =>
  `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`;
