/** A program asks to be connected: the device authorization grant of RFC 8628 (docs/specification/capture.md 4). */
import { describe, expect, test } from 'vitest';
import { waitUntilBlocked } from '../auth/block-request.ts';
import { setUpAuthWorld, type WireBody } from '../auth/fixture.ts';
import { ok } from '../auth/factors/factor-client.ts';

const world = setUpAuthWorld();
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** As OAuth clients send it: a form. */
const form = (path: string, fields: Record<string, string>) =>
  world.request('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
const start = async (fields: Record<string, string> = {}): Promise<WireBody> =>
  ok(await form('/device/authorize', { client_id: 'hustle on laptop', scope: 'append read', ...fields }));
const poll = (code: string) => form('/device/token', { grant_type: GRANT, device_code: code });
const answer = (access: string, way: 'show' | 'allow' | 'refuse', code: string, more: object = {}) =>
  world.request('POST', `/connect/${way}`, {
    token: access,
    body: { code, ...(way === 'allow' && { days: 90 }), ...more },
  });

describe('a device authorization', () => {
  test('hands over a token once its user has allowed it', async () => {
    const ana = await world.signUpUser();
    const asked = await start();
    expect(asked).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${world.config.publicUrl}/connect`,
      verification_uri_complete: `${world.config.publicUrl}/connect?user_code=${asked.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(await poll(asked.device_code)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
    expect(await poll(asked.device_code)).toMatchObject({ status: 400, body: { error: 'slow_down' } });
    const typed = asked.user_code.toLowerCase().replace('-', ' ');
    expect(ok(await answer(ana.access, 'show', typed))).toEqual({
      kind: 'device',
      name: 'hustle on laptop',
      scopes: ['append', 'read'],
      user_code: asked.user_code,
    });
    expect((await answer(ana.access, 'allow', typed, { time_zone: 'Europe/Vienna' })).status).toBe(204);
    const granted = ok(await poll(asked.device_code));
    expect(granted).toEqual({
      access_token: expect.stringMatching(/^hforge_/),
      token_type: 'bearer',
      scope: 'append read',
      expires_in: 90 * 86_400,
    });
    expect(await poll(asked.device_code)).toMatchObject({ status: 400, body: { error: 'expired_token' } });
    const response = await fetch(`${world.url}/functions/v1/append-item`, {
      method: 'POST',
      headers: { authorization: `Bearer ${granted.access_token}` },
      body: '{"text":"from a terminal"}',
    });
    expect(response.status).toBe(200);
    await world.waitForMailWith('A new access token', ana.email);
    const { tokens } = ok(await world.request('GET', '/tokens', { token: ana.access }));
    expect(tokens).toMatchObject([{ name: 'hustle on laptop', scopes: ['append', 'read'] }]);
  });

  test('takes JSON too', async () => {
    const body = { client_id: 'x', scope: 'append' };
    const asked = ok(await world.request('POST', '/device/authorize', { body }));
    const polled = await world.request('POST', '/device/token', {
      body: { grant_type: GRANT, device_code: asked.device_code },
    });
    expect(polled).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
  });

  test('that its owner ends while it is fetched gives no token, and fails nobody', async () => {
    const ana = await world.signUpUser();
    const asked = await start();
    expect((await answer(ana.access, 'allow', asked.user_code)).status).toBe(204);
    // As a new password does: the user first, then what waits for a token.
    const owner = await world.admin.connect();
    try {
      await owner.query('begin');
      await owner.query('select from auth.users where id = $1 for update', [ana.id]);
      const polled = poll(asked.device_code);
      await waitUntilBlocked(world.admin);
      await owner.query('delete from public.connect_requests where approved_by = $1', [ana.id]);
      await owner.query('commit');
      expect(await polled).toMatchObject({ body: { error: 'expired_token' } });
    } finally {
      owner.release();
    }
  });

  test('that is refused, expired or unknown gives no token', async () => {
    const ana = await world.signUpUser();
    const refused = await start();
    expect((await answer(ana.access, 'refuse', refused.user_code)).status).toBe(204);
    expect(await poll(refused.device_code)).toMatchObject({ body: { error: 'access_denied' } });
    expect((await answer(ana.access, 'allow', refused.user_code)).status).toBe(404);

    const late = await start();
    world.clock.advance(601_000);
    for (const way of ['show', 'allow', 'refuse'] as const)
      expect(await answer(ana.access, way, late.user_code)).toMatchObject({
        status: 404,
        body: { code: 'connect_request_not_found' },
      });
    expect(await poll(late.device_code)).toMatchObject({ body: { error: 'expired_token' } });
    expect(await poll('x')).toMatchObject({ body: { error: 'expired_token' } });
    expect(await form('/device/token', { grant_type: 'password', device_code: late.device_code })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
  });

  test('cannot be allowed by the program itself, by its device code, or twice', async () => {
    const [ana, ben] = [await world.signUpUser(), await world.signUpUser()];
    const asked = await start();
    expect((await world.request('POST', '/connect/allow', { body: { code: asked.user_code, days: 30 } })).status).toBe(
      401,
    );
    expect((await answer(ana.access, 'allow', asked.device_code)).status).toBe(404);
    expect((await answer(ana.access, 'allow', asked.user_code)).status).toBe(204);
    expect((await answer(ben.access, 'allow', asked.user_code)).status).toBe(404);
    const { access_token } = ok(await poll(asked.device_code));
    const response = await fetch(`${world.url}/functions/v1/read-days`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}` },
      body: '{"from":"2026-01-01"}',
    });
    expect(response.status).toBe(200);
    const owner = await world.admin.query('select user_id from access_tokens where name = $1 and user_id = any($2)', [
      'hustle on laptop',
      [ana.id, ben.id],
    ]);
    expect(owner.rows).toEqual([{ user_id: ana.id }]);
  });

  test('that waits ends when its user signs out everywhere', async () => {
    const ana = await world.signUpUser();
    const asked = await start();
    expect((await answer(ana.access, 'allow', asked.user_code)).status).toBe(204);
    expect((await world.request('POST', '/logout', { token: ana.access })).status).toBe(204);
    expect(await poll(asked.device_code)).toMatchObject({ body: { error: 'expired_token' } });
  });

  test.each([
    ['no name', { client_id: '\u202e' }],
    ['no scope', { scope: '' }],
    ['an unknown scope', { scope: 'append admin' }],
  ])('refuses %s', async (_, fields) => {
    expect((await form('/device/authorize', { client_id: 'x', scope: 'append', ...fields })).status).toBe(400);
  });

  test('shows the name as text that can be seen', async () => {
    const ana = await world.signUpUser();
    const asked = await start({ client_id: 'hustle\u202e\n\n <b>on</b>\u200b laptop' });
    expect(ok(await answer(ana.access, 'show', asked.user_code)).name).toBe('hustle <b>on</b> laptop');
  });
});
