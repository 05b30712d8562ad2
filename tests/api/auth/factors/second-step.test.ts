/** A session that has not passed the second step opens no data (docs/specification/api.md 5). */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { setUpAuthWorld } from '../fixture.ts';

const world = setUpAuthWorld();

const addFactor = (userId: string, status: string) =>
  world.admin.query(
    'insert into auth.mfa_factors (user_id, factor_type, status, friendly_name) values ($1, $2, $3, $4)',
    [userId, 'totp', status, randomUUID()],
  );

const readEntries = (token: string) =>
  fetch(`${world.url}/rest/v1/entries`, { headers: { Authorization: `Bearer ${token}` } });
const writeEntry = (token: string) =>
  fetch(`${world.url}/rest/v1/entries`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ date: '2026-11-20', content: '<p>a</p>' }),
  });
const callFunction = (token: string) =>
  fetch(`${world.url}/functions/v1/find-entries`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{}',
  });

test('a password alone opens no data of a user with a verified factor', async () => {
  const { id, email } = await world.signUpUser();
  await addFactor(id, 'verified');
  const { body } = await world.request('POST', '/token?grant_type=password', {
    body: { email, password: 'correct horse' },
  });
  for (const response of [await readEntries(body.access_token), await writeEntry(body.access_token)]) {
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: '42501', message: 'Two-step verification is not complete' });
  }
  const called = await callFunction(body.access_token);
  expect([called.status, await called.json()]).toMatchObject([403, { code: 'INSUFFICIENT_AAL', success: false }]);
  // The user can still be read, because the second step needs it.
  expect((await world.request('GET', '/user', { token: body.access_token })).status).toBe(200);
});

test('a session that has passed the second step opens data, and so does one of a user without a verified factor', async () => {
  const { id, access } = await world.signUpUser();
  await addFactor(id, 'unverified');
  expect((await readEntries(access)).status).toBe(200);
  const other = await world.signUpUser();
  await addFactor(other.id, 'verified');
  expect((await readEntries(other.access)).status).toBe(403);
  await world.admin.query("update auth.sessions set aal = 'aal2' where user_id = $1", [other.id]);
  expect((await readEntries(other.access)).status).toBe(200);
});

test("a password alone neither shows nor ends the owner's sessions", async () => {
  const { id, email, access: owner } = await world.signUpUser();
  await addFactor(id, 'verified');
  await world.admin.query("update auth.sessions set aal = 'aal2' where user_id = $1", [id]);
  const { body: half } = await world.request('POST', '/token?grant_type=password', {
    body: { email, password: 'correct horse' },
  });
  const { body: listed } = await world.request('GET', '/sessions', { token: owner });
  expect(listed.sessions).toHaveLength(2);
  for (const [method, path] of [
    ['GET', '/sessions'],
    ['DELETE', `/sessions/${listed.sessions[0].id}`],
  ] as const) {
    expect(await world.request(method, path, { token: half.access_token })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_aal' },
    });
  }
  for (const scope of ['others', 'global']) {
    const path = `/logout?scope=${scope}`;
    expect((await world.request('POST', path, { token: half.access_token })).status).toBe(204);
    expect((await readEntries(owner)).status).toBe(200);
  }
  // A sign-out everywhere still ends the sessions that have not passed the second step.
  expect((await world.request('GET', '/user', { token: half.access_token })).status).toBe(403);
});
