/**
 * A user's own sessions, the proof that the account asks for, the archive, and a deletion until it is due
 * (docs/specification/api.md 34, docs/specification/accounts.md 12).
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addDays, day, dayLabel, latestToday } from '#domain/day/day.ts';
import { formatContent } from '#domain/documents/wins-document.ts';
import { jsonEntriesOf, readJson } from '#domain/export/formats/json-format.ts';
import { PASSWORD, setUpAuthWorld, tokenHashIn, type WireBody } from '../auth/fixture.ts';
import { HOUR_MS, createAccountClient, type SignedUpUser } from './account-client.ts';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

const world = setUpAuthWorld();
const { signIn, remove, undo, status, readEntries, rows, eventsOf, dueAtOf, deleteDue } = createAccountClient(world);

describe('GET /sessions', () => {
  test("lists the user's own sessions with device and times, the current one first", async () => {
    const ana = await world.signUpUser();
    await world.signUpUser();
    world.clock.advance(60_000);
    const { body: second } = await signIn(ana.email, { 'User-Agent': CHROME });
    world.clock.advance(60_000);
    const { body, headers, status: code } = await world.request('GET', '/sessions', { token: ana.access });
    expect(code).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.sessions).toEqual([
      expect.objectContaining({ current: true, aal: 'aal1', device: 'An app' }),
      expect.objectContaining({ current: false, aal: 'aal1', device: 'Chrome on Windows' }),
    ]);
    const [first, other] = body.sessions;
    expect(Object.keys(other)).toEqual(['id', 'device', 'created_at', 'last_seen_at', 'current', 'aal']);
    expect(other.last_seen_at).toBe(other.created_at);
    expect(Date.parse(other.created_at) - Date.parse(first.created_at)).toBeGreaterThanOrEqual(60_000);

    const renewal = { body: { refresh_token: second.refresh_token } };
    const { body: renewed } = await world.request('POST', '/token?grant_type=refresh_token', renewal);
    const after = await world.request('GET', '/sessions', { token: renewed.access_token });
    expect(after.body.sessions[0]).toMatchObject({ id: other.id, current: true });
    expect(Date.parse(after.body.sessions[0].last_seen_at)).toBeGreaterThan(Date.parse(other.last_seen_at));
  });

  test('needs a session', async () => {
    expect(await world.request('GET', '/sessions')).toMatchObject({ status: 401, body: { code: 'no_authorization' } });
  });
});

describe('DELETE /sessions/{id}', () => {
  const listSessions = async (token: string): Promise<WireBody[]> =>
    (await world.request('GET', '/sessions', { token })).body.sessions;

  test('ends one session at once and leaves the others', async () => {
    const ana = await world.signUpUser();
    const { body: other } = await signIn(ana.email);
    const [, session] = await listSessions(ana.access);
    // Lets /rest/v1 cache that the session exists, which must not delay its end below.
    expect(await readEntries(other.access_token)).toBe(200);
    expect((await world.request('DELETE', `/sessions/${session.id}`, { token: ana.access })).status).toBe(204);
    expect(await readEntries(other.access_token)).toBe(401);
    expect(await status(other.access_token)).toBe(403);
    expect(await status(ana.access)).toBe(200);
    expect(await listSessions(ana.access)).toHaveLength(1);
    expect(await eventsOf(ana.id)).toContain('signed_out');
  });

  test("answers 404 for another user's session, an unknown one and a malformed id", async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    const [session] = await listSessions(ben.access);
    for (const id of [session.id, randomUUID(), 'x', "'"]) {
      expect(await world.request('DELETE', `/sessions/${id}`, { token: ana.access }), id).toMatchObject({
        status: 404,
        body: { code: 'not_found', message: 'There is no such session' },
      });
    }
    expect(await status(ben.access)).toBe(200);
  });

  test('logout with scope others ends all but the current session', async () => {
    const ana = await world.signUpUser();
    await Promise.all([signIn(ana.email), signIn(ana.email)]);
    expect((await world.request('POST', '/logout?scope=others', { token: ana.access })).status).toBe(204);
    expect(await listSessions(ana.access)).toMatchObject([{ current: true }]);
  });
});

describe('GET /account', () => {
  const proofOf = async (token: string): Promise<string> =>
    (await world.request('GET', '/account', { token })).body.required_proof;
  const setUser = (id: string, change: string) =>
    world.admin.query(`update auth.users set ${change} where id = $1`, [id]);
  const setAmr = (id: string, method: string, minutesAgo: number, aal = 'aal1') =>
    world.admin.query('update auth.sessions set amr = $2, aal = $3 where user_id = $1', [
      id,
      JSON.stringify([{ method, timestamp: Math.floor(world.clock.now().getTime() / 1000) - minutesAgo * 60 }]),
      aal,
    ]);

  test('tells whether the account has a password', async () => {
    const { id, access } = await world.signUpUser();
    const read = async () => (await world.request('GET', '/account', { token: access })).body;
    expect(await read()).toEqual({ required_proof: 'password', has_password: true, address_change: null });
    await setUser(id, 'password_hash = null');
    expect(await read()).toMatchObject({ has_password: false });
  });

  test('says what the user has to prove', async () => {
    const { id, access } = await world.signUpUser();
    expect(await proofOf(access)).toBe('password');
    await setAmr(id, 'totp', 9, 'aal2');
    expect(await proofOf(access)).toBe('none');
    await setAmr(id, 'totp', 11, 'aal2');
    expect(await proofOf(access)).toBe('password');
    await setUser(id, 'password_hash = null');
    expect(await proofOf(access)).toBe('code');
    await setAmr(id, 'oauth', 9);
    expect(await proofOf(access)).toBe('none');
    await setAmr(id, 'oauth', 11);
    await setUser(id, 'email_confirmed_at = null');
    expect(await proofOf(access)).toBe('sign_in');
    await setUser(id, 'is_anonymous = true');
    expect(await proofOf(access)).toBe('none');
  });

  test('asks for the second step of an account that has one, also with the password', async () => {
    const { id, access } = await world.signUpUser();
    await world.admin.query(
      `insert into auth.mfa_factors (user_id, factor_type, status) values ($1, 'totp', 'verified')`,
      [id],
    );
    expect(await proofOf(access)).toBe('second_step');
    expect(await remove(access)).toMatchObject({ status: 403, body: { code: 'insufficient_aal' } });
    await setAmr(id, 'totp', 0, 'aal2');
    expect(await remove(access, {})).toMatchObject({ status: 200 });
  });
});

describe('the archive', () => {
  const archive = (token: string, body: object = { password: PASSWORD }) =>
    fetch(`${world.url}/functions/v1/archive`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const write = (id: string, count: number) =>
    world.admin.query(
      `insert into entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
       select $1, date, '<p>log of ' || date || '</p>', 'Good.', 7, '2026-01-02T03:04:05.678901Z'
         from unnest($2::date[]) date`,
      [id, Array.from({ length: count }, (_, index) => addDays(latestToday(new Date()), -index * 9))],
    );

  test('has every log of a free user, locked ones too, in the format of the JSON export', async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    await Promise.all([write(ana.id, 60), write(ben.id, 3)]);
    const response = await archive(ana.access);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="hustle-forge-\d{4}-\d\d-\d\d\.json"$/,
    );
    const file = JSON.parse(await response.text());
    expect(file.format).toBe('hustle-forge/1');
    const entries = jsonEntriesOf(file)!;
    expect(entries).toHaveLength(60);
    const days = [...readJson(entries)];
    expect(days.every(({ kind }) => kind === 'day')).toBe(true);
    const oldest = addDays(latestToday(new Date()), -59 * 9);
    expect(entries[0]).toEqual({
      date: oldest,
      content: `<p>log of ${oldest}</p>`,
      hustleScore: 7,
      feedback: 'Good.',
      analyzedAt: '2026-01-02T03:04:05.678901+00:00',
    });
    expect(dayLabel(oldest)).toBeTruthy();
  });

  test('has the reviews, documents, time off and preferences of the user alone, in any number', async () => {
    const [ana, ben] = await Promise.all([world.signUpUser(), world.signUpUser()]);
    const content = formatContent({
      author: 'Ana',
      lines: [
        { kind: 'heading', id: 'h', text: 'Spring' },
        { kind: 'win', id: 'w', text: 'Shipped “it” <b>', date: day('2026-03-01'), source: '' },
      ],
    });
    for (const [id, count] of [
      [ana.id, 30],
      [ben.id, 1],
    ] as const) {
      await world.admin.query(
        `insert into reviews (user_id, period, period_from, period_to, text, created_at)
         select $1::uuid, '7-day', '2026-01-01', '2026-01-07', 'Review ' || n || ' of ' || $1::uuid, '2026-02-01' from generate_series(1, $2::int) n`,
        [id, count],
      );
      await world.admin.query(
        `insert into documents (user_id, title, first_day, last_day, content)
         select $1::uuid, 'Wins ' || n, '2026-01-01', '2026-06-30', $3 from generate_series(1, $2::int) n`,
        [id, count, content],
      );
      await world.admin.query(
        "insert into time_off (user_id, first_day, last_day) values ($1, '2026-08-01', '2026-08-14')",
        [id],
      );
    }
    await world.admin.query(
      "insert into preferences (user_id, time_zone, prompts) values ($1, 'Europe/Lisbon', true)",
      [ana.id],
    );
    const file = (await (await archive(ana.access)).json()) as Record<string, unknown[]>;
    const texts = file['reviews']!.map((review) => (review as { text: string }).text);
    expect(new Set(texts)).toEqual(
      new Set(Array.from({ length: 30 }, (_, index) => `Review ${index + 1} of ${ana.id}`)),
    );
    expect(texts).toHaveLength(30);
    expect(file['reviews']![0]).toMatchObject({ period: '7-day', from: '2026-01-01', to: '2026-01-07' });
    expect(file['documents']).toHaveLength(30);
    const { markdown } = file['documents']![0] as { markdown: string };
    expect(markdown).toContain('## Spring');
    expect(markdown).toContain('- Shipped “it”');
    expect(file['timeOff']).toEqual([{ from: '2026-08-01', to: '2026-08-14' }]);
    expect(file['preferences']).toMatchObject({ time_zone: 'Europe/Lisbon', prompts: true });
    expect(JSON.stringify(file)).not.toContain(ben.id);
  });

  test('counts as no use of the plan, and is in the audit log', async () => {
    const ana = await world.signUpUser();
    expect((await archive(ana.access)).status).toBe(200);
    expect(await rows('select kind from plan_uses where user_id = $1', [ana.id])).toEqual([]);
    expect(await eventsOf(ana.id)).toContain('archive_downloaded');
  });

  test('is empty, but a valid file, for a user without logs', async () => {
    const ana = await world.signUpUser();
    expect(jsonEntriesOf(await (await archive(ana.access)).json())).toEqual([]);
  });

  test('needs a proof of identity', async () => {
    const ana = await world.signUpUser();
    await write(ana.id, 1);
    const refused = async (body: object): Promise<unknown> => {
      const response = await archive(ana.access, body);
      return [response.status, await response.json()];
    };
    expect(await refused({})).toEqual([
      400,
      expect.objectContaining({ success: false, code: 'reauthentication_needed', error: expect.any(String) }),
    ]);
    expect(await refused({ password: 'wrong horse' })).toEqual([
      400,
      expect.objectContaining({ success: false, code: 'invalid_credentials' }),
    ]);
    expect(await refused({ password: 7, nonce: ['x'] })).toEqual([400, expect.anything()]);
    expect((await archive('x')).status).toBe(401);
  });

  test('takes a mailed code that the deletion can take afterwards', async () => {
    const ana = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [ana.id]);
    world.clock.advance(11 * 60_000);
    await world.request('GET', '/reauthenticate', { token: ana.access });
    const { code } = await world.waitForMail(ana.email);
    expect((await archive(ana.access, { nonce: code })).status).toBe(200);
    expect(await remove(ana.access, { nonce: code })).toMatchObject({ status: 200 });
  });
});

describe('DELETE /account', () => {
  test('marks the account, ends every session and mails a link to undo it', async () => {
    const ana = await world.signUpUser();
    const { body: other } = await signIn(ana.email);
    const { status: code, body } = await remove(ana.access);
    expect(code, JSON.stringify(body)).toBe(200);
    expect(Object.keys(body)).toEqual(['deletion_due_at', 'undo_token']);
    const dueIn = Date.parse(body.deletion_due_at) - world.clock.now().getTime();
    expect(Math.abs(dueIn - HOUR_MS)).toBeLessThan(5_000);
    expect(await dueAtOf(ana.id)).toEqual(new Date(body.deletion_due_at));
    expect([await status(ana.access), await status(other.access_token)]).toEqual([403, 403]);
    const renewal = { body: { refresh_token: ana.refresh } };
    expect((await world.request('POST', '/token?grant_type=refresh_token', renewal)).status).toBe(400);
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_requested');

    const mail = await world.waitForMail(ana.email);
    expect(mail.subject).toBe('Your account will be deleted in one hour');
    expect(mail.links[0]).toBe(`${world.config.publicUrl}/auth/v1/account/undo-deletion?token_hash=${body.undo_token}`);
  });

  test('refuses a wrong password, a missing proof and a body that is no object', async () => {
    const { id, access } = await world.signUpUser();
    expect(await remove(access, { password: 'wrong horse' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_credentials' },
    });
    expect(await remove(access, {})).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    expect(await remove(access, { nonce: '000000' })).toMatchObject({
      status: 422,
      body: { code: 'reauthentication_not_valid' },
    });
    const bad = await world.request('DELETE', '/account', { token: access, body: '[]' });
    expect(bad).toMatchObject({ status: 400, body: { code: 'bad_json' } });
    expect(await world.request('DELETE', '/account', { body: { password: PASSWORD } })).toMatchObject({ status: 401 });
    expect(await dueAtOf(id)).toBeNull();
    expect(await status(access)).toBe(200);
  });

  test('takes the code of a mail once, from an account without a password', async () => {
    const ana = await world.signUpUser();
    await world.admin.query('update auth.users set password_hash = null where id = $1', [ana.id]);
    world.clock.advance(11 * 60_000);
    expect(await remove(ana.access)).toMatchObject({ status: 400, body: { code: 'reauthentication_needed' } });
    await world.request('GET', '/reauthenticate', { token: ana.access });
    const { code } = await world.waitForMail(ana.email);
    const other = await world.signUpUser();
    expect(await remove(other.access, { nonce: code })).toMatchObject({ status: 422 });
    const answers = await Promise.all([remove(ana.access, { nonce: code }), remove(ana.access, { nonce: code })]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, expect.any(Number)]);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test('lets one of several concurrent requests through', async () => {
    const { email, access } = await world.signUpUser();
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(access)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const { status: code } of answers) expect([200, 403]).toContain(code);
    await world.waitForMail(email);
    expect(world.mailbox.messagesTo(email)).toHaveLength(1);
  });
});

describe('a requested deletion is undone', () => {
  const leaving = async (): Promise<SignedUpUser & { token: string }> => {
    const user = await world.signUpUser();
    const { body } = await remove(user.access);
    return { ...user, token: body.undo_token };
  };

  test('without links that were mailed before it', async () => {
    const ana = await world.signUpUser();
    await world.proveAddress(ana.email);
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const mail = await world.waitForMailWith('Reset your password', ana.email);
    const { body } = await remove(ana.access);
    expect((await undo({ token_hash: body.undo_token })).status).toBe(200);
    const link = { type: 'recovery', token_hash: tokenHashIn(mail) };
    expect((await world.request('POST', '/verify', { body: link })).body.code).toBe('otp_expired');
  });

  test('by the link once, without signing in', async () => {
    const ana = await leaving();
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 200, body: {} });
    expect(await dueAtOf(ana.id)).toBeNull();
    expect(await status(ana.access)).toBe(403);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403, body: { code: 'otp_expired' } });
    expect((await eventsOf(ana.id)).at(-1)).toBe('deletion_undone');
    await world.waitForMailWith('Your account will not be deleted', ana.email);
    world.clock.advance(2 * HOUR_MS);
    await deleteDue();
    expect((await signIn(ana.email)).status).toBe(200);
  });

  test('by the button of the page, which uses nothing up while it is only shown', async () => {
    const ana = await leaving();
    const path = `/account/undo-deletion?token_hash=${ana.token}`;
    for (const method of ['HEAD', 'GET', 'GET']) {
      expect((await world.request(method, path)).status).toBe(200);
    }
    expect(await dueAtOf(ana.id)).not.toBeNull();
    const page = await world.request('GET', path);
    expect(page.body).toContain(`value="${ana.token}"`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const press = () =>
      world.request('POST', path, {
        body: new URLSearchParams({ token_hash: ana.token }).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
    const done = await press();
    expect([done.status, done.body.includes('Your account stays')]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    const again = await press();
    expect([again.status, again.body.includes('This link no longer works')]).toEqual([403, true]);
  });

  test('by signing in, which says so once and voids the link', async () => {
    const ana = await leaving();
    const { status: code, body } = await signIn(ana.email);
    expect([code, body.deletion_undone]).toEqual([200, true]);
    expect(await dueAtOf(ana.id)).toBeNull();
    expect((await eventsOf(ana.id)).slice(-2).toSorted()).toEqual(['deletion_undone', 'signed_in']);
    await world.waitForMailWith('Your account will not be deleted', ana.email);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
    expect((await signIn(ana.email)).body).not.toHaveProperty('deletion_undone');
  });

  test('by the recovery of the password', async () => {
    const ana = await leaving();
    await world.request('POST', '/recover', { body: { email: ana.email } });
    const { code: token } = await world.waitForMailWith('Reset your password', ana.email);
    const { body } = await world.request('POST', '/verify', { body: { type: 'recovery', email: ana.email, token } });
    expect(body.deletion_undone).toBe(true);
    expect(await dueAtOf(ana.id)).toBeNull();
  });

  test('not by a foreign, an empty or an expired token, nor by the wrong password', async () => {
    const ana = await leaving();
    for (const token_hash of ['', 'x', `${ana.token}x`, ana.token.toUpperCase()]) {
      expect(await undo({ token_hash })).toMatchObject({ status: 403 });
    }
    expect(await world.request('POST', '/verify', { body: { type: 'recovery', token_hash: ana.token } })).toMatchObject(
      { status: 403 },
    );
    await world.request('POST', '/token?grant_type=password', { body: { email: ana.email, password: 'wrong horse' } });
    expect(await dueAtOf(ana.id)).not.toBeNull();
    world.clock.advance(HOUR_MS + 1_000);
    expect(await undo({ token_hash: ana.token })).toMatchObject({ status: 403 });
  });

  test('by one of two concurrent ways, and the account stays', async () => {
    const ana = await leaving();
    const [link, signedIn] = await Promise.all([undo({ token_hash: ana.token }), signIn(ana.email)]);
    expect([200, 403, 503]).toContain(link.status);
    expect(signedIn.status).toBe(200);
    expect(await dueAtOf(ana.id)).toBeNull();
    const undone = (await eventsOf(ana.id)).filter((event) => event === 'deletion_undone');
    expect(undone).toHaveLength(1);
  });
});
