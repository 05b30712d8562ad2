/** The ceremonies of passkeys and security keys with Chromium's own authenticator and /auth/v1, without our screens. */
import type { Page } from '@playwright/test';
import { addAuthenticator } from '../support/sign-in.ts';
import { expect, test } from '../support/test.ts';

type Answer = { status: number; body: Record<string, never> & { [field: string]: unknown } };
type Call = { path: string; token?: string; body?: unknown };

/** Posts from the page to /auth/v1. */
const call = (page: Page, request: Call): Promise<Answer> =>
  page.evaluate(async ({ path, token, body }) => {
    const response = await fetch(`/auth/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body ?? {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }, request);

/** Lets the browser answer the options of the server, as `PublicKeyCredential.toJSON()`. */
const answer = (page: Page, kind: 'create' | 'get', options: unknown): Promise<unknown> =>
  page.evaluate(
    async ({ create, json }) => {
      const credential = create
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json) });
      return (credential as PublicKeyCredential).toJSON();
    },
    { create: kind === 'create', json: options as never },
  );

const claimsOf = (token: unknown) => JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString());

test('a passkey of the browser signs in without an address', async ({ page, accounts }) => {
  await page.goto('/terms');
  const { person, session } = await accounts.create();
  const authenticator = await addAuthenticator(page, { verifiesUser: true });
  const token = session.access_token;
  const begun = await call(page, { path: '/passkeys/registration/options', token });
  const credential = await answer(page, 'create', begun.body['options']);
  const { challenge_id } = begun.body;
  const registered = await call(page, {
    path: '/passkeys/registration/verify',
    token,
    body: { challenge_id, credential },
  });
  expect(registered.status, JSON.stringify(registered.body)).toBe(200);
  expect(await authenticator.listCredentials()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);

  // The browser itself refuses to make a second passkey for the account on the same device.
  const again = await call(page, { path: '/passkeys/registration/options', token });
  await expect(answer(page, 'create', again.body['options'])).rejects.toThrow('InvalidStateError');

  for (let round = 0; round < 2; round += 1) {
    const options = await call(page, { path: '/passkeys/authentication/options' });
    const assertion = await answer(page, 'get', options.body['options']);
    const signedIn = await call(page, {
      path: '/passkeys/authentication/verify',
      body: { challenge_id: options.body['challenge_id'], credential: assertion },
    });
    expect(signedIn.status, JSON.stringify(signedIn.body)).toBe(200);
    expect(signedIn.body['user']).toMatchObject({ email: person.email });
    expect(claimsOf(signedIn.body['access_token'])).toMatchObject({ aal: 'aal2', amr: [{ method: 'passkey' }] });
  }
});

test('a security key without a PIN passes the second step', async ({ page, accounts }) => {
  await page.goto('/terms');
  const { session } = await accounts.create();
  await addAuthenticator(page, { verifiesUser: false });
  let token = session.access_token;
  const enrolled = await call(page, {
    path: '/factors',
    token,
    body: { factor_type: 'webauthn', friendly_name: 'key' },
  });
  const factor = `/factors/${String(enrolled.body['id'])}`;
  for (const type of ['create', 'request'] as const) {
    const challenge = await call(page, { path: `${factor}/challenge`, token });
    const { webauthn } = challenge.body as unknown as {
      webauthn: { type: string; credential_options: { publicKey: unknown } };
    };
    expect(webauthn.type).toBe(type);
    const response = await answer(page, type === 'create' ? 'create' : 'get', webauthn.credential_options.publicKey);
    const verified = await call(page, {
      path: `${factor}/verify`,
      token,
      body: { challenge_id: challenge.body['id'], webauthn: { type, credential_response: response } },
    });
    expect(verified.status, JSON.stringify(verified.body)).toBe(200);
    token = String(verified.body['access_token']);
    expect(claimsOf(token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/webauthn' }, {}] });
  }
});
