/** The administration of SAML identity providers, and the one of the sandbox (docs/specification/api.md 29 and 33). */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerSsoProvider } from '../../../../scripts/sandbox/register-sso-provider.ts';
import { Browser, fragmentOf } from '../providers/browser.ts';
import { startAuthWorld } from '../fixture.ts';
import { createSamlApp } from '../../../../simulators/saml/server.ts';
import { createSamlPeer, INVALID, problemOf, setUpSaml } from './saml-world.ts';

const { world, target, start, post, signIn, userOf } = setUpSaml();

describe('the administration', () => {
  const path = '/admin/sso/providers';

  test.each([
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/no-uuid`],
    ['PUT', `${path}/no-uuid`],
    ['DELETE', `${path}/no-uuid`],
  ])('opens %s %s to a service token alone', async (method, address) => {
    const token = fragmentOf(await signIn())['access_token']!;
    const body = method === 'GET' ? {} : { body: {} };
    const answers = [
      await world.request(method, address, body),
      await world.request(method, address, { ...body, token }),
    ];
    expect(answers.map(({ body: { code } }) => code)).toEqual(['no_authorization', 'not_admin']);
  });

  test('sets up a provider that signs in, changes it and deletes it', async () => {
    const [token, other, domain] = [
      await world.serviceToken(),
      await createSamlPeer('fourth.example'),
      'fourth.example',
    ];
    const body = { type: 'saml', metadata_xml: other.metadata, domains: [domain] };
    const created = await world.request('POST', path, { token, body });
    expect([created.status, created.body]).toMatchObject([201, { disabled: false, domains: [{ domain }] }]);
    const address = `${path}/${created.body.id}`;
    expect((await world.request('GET', address, { token })).body).toEqual(created.body);
    const { items } = (await world.request('GET', path, { token })).body;
    const { metadata_xml: _, ...saml } = created.body.saml;
    expect(items).toContainEqual({ ...created.body, saml });

    const started = await start({ domain });
    const url = await post(started, await other.respond(world.ourMetadata, { requestId: started.id }));
    expect((await userOf(url)).app_metadata.provider).toBe(`sso:${created.body.id}`);

    const attribute_mapping = { keys: { name: { name: 'cn' } } };
    const changed = await world.request('PUT', address, { token, body: { disabled: true, attribute_mapping } });
    expect(changed.body).toMatchObject({ disabled: true, saml: { attribute_mapping }, domains: [{ domain }] });
    expect((await world.request('POST', '/sso', { body: { domain } })).body.code).toBe('sso_provider_disabled');
    expect((await world.request('DELETE', address, { token })).body.id).toBe(created.body.id);
    for (const [method, id] of ['GET', 'PUT', 'DELETE'].flatMap((name) => [
      [name, created.body.id],
      [name, 'mine'],
    ])) {
      const answer = await world.request(method, `${path}/${id}`, { token, ...(method === 'PUT' && { body: {} }) });
      expect([answer.status, answer.body]).toEqual([
        404,
        { code: 'sso_provider_not_found', message: 'SSO Identity Provider not found' },
      ]);
    }
    const { rows } = await world.admin.query(
      "select event, actor from auth.audit_log where details ->> 'provider' = $1 order by id",
      [created.body.id],
    );
    expect(rows).toEqual(
      ['created', 'changed', 'deleted'].map((what) => ({ event: `sso_provider_${what}`, actor: 'service' })),
    );
  });

  test('refuses an entity or a domain of another provider', async () => {
    const token = await world.serviceToken();
    const [one, two] = await Promise.all([createSamlPeer('fifth.example'), createSamlPeer('sixth.example')]);
    const create = (metadata_xml: string, domains: string[]) =>
      world.request('POST', path, { token, body: { type: 'saml', metadata_xml, domains } });
    const { body: first } = await create(one.metadata, ['shared.example']);
    expect((await create(one.metadata, [])).body.code).toBe('saml_idp_already_exists');
    expect((await create(two.metadata, ['shared.example'])).body.code).toBe('sso_domain_already_exists');
    const renamed = await world.request('PUT', `${path}/${first.id}`, { token, body: { metadata_xml: two.metadata } });
    expect([renamed.status, renamed.body.code]).toEqual([400, 'saml_entity_id_mismatch']);
  });

  test.each([
    [{}, "validation_failed: Only 'saml' supported for SSO provider type"],
    [{ type: 'oidc' }, "validation_failed: Only 'saml' supported for SSO provider type"],
    [{ type: 'saml' }, 'validation_failed: metadata_xml must be set'],
    [
      { type: 'saml', metadata_url: 'http://169.254.169.254/' },
      'validation_failed: metadata_url is not supported: send its content as metadata_xml',
    ],
    [
      { type: 'saml', metadata_xml: '<x/>', domains: ['a.example', 7] },
      'bad_json: Could not parse request body as JSON: domains must be a list of strings',
    ],
    [
      { type: 'saml', metadata_xml: '<x/>', domains: 'a.example' },
      'bad_json: Could not parse request body as JSON: domains must be a list of strings',
    ],
    [
      { type: 'saml', metadata_xml: '<!DOCTYPE x><x/>' },
      'validation_failed: SAML Metadata is not valid: the document has forbidden markup',
    ],
  ])('refuses %j', async (body, problem) => {
    const answer = await world.request('POST', path, { token: await world.serviceToken(), body });
    expect([answer.status, `${answer.body.code}: ${answer.body.message}`]).toEqual([400, problem]);
  });
});

describe("the sandbox's identity provider", () => {
  const openSandbox = () =>
    createSamlApp({ publicUrl: world.config.publicUrl, keyFolder: join(world.folder, 'sandbox') }).then(
      ({ app }) => app,
    );
  const readRegistration = async (app: Awaited<ReturnType<typeof openSandbox>>) =>
    (await app.request('/sandbox/saml/registration')).json();

  test('is registered once, keeps its key, and is changed with its metadata', async () => {
    const registration = await readRegistration(await openSandbox());
    await registerSsoProvider(world.config, world.database, registration);
    await registerSsoProvider(world.config, world.database, await readRegistration(await openSandbox()));
    const moved = { ...registration, metadata_xml: registration.metadata_xml.replace('/sandbox/', '/moved/') };
    await registerSsoProvider(world.config, world.database, moved);
    await registerSsoProvider(world.config, world.database, registration);
    const { rows } = await world.admin.query(
      `select event from auth.audit_log where details->>'entity_id' = 'https://sso.example/metadata' order by id`,
    );
    expect(rows.map(({ event }) => event)).toEqual([
      'sso_provider_created',
      'sso_provider_changed',
      'sso_provider_changed',
    ]);
  });

  /** Starts a sign-in and submits `choice` on the provider's consent page. Returns the form fields for our ACS. */
  async function choose(choice: Record<string, string>) {
    const app = await openSandbox();
    await registerSsoProvider(world.config, world.database, await readRegistration(app));
    const browser = new Browser();
    const started = await browser.open(`${world.url}/auth/v1/sso`, {
      method: 'POST',
      body: JSON.stringify({ domain: 'sso.example', redirect_to: target(), skip_http_redirect: true }),
    });
    const { url } = JSON.parse(started.text) as { url: string };
    expect(await (await app.request(url)).text()).toContain('value="ben@sso.example"');
    const html = await (await app.request(url, { method: 'POST', body: new URLSearchParams(choice) })).text();
    const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(html)![1]!;
    return { url, app, browser, relayState: fieldOf('RelayState'), response: fieldOf('SAMLResponse') };
  }

  test.each([
    [{ account: 'ben@sso.example' }, { email: 'ben@sso.example', user_metadata: { name: 'Ben Baker' } }],
    [{ email: "o'hara@other.example" }, { email: "o'hara@other.example", user_metadata: { name: "o'hara" } }],
  ])('signs the visitor in that chose %j', async (choice, user) => {
    const chosen = await choose(choice);
    expect(await userOf(await post(chosen, chosen.response))).toMatchObject(user);
  });

  test('refuses a sign-in that the visitor denied', async () => {
    const denied = await choose({ deny: 'on' });
    expect(problemOf(await post(denied, denied.response))).toBe(INVALID);
  });

  test('shows an error for a request that this server has not signed', async () => {
    const { app, url } = await choose({ deny: 'on' });
    for (const wrong of [url.replace('RelayState=', 'RelayState=0'), url.replace(/&Signature=.*/, '')]) {
      expect((await app.request(wrong)).status).toBe(400);
    }
  });
});

describe('switched off', () => {
  test('every path answers saml_provider_disabled', async () => {
    const off = await startAuthWorld();
    for (const [method, path] of [
      ['POST', '/sso'],
      ['GET', '/sso/saml/metadata'],
      ['POST', '/sso/saml/acs'],
      ['GET', '/sso/saml/continue'],
    ] as const) {
      const { status, body } = await off.request(method, path, method === 'POST' ? { body: {} } : {});
      expect([status, body]).toEqual([404, { code: 'saml_provider_disabled', message: 'SAML 2.0 is disabled' }]);
    }
    await off.close();
  });
});
