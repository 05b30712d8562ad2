/** Renewing a session: rotation, concurrent tabs, lost responses and stolen tokens (docs/specification/api.md 10). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { waitUntilBlocked } from './block-request.ts';
import { setUpAuthWorld, newAddress, PASSWORD, SESSION_FIELDS } from './fixture.ts';

const world = setUpAuthWorld();

const HOUR = 3_600_000;

const renew = (token: string) =>
  world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token: token } });
const renewToken = async (token: string): Promise<string> => {
  const { status, body } = await renew(token);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.refresh_token;
};
const isAlive = async (token: string): Promise<boolean> =>
  (await world.request('GET', '/user', { token })).status === 200;
const generations = async (userId: string): Promise<number> => {
  const { rows } = await world.admin.query(
    'select max(generation) as highest from auth.refresh_tokens t join auth.sessions s on s.id = t.session_id where s.user_id = $1',
    [userId],
  );
  return rows[0].highest;
};

const amrOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).amr;

describe('a renewal', () => {
  test('returns a complete session with a new refresh token', async () => {
    const { refresh, email, access } = await world.signUpUser();
    const { status, body } = await renew(refresh);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(SESSION_FIELDS);
    expect(body.user.email).toBe(email);
    expect(body.refresh_token).not.toBe(refresh);
    expect(amrOf(body.access_token)).toEqual(amrOf(access));
  });

  test('works through the real client', async () => {
    const client = world.client();
    await client.auth.signUp({ email: newAddress(), password: PASSWORD });
    const before = (await client.auth.getSession()).data.session!;
    const { data, error } = await client.auth.refreshSession();
    expect(error).toBeNull();
    expect(data.session?.refresh_token).not.toBe(before.refresh_token);
    expect((await client.auth.getUser()).error).toBeNull();
  });

  test('can be repeated as long as the session exists', async () => {
    let { refresh } = await world.signUpUser();
    for (let round = 0; round < 5; round += 1) {
      world.clock.advance(3_600_000);
      refresh = await renewToken(refresh);
    }
    expect((await renew(refresh)).status).toBe(200);
  });
});

describe('a used token', () => {
  test('returns the active token again within two days of a lost response, any number of times', async () => {
    const { refresh, id } = await world.signUpUser();
    const lost = await renewToken(refresh);
    world.clock.advance(47 * HOUR);
    expect(await renewToken(refresh)).toBe(lost);
    expect(await renewToken(refresh)).toBe(lost);
    expect(await generations(id)).toBe(2);
    await renewToken(await renewToken(lost));
  });

  test('ends the session when its replacement is two days old', async () => {
    const { refresh } = await world.signUpUser();
    const active = await renewToken(refresh);
    world.clock.advance(48 * HOUR);
    expect((await renew(refresh)).body.code).toBe('refresh_token_already_used');
    expect((await renew(active)).body.code).toBe('refresh_token_not_found');
  });

  test('ends the session of an owner and a thief who alternate', async () => {
    const { refresh } = await world.signUpUser();
    let [owner, thief] = [await renewToken(refresh), refresh];
    const codes: (string | undefined)[] = [];
    for (let round = 0; round < 4; round += 1) {
      world.clock.advance(HOUR / 2);
      const { body } = await renew(thief);
      codes.push(body.code);
      thief = body.refresh_token ?? thief;
      [owner, thief] = [thief, owner];
    }
    expect(codes).toContain('refresh_token_already_used');
    expect((await renew(owner)).body.code).toBe('refresh_token_not_found');
    expect((await renew(thief)).body.code).toBe('refresh_token_not_found');
  });

  test('presented by twenty concurrent tabs returns the same token to all of them', async () => {
    const { refresh, id } = await world.signUpUser();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => renewToken(refresh)));
    expect(new Set(tokens).size).toBe(1);
    expect(await generations(id)).toBe(2);
    expect(await renewToken(tokens[0]!)).not.toBe(tokens[0]);
  });

  test('of two generations ago returns the active token within ten seconds', async () => {
    const { refresh, id } = await world.signUpUser();
    const active = await renewToken(await renewToken(await renewToken(refresh)));
    world.clock.advance(9_000);
    expect(await renewToken(refresh)).toBe(active);
    expect(await generations(id)).toBe(4);
  });

  test('of two generations ago ends the session after ten seconds, including its access token', async () => {
    const { refresh, access } = await world.signUpUser();
    const active = await renewToken(await renewToken(refresh));
    world.clock.advance(10_000);
    const { status, body } = await renew(refresh);
    expect(status).toBe(400);
    expect(body).toEqual({ code: 'refresh_token_already_used', message: 'Invalid Refresh Token: Already Used' });
    expect((await renew(active)).body.code).toBe('refresh_token_not_found');
    expect(await isAlive(access)).toBe(false);
  });

  test('ends only its own session', async () => {
    const { email, refresh } = await world.signUpUser();
    const other = await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } });
    await renewToken(await renewToken(refresh));
    world.clock.advance(10_000);
    await renew(refresh);
    expect(await isAlive(other.body.access_token)).toBe(true);
  });
});

describe('any sequence of tokens', () => {
  type Step = { age: number } | { wait: true };
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ age: fc.constantFrom(0, 0, 0, 1, 2, 3) }) },
      { weight: 1, arbitrary: fc.constant({ wait: true } as const) },
    ),
    { maxLength: 12 },
  );

  test('matches the model', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (walk: Step[]) => {
        // The model: every token so far, oldest first, and when each was replaced, in minutes of the test clock.
        const tokens = [(await world.signUpUser()).refresh];
        const replacedAt: number[] = [];
        const reissued = new Set<number>();
        let [minute, hasEnded] = [0, false];
        for (const step of walk) {
          if ('wait' in step) {
            world.clock.advance(60_000);
            minute += 1;
            continue;
          }
          const active = tokens.length - 1;
          const presented = Math.max(0, active - step.age);
          const { status, body } = await renew(tokens[presented]!);
          if (hasEnded) expect(body.code).toBe('refresh_token_not_found');
          else if (presented === active) {
            expect(tokens).not.toContain(body.refresh_token);
            tokens.push(body.refresh_token);
            replacedAt.push(minute);
          } else if (replacedAt[presented] === minute) {
            expect([status, body.refresh_token]).toEqual([200, tokens[active]]);
          } else if (presented === active - 1 && !reissued.has(presented)) {
            expect([status, body.refresh_token]).toEqual([200, tokens[active]]);
            reissued.add(active);
          } else {
            expect(body.code).toBe('refresh_token_already_used');
            hasEnded = true;
          }
        }
      }),
      { numRuns: fuzzBudget(30) },
    );
  });
});

describe('an invalid token', () => {
  test.each([
    ['missing', {}, 'validation_failed', 'Refresh token is not valid'],
    ['null', { refresh_token: null }, 'validation_failed', 'Refresh token is not valid'],
    ['malformed', { refresh_token: 'no/such token' }, 'validation_failed', 'Refresh token is not valid'],
    [
      'unknown',
      { refresh_token: 'a'.repeat(43) },
      'refresh_token_not_found',
      'Invalid Refresh Token: Refresh Token Not Found',
    ],
    [
      'a number',
      { refresh_token: 5 },
      'bad_json',
      'Could not parse request body as JSON: refresh_token must be a string',
    ],
  ])('is rejected: %s', async (_name, body, code, message) => {
    const response = await world.request('POST', '/token?grant_type=refresh_token', { body });
    expect([response.status, response.body]).toEqual([400, { code, message }]);
  });

  test('that waits for a second step of its session does not get the raised session', async () => {
    const { refresh, id } = await world.signUpUser();
    const other = await world.admin.connect();
    try {
      await other.query('begin');
      const { rows } = await other.query('select id from auth.sessions where user_id = $1 for update', [id]);
      const session = [rows[0].id];
      await other.query('delete from auth.refresh_tokens where session_id = $1', session);
      await other.query(
        "insert into auth.refresh_tokens (session_id, generation, token_hash, salt) values ($1, 2, sha256('x'), '')",
        session,
      );
      await other.query("update auth.sessions set aal = 'aal2' where id = $1", session);
      const waiting = renew(refresh);
      await waitUntilBlocked(world.admin);
      await other.query('commit');
      expect((await waiting).body.code).toBe('refresh_token_not_found');
    } finally {
      other.release();
    }
    expect(await generations(id)).toBe(2);
  });

  test('is rejected for a banned user', async () => {
    const { refresh, id } = await world.signUpUser();
    await world.admin.query(`update auth.users set banned_until = now() + interval '1 year' where id = $1`, [id]);
    expect((await renew(refresh)).body).toEqual({ code: 'user_banned', message: 'Invalid Refresh Token: User Banned' });
    expect(await generations(id), 'the token still works after the ban').toBe(1);
  });
});
