/** A server with SAML, an independent identity provider that it knows, and a browser's way through a sign-in. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  createSsoProvider,
  updateSsoProvider,
  type NewSsoProvider,
  type SsoProvider,
  type SsoProviderChange,
} from '#server/auth/saml/sso-providers.ts';
import {
  type SamlIdentityProvider,
  createSamlIdentityProvider,
} from '../../../../simulators/saml/identity-provider.ts';
import { newKeyPair } from '../../../../simulators/saml/key-pair.ts';
import type { ResponseFields } from '../../../../simulators/saml/response.ts';
import { startAuthWorld, type AuthWorld, type WireBody } from '../fixture.ts';
import { Browser, fragmentOf } from '../providers/browser.ts';

export const DOMAIN = 'corp.example';
const MAPPING = {
  keys: {
    full_name: { name: 'displayName' },
    department: { names: ['dept', 'ou'], default: 'none' },
    role: { name: 'role' },
  },
};

type SamlWorld = AuthWorld & {
  peer: SamlIdentityProvider;
  /** The row of `peer`. */
  provider: SsoProvider;
  ourMetadata: string;
  /** For key files. */
  folder: string;
};

type Started = { id: string; relayState: string; browser: Browser };
export type Overrides = Partial<ResponseFields>;
export type Signing = Parameters<SamlIdentityProvider['respond']>[2];

/** Call once per file. The properties of `world` are set before the first test. */
export function setUpSaml() {
  const world = {} as SamlWorld;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-saml-'));
    const { privateKey, certificate } = await newKeyPair('hustle-forge');
    await writeFile(join(folder, 'saml.pem'), privateKey + certificate);
    const [server, peer] = await Promise.all([
      startAuthWorld({ AUTH_SAML_KEY_FILE: join(folder, 'saml.pem'), AUTH_AUTOCONFIRM: 'off' }),
      createSamlPeer(),
    ]);
    Object.assign(world, server, { folder, peer });
    world.provider = await addProvider({ metadataXml: peer.metadata, domains: [DOMAIN], attributeMapping: MAPPING });
    world.ourMetadata = (await world.request('GET', '/sso/saml/metadata')).body;
  });
  afterAll(async () => {
    await world.close();
    await rm(world.folder, { recursive: true, force: true });
  });

  const deps = () => ({ publicUrl: world.config.publicUrl, now: world.clock.now() });
  const addProvider = (settings: NewSsoProvider) =>
    world.database.transactAsService('test', (transaction) => createSsoProvider(transaction, settings, deps()));
  const changeProvider = (id: string, change: SsoProviderChange) =>
    world.database.transactAsService('test', (transaction) => updateSsoProvider(transaction, id, change, deps()));

  const target = () => `${world.url}/journal?from=test`;
  const acsUrl = () => `${world.url}/auth/v1/sso/saml/acs`;

  /** Starts a sign-in in a browser and reads the request that the identity provider gets. */
  async function start(body: WireBody = {}, browser = new Browser()): Promise<Started> {
    const page = await browser.open(`${world.url}/auth/v1/sso`, {
      method: 'POST',
      body: JSON.stringify({ domain: DOMAIN, redirect_to: target(), skip_http_redirect: true, ...body }),
    });
    expect(page.status, page.text).toBe(200);
    const { url } = JSON.parse(page.text) as { url: string };
    return { ...(await world.peer.readRequest(url, world.ourMetadata)), browser };
  }

  /**
   * Posts a response as the identity provider's page does. Returns the address of the client that the browser ends at.
   */
  async function post({ relayState, browser }: Omit<Started, 'id'>, samlResponse: string): Promise<URL> {
    const page = await browser.open(acsUrl(), {
      method: 'POST',
      headers: { Origin: 'https://idp.example', 'Sec-Fetch-Site': 'cross-site' },
      body: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }),
    });
    const location = new URL(page.headers.get('location')!, world.url);
    if (location.pathname !== '/auth/v1/sso/saml/continue') return location;
    return browser.follow(location, `${world.url}/journal`, { isCrossSite: true });
  }

  async function signIn(fields: Overrides = {}, signing?: Signing, body: WireBody = {}): Promise<URL> {
    const started = await start(body);
    const response = { requestId: started.id, ...fields };
    return post(started, await world.peer.respond(world.ourMetadata, response, signing));
  }

  const userOf = async (url: URL) => {
    const token = fragmentOf(url)['access_token']!;
    const { status, body } = await world.request('GET', '/user', { token });
    expect(status, url.href).toBe(200);
    return body;
  };

  return { world, addProvider, changeProvider, target, acsUrl, start, post, signIn, userOf };
}

export const problemOf = (url: URL): string => {
  const { error_code, access_token, error_description } = fragmentOf(url);
  expect([access_token, url.searchParams.get('code'), url.searchParams.get('error_code')], url.href).toEqual([
    undefined,
    null,
    error_code,
  ]);
  return `${error_code}: ${error_description}`;
};

export const INVALID = 'validation_failed: SAML Assertion is not valid';
export const NOT_FOUND = 'saml_relay_state_not_found: SAML RelayState does not exist, try logging in again?';

/** An identity provider with a key of its own, whose pages no browser opens. */
export async function createSamlPeer(name = 'idp.example', keyBits = 2048): Promise<SamlIdentityProvider> {
  const keys = await newKeyPair(name, keyBits);
  return createSamlIdentityProvider({
    entityId: `https://${name}/metadata`,
    signInUrl: 'https://idp.example/sso',
    keys,
  });
}
