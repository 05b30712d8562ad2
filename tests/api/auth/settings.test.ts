/** GET /settings (docs/specification/api.md 17). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newAddress, startAuthWorld } from './fixture.ts';
import { newKeyPair } from '../../../simulators/saml/key-pair.ts';

test('settings list every way to sign in that is switched on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-settings-'));
  const { privateKey, certificate } = await newKeyPair('hustle-forge');
  await writeFile(join(folder, 'saml.pem'), privateKey + certificate);
  const world = await startAuthWorld({
    AUTH_AUTOCONFIRM: 'off',
    AUTH_SIGNUPS: 'off',
    AUTH_ANONYMOUS: 'on',
    AUTH_PASSKEYS: 'off',
    AUTH_SAML_KEY_FILE: join(folder, 'saml.pem'),
    GOOGLE_CLIENT_ID: 'id',
    GOOGLE_CLIENT_SECRET: 'secret',
    OIDC_PROVIDERS: 'keycloak,house',
    OIDC_KEYCLOAK_ISSUER: 'http://127.0.0.1:1/realm',
    OIDC_KEYCLOAK_CLIENT_ID: 'id',
    OIDC_KEYCLOAK_CLIENT_SECRET: 'secret',
    OIDC_HOUSE_ISSUER: 'http://127.0.0.1:1/house',
    OIDC_HOUSE_CLIENT_ID: 'id',
    OIDC_HOUSE_CLIENT_SECRET: 'secret',
    SMS_ACCOUNT_SID: 'AC0123456789abcdef',
    SMS_AUTH_TOKEN: 'token',
    SMS_FROM: '+15005550006',
  });
  try {
    const { body } = await world.request('GET', '/settings');
    const on = Object.entries(body.external).filter(([, isOn]) => isOn);
    expect(on.map(([name]) => name).toSorted()).toEqual(
      ['anonymous_users', 'email', 'google', 'house', 'keycloak', 'phone'].toSorted(),
    );
    expect({ ...body, external: undefined }).toEqual({
      external: undefined,
      disable_signup: true,
      mailer_autoconfirm: false,
      phone_autoconfirm: false,
      sms_provider: 'twilio',
      saml_enabled: true,
      saml_private_key_next_configured: false,
      passkeys_enabled: false,
    });
  } finally {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('settings of a new server list only e-mail', async () => {
  const world = await startAuthWorld();
  try {
    const { body } = await world.request('GET', '/settings');
    expect(Object.entries(body.external).filter(([, isOn]) => isOn)).toEqual([['email', true]]);
    expect(Object.keys(body.external)).toHaveLength(26);
    expect(body).toMatchObject({
      disable_signup: false,
      sms_provider: '',
      saml_enabled: false,
      passkeys_enabled: true,
    });
  } finally {
    await world.close();
  }
});

test('AUTH_PASSWORD_CHECK=off accepts every password of six characters', async () => {
  const world = await startAuthWorld({ AUTH_PASSWORD_CHECK: 'off' });
  try {
    const email = newAddress();
    const signUp = (password: string) => world.request('POST', '/signup', { body: { email, password } });
    expect((await signUp('12345')).body).toMatchObject({
      code: 'weak_password',
      weak_password: { reasons: ['length'] },
    });
    const { status, body } = await signUp('123456');
    expect([status, body.user?.email]).toEqual([200, email]);
    const change = (password: string) =>
      world.request('PUT', '/user', { token: body.access_token, body: { password } });
    expect((await change(email)).status).toBe(200);
    const signedIn = await world.request('POST', '/token?grant_type=password', { body: { email, password: email } });
    expect([signedIn.status, signedIn.body.weak_password]).toEqual([200, undefined]);
    const token = await world.serviceToken();
    const created = await world.request('POST', '/admin/users', {
      token,
      body: { email: newAddress(), password: 'qwerty' },
    });
    expect(created.status).toBe(200);
    const link = { type: 'signup', email: newAddress(), password: 'password' };
    expect((await world.request('POST', '/admin/generate_link', { token, body: link })).status).toBe(200);
  } finally {
    await world.close();
  }
});
