/** GET /sso/saml/metadata: what an identity provider needs to know of this server (docs/specification/wire.md 29). */
import { generateServiceProviderMetadata } from '@node-saml/node-saml';
import type { Endpoint } from '../http/auth-deps.ts';
import { requireSaml } from './require-saml.ts';
import { acsUrlOf, entityIdOf } from './service-provider.ts';

export const showMetadata: Endpoint = (context, deps) => {
  const { privateKey, certificate } = requireSaml(deps);
  const xml = generateServiceProviderMetadata({
    issuer: entityIdOf(deps.config),
    callbackUrl: acsUrlOf(deps.config),
    privateKey,
    publicCerts: certificate,
    wantAssertionsSigned: true,
    identifierFormat: null,
    // A constant id, because the metadata is the same for every request.
    generateUniqueId: () => '_hustle-forge',
  });
  const isDownload = context.req.query('download') === 'true';
  return context.body(xml, 200, {
    'Content-Type': 'application/xml; charset=utf-8',
    'Cache-Control': 'public, max-age=600',
    ...(isDownload && { 'Content-Disposition': 'attachment; filename="metadata.xml"' }),
  });
};
