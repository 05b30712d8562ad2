/** Our side of SAML 2.0 towards one identity provider (docs/specification/wire.md 29). */
import { SAML, ValidateInResponseTo, type CacheProvider } from '@node-saml/node-saml';
import { CLOCK_SKEW_MS } from './read-assertion.ts';
import type { IdpMetadata } from './idp-metadata.ts';
import type { SamlKey } from '../keys/saml-key.ts';

type Home = { publicUrl: string };
/** Names this server to identity providers; also the address of its metadata. */
export const entityIdOf = ({ publicUrl }: Home): string => `${publicUrl}/auth/v1/sso/saml/metadata`;
export const acsUrlOf = ({ publicUrl }: Home): string => `${publicUrl}/auth/v1/sso/saml/acs`;

type ServiceProvider = { config: Home; samlKey: SamlKey; metadata: IdpMetadata; requests: CacheProvider };

export const createServiceProvider = ({ config, samlKey, metadata, requests }: ServiceProvider): SAML =>
  new SAML({
    issuer: entityIdOf(config),
    callbackUrl: acsUrlOf(config),
    audience: entityIdOf(config),
    entryPoint: metadata.signInUrl,
    idpIssuer: metadata.entityId,
    idpCert: metadata.certificates,
    privateKey: samlKey.privateKey,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    // The assertion carries its own signature; identity providers differ in whether they sign the response as well.
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    // Threat: replay, and a response that nobody asked for (a sign-in that the identity provider initiates).
    validateInResponseTo: ValidateInResponseTo.always,
    cacheProvider: requests,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    // The identity provider chooses the format of the name and how it authenticates its users.
    identifierFormat: null,
    disableRequestedAuthnContext: true,
  });
