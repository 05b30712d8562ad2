/** Reads the metadata of an identity provider, which an administrator uploads (docs/specification/api.md 29). */
import { X509Certificate } from 'node:crypto';
import { isLoopback, isTrustworthyProviderUrl } from '#server/config/private-network.ts';
import { invalidRequest } from '../http/errors.ts';
import { isStrongRsa } from '../keys/key-file.ts';
import { childrenOf, DSIG, HTTP_REDIRECT, METADATA, parseXml, XmlError, type XmlElement } from './parse-xml.ts';

export type IdpMetadata = {
  entityId: string;
  /** Where an authentication request goes, by redirect. */
  signInUrl: string;
  /** PEM of the keys that sign assertions. */
  certificates: string[];
};

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_ENTITY_ID_LENGTH = 1_024;
const MAX_CERTIFICATES = 10;

const fail = (problem: string): never => {
  throw invalidRequest(`SAML Metadata ${problem}`);
};

/** Throws `validation_failed`. Only a server on loopback accepts an identity provider on loopback. */
export function parseIdpMetadata(xml: string, { publicUrl }: { publicUrl: string }): IdpMetadata {
  if (Buffer.byteLength(xml) > MAX_METADATA_BYTES) fail('is larger than 256 KB');
  const root = parseDocument(xml);
  if (root.namespace !== METADATA || root.name !== 'EntityDescriptor') fail('does not contain an EntityDescriptor');
  const entityId = root.attributes.get('entityID') ?? '';
  if (entityId === '') fail('does not contain an EntityID');
  if (entityId.length > MAX_ENTITY_ID_LENGTH) fail('contains an EntityID that is too long');
  const [descriptor, second] = childrenOf(root, METADATA, 'IDPSSODescriptor');
  if (!descriptor) return fail('does not contain any IDPSSODescriptor');
  if (second) fail('contains multiple IDPSSODescriptors');
  return {
    entityId,
    signInUrl: readSignInUrl(descriptor, !isLoopback(new URL(publicUrl).hostname)),
    certificates: readCertificates(descriptor),
  };
}

function parseDocument(xml: string): XmlElement {
  try {
    return parseXml(xml);
  } catch (error) {
    if (error instanceof XmlError) return fail(`is not valid: ${error.message}`);
    throw error;
  }
}

function readSignInUrl(descriptor: XmlElement, production: boolean): string {
  const services = childrenOf(descriptor, METADATA, 'SingleSignOnService');
  const service = services.find(({ attributes }) => attributes.get('Binding') === HTTP_REDIRECT);
  const url = URL.parse(service?.attributes.get('Location') ?? '');
  if (!url) return fail('does not contain a SingleSignOnService for HTTP-Redirect');
  // Threat: a `javascript:` address would run in the page of a client that navigates to it.
  if (!isTrustworthyProviderUrl(url, production) || url.username !== '' || url.password !== '')
    fail('contains a SingleSignOnService that is not at a HTTPS URL');
  return url.href;
}

function readCertificates(descriptor: XmlElement): string[] {
  const signing = childrenOf(descriptor, METADATA, 'KeyDescriptor').filter(
    ({ attributes }) => (attributes.get('use') ?? 'signing') === 'signing',
  );
  const texts = signing
    .flatMap((key) => childrenOf(key, DSIG, 'KeyInfo'))
    .flatMap((info) => childrenOf(info, DSIG, 'X509Data'))
    .flatMap((data) => childrenOf(data, DSIG, 'X509Certificate'))
    .map(({ text }) => text.replace(/\s/g, ''));
  if (texts.length === 0) fail('does not contain a signing certificate');
  if (texts.length > MAX_CERTIFICATES) fail('contains too many signing certificates');
  return [...new Set(texts)].map(readCertificate);
}

function readCertificate(base64: string): string {
  const certificate = parseCertificate(base64);
  if (!isStrongRsa(certificate.publicKey))
    fail('contains a signing certificate that is not RSA with 2048 bits or more');
  return certificate.toString();
}

function parseCertificate(base64: string): X509Certificate {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) fail('contains an invalid signing certificate');
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return fail('contains an invalid signing certificate');
  }
}
