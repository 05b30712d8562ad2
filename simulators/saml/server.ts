/** Serves the SAML identity provider of a simulated company, whose users have addresses at `sso.example`. */
import { join } from 'node:path';
import { Hono } from 'hono';
import {
  type IdentityAccount,
  consentPage,
  invalidRequestPage,
  readChoice,
} from '../identity-provider/consent-page.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';
import { createSamlIdentityProvider, type AuthnRequest, type SamlIdentityProvider } from './identity-provider.ts';
import { openKeyPair } from './key-pair.ts';
import { acsUrlOf, attribute } from './response.ts';

/** Below `/sandbox`, so that the browser reaches the pages through the product's origin. */
const BASE_PATH = '/sandbox/saml';
const NAME = 'SSO Example';
const DOMAIN = 'sso.example';
/** Independent of the product's address, because the product finds a registered provider by this id. */
const ENTITY_ID = `https://${DOMAIN}/metadata`;
const ACCOUNTS: readonly IdentityAccount[] = [
  { email: `ana@${DOMAIN}`, name: 'Ana Andersson', verified: true },
  { email: `ben@${DOMAIN}`, name: 'Ben Baker', verified: true },
];
const CONSENT_PAGE = consentPage(NAME, { accounts: ACCOUNTS, hasVerifiedFlag: false });
const NO_STORE = { 'Cache-Control': 'no-store' };

export type SamlApp = {
  readonly app: Hono;
  /** Environment variables that switch SAML on in the product. */
  readonly settings: { AUTH_SAML_KEY_FILE: string };
};

/**
 * An app to mount into another server at its root.
 *
 * @param options.publicUrl where the browser reaches the product, and through it these pages
 * @param options.keyFolder keeps the keys of the product and of the provider, because the product stores the provider's
 * metadata, which contains its certificate
 */
export async function createSamlApp({
  publicUrl,
  keyFolder,
}: {
  publicUrl: string;
  keyFolder: string;
}): Promise<SamlApp> {
  const keyFile = join(keyFolder, 'saml-service.pem');
  await openKeyPair(keyFile, 'hustle-forge');
  // Not awaited, because the product can start without this key.
  const opening = openKeyPair(join(keyFolder, 'saml-provider.pem'), DOMAIN).then((keys) =>
    createSamlIdentityProvider({ entityId: ENTITY_ID, signInUrl: `${publicUrl}${BASE_PATH}/sso`, keys }),
  );
  // A failure is reported by the first request instead of as an unhandled rejection.
  opening.catch(() => undefined);

  const app = new Hono();
  /** The body with which an administrator registers this provider (docs/specification/api.md 33). */
  app.get(`${BASE_PATH}/registration`, async (context) =>
    context.json({
      type: 'saml',
      metadata_xml: (await opening).metadata,
      domains: [DOMAIN],
      attribute_mapping: { keys: { name: { name: 'displayName' } } },
    }),
  );
  app.get(`${BASE_PATH}/submit.js`, (context) =>
    context.body('document.forms[0].submit();\n', 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  );
  app.on(['GET', 'POST'], `${BASE_PATH}/sso`, async (context) => {
    const provider = await opening;
    const serviceMetadata = await fetchServiceMetadata(publicUrl);
    let request: AuthnRequest;
    try {
      request = await provider.readRequest(context.req.url, serviceMetadata);
    } catch {
      return context.html(invalidRequestPage(NAME, 'The request is not signed by Hustle Forge.'), 400, NO_STORE);
    }
    if (context.req.method === 'GET') return context.html(CONSENT_PAGE, 200, NO_STORE);
    const choice = readChoice(new URLSearchParams(await context.req.text()), ACCOUNTS);
    if (choice === null) return context.html(CONSENT_PAGE, 400, NO_STORE);
    const samlResponse =
      choice === 'denied'
        ? await denySignIn(provider, serviceMetadata, request)
        : await vouchFor(choice.account, provider, serviceMetadata, request);
    const fields = { SAMLResponse: samlResponse, RelayState: request.relayState };
    return context.html(submitPage(acsUrlOf(serviceMetadata), fields), 200, NO_STORE);
  });
  return { app, settings: { AUTH_SAML_KEY_FILE: keyFile } };
}

async function fetchServiceMetadata(publicUrl: string): Promise<string> {
  const answer = await fetch(`${publicUrl}/auth/v1/sso/saml/metadata`);
  if (!answer.ok) throw new Error(`the product's SAML metadata answers ${answer.status}`);
  return answer.text();
}

const vouchFor = (
  { email, name }: IdentityAccount,
  provider: SamlIdentityProvider,
  serviceMetadata: string,
  { id }: AuthnRequest,
): Promise<string> =>
  provider.respond(serviceMetadata, {
    requestId: id,
    nameId: escapeHtml(email),
    attributes: attribute('mail', escapeHtml(email)) + attribute('displayName', escapeHtml(name)),
  });

/** Like other providers: an error status without an assertion, not signed. */
const denySignIn = (provider: SamlIdentityProvider, serviceMetadata: string, { id }: AuthnRequest): Promise<string> =>
  provider.respond(
    serviceMetadata,
    {
      requestId: id,
      status: 'urn:oasis:names:tc:SAML:2.0:status:Responder',
      edit: (xml) => xml.replace(/<saml:Assertion .*<\/saml:Assertion>/, ''),
    },
    { sign: 'none' },
  );

/** The HTTP-POST binding. The script is a file, because the content security policy forbids inline scripts. */
function submitPage(action: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  );
  return renderSandboxPage(
    `Back from ${NAME}`,
    `<form method="post" action="${escapeHtml(action)}" class="choices">
${inputs.join('\n')}
<button class="primary">Continue to Hustle Forge</button>
</form>
<script src="${BASE_PATH}/submit.js"></script>`,
  );
}
