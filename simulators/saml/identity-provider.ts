/**
 * A SAML identity provider. It verifies requests and signs responses with samlify, a library that the product does not
 * use. Tests also make it write responses that an attacker or a misconfigured provider would send.
 */
import type * as Samlify from 'samlify';
import type { KeyPair } from './key-pair.ts';
import { EMAIL_FORMAT, newId, writeResponse, type ResponseFields } from './response.ts';

export type AuthnRequest = { id: string; relayState: string };

type Signing = { sign?: 'assertion' | 'message' | 'both' | 'none'; algorithm?: string; keys?: KeyPair };

export type SamlIdentityProvider = {
  readonly entityId: string;
  readonly keys: KeyPair;
  readonly metadata: string;
  /**
   * Parses the URL to which the product sends the browser.
   *
   * @throws unless the key in `serviceMetadata` has signed the request
   */
  readRequest(url: string, serviceMetadata: string): Promise<AuthnRequest>;
  /** A response as base64. */
  respond(
    serviceMetadata: string,
    fields: Partial<ResponseFields> & { requestId: string },
    signing?: Signing,
  ): Promise<string>;
};

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

type Options = { entityId: string; signInUrl: string; keys: KeyPair };

export function createSamlIdentityProvider({ entityId, signInUrl, keys }: Options): SamlIdentityProvider {
  const providerWith = async ({ privateKey, certificate }: KeyPair, algorithm: string) =>
    (await loadSamlify()).IdentityProvider({
      metadata: writeMetadata({ entityId, signInUrl, certificate }),
      privateKey,
      requestSignatureAlgorithm: algorithm,
      loginResponseTemplate: { context: '<unused/>', attributes: [] },
    });
  return {
    entityId,
    keys,
    metadata: writeMetadata({ entityId, signInUrl, certificate: keys.certificate }),

    async readRequest(url, serviceMetadata) {
      const { searchParams, search } = new URL(url);
      const query = Object.fromEntries(searchParams);
      // The signature covers the parameters as they were encoded, in this order.
      const octetString = ['SAMLRequest', 'RelayState', 'SigAlg']
        .flatMap((name) => new RegExp(`[?&](${name}=[^&]*)`).exec(search)?.[1] ?? [])
        .join('&');
      const service = (await loadSamlify()).ServiceProvider({ metadata: serviceMetadata });
      const provider = await providerWith(keys, RSA_SHA256);
      const { extract } = await provider.parseLoginRequest(service, 'redirect', { query, octetString });
      return { id: (extract as { request: { id: string } }).request.id, relayState: query['RelayState'] ?? '' };
    },

    async respond(
      serviceMetadata,
      fields,
      { sign = 'assertion', algorithm = RSA_SHA256, keys: signingKeys = keys } = {},
    ) {
      const xml = writeResponse(serviceMetadata, entityId, fields);
      if (sign === 'none') return Buffer.from(xml).toString('base64');
      const wanted = sign === 'message' ? serviceMetadata.replace(/WantAssertionsSigned="true"/, '') : serviceMetadata;
      const service = (await loadSamlify()).ServiceProvider({
        metadata: wanted,
        wantMessageSigned: sign !== 'assertion',
      });
      const provider = await providerWith(signingKeys, algorithm);
      const response = await provider.createLoginResponse(
        service,
        {} as never,
        'post',
        {},
        { customTagReplacement: () => ({ id: newId(), context: xml }) },
      );
      return response.context;
    },
  };
}

/** Imports the library at the first sign-in: earlier, it would delay the product, which starts with the sandbox. */
async function loadSamlify(): Promise<typeof Samlify> {
  const samlify = await import('samlify');
  samlify.setSchemaValidator({ validate: () => Promise.resolve('not validated') });
  return samlify;
}

function writeMetadata({ entityId, signInUrl, certificate }: Omit<Options, 'keys'> & { certificate: string }): string {
  const base64 = certificate.replaceAll(/-----[^-]+-----|\s/g, '');
  return [
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">`,
    `<IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">`,
    `<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>`,
    `<X509Certificate>${base64}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
    `<NameIDFormat>${EMAIL_FORMAT}</NameIDFormat>`,
    `<SingleSignOnService Binding="${REDIRECT}" Location="${signInUrl}"/>`,
    `</IDPSSODescriptor></EntityDescriptor>`,
  ].join('');
}
