/** Tests that a running server follows a rotation of its signing key, and that no user is signed out. */
import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { writeKeyFile, databaseKeySource, readKeys } from '#server/auth/keys/key-file.ts';
import { replaceStoredKeys, rotateKeys } from '#server/admin/server-commands.ts';
import { setUpAuthWorld, PASSWORD, tokenHashIn } from '../fixture.ts';

const world = setUpAuthWorld();

/** Rotates the key, and advances the clock past the time after which the server reads the keys again. */
async function rotateKey(endsNow = false): Promise<void> {
  const now = world.clock.now();
  await world.database.transactAsService('rotate the signing key', async (transaction) => {
    const rotated = await rotateKeys(await readKeys(databaseKeySource(transaction)), { now, endsNow });
    await replaceStoredKeys(transaction, writeKeyFile(rotated), now);
  });
  world.clock.advance(10_000);
}

const kidOf = (token: string): string => decodeProtectedHeader(token).kid!;
const publishedKids = async (): Promise<string[]> =>
  (await world.request('GET', '/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid);

test('tokens, sessions and mailed links of the old key outlive a rotation', async () => {
  const { email, access, refresh } = await world.signUpUser();
  await world.request('POST', '/recover', { body: { email } });
  const mail = await world.waitForMail(email);
  await rotateKey();

  expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
  const renewed = await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  expect(renewed.status).toBe(200);
  const newKid = kidOf(renewed.body.access_token);
  expect(newKid).not.toBe(kidOf(access));
  expect(await publishedKids()).toEqual([newKid, kidOf(access)]);
  // The server derives a refresh token's successor from a secret beside the keys. The repeated use gets the same
  // successor, so the rotation kept that secret.
  const repeated = await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  expect(repeated.body.refresh_token).toBe(renewed.body.refresh_token);
  const verified = await world.request('POST', '/verify', {
    body: { type: 'recovery', token_hash: tokenHashIn(mail) },
  });
  expect(verified.status).toBe(200);
});

test('the real client verifies tokens of the new key with the published keys', async () => {
  const { email } = await world.signUpUser();
  await rotateKey();
  const client = world.client();
  await client.auth.signInWithPassword({ email, password: PASSWORD });
  const { data, error } = await client.auth.getClaims();
  expect(error).toBeNull();
  expect(data!.claims.email).toBe(email);
  expect(data!.header.kid).toBe((await publishedKids())[0]);
});

test('the old key is published for an hour and ten minutes', async () => {
  const { access } = await world.signUpUser();
  await rotateKey();
  world.clock.advance(4_180_000);
  expect(await publishedKids()).toContain(kidOf(access));
  world.clock.advance(20_000);
  expect(await publishedKids()).not.toContain(kidOf(access));
});

test('a service token ends with the key that signed it', async () => {
  const token = await world.serviceToken();
  await rotateKey();
  const list = async (): Promise<number> => (await world.request('GET', '/admin/users', { token })).status;
  world.clock.advance(4_180_000);
  expect(await list()).toBe(200);
  world.clock.advance(20_000);
  expect(await list()).toBe(403);
});

test('a rotation for a leaked key rejects tokens that were verified before, and sessions go on', async () => {
  const { access, refresh } = await world.signUpUser();
  expect((await world.request('GET', '/user', { token: access })).status).toBe(200);
  await rotateKey(true);
  const rejected = await world.request('GET', '/user', { token: access });
  expect(rejected).toMatchObject({ status: 403, body: { code: 'bad_jwt' } });
  const renewed = await world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: refresh } });
  expect((await world.request('GET', '/user', { token: renewed.body.access_token })).status).toBe(200);
});
