/** Requests of users with second factors, and the codes of an authenticator app. */
import { totpCode } from '../../../support/totp-code.ts';
import { expect } from 'vitest';
import { PASSWORD, type AuthWorld, type WireBody } from '../fixture.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

type Person = Awaited<ReturnType<AuthWorld['signUpUser']>>;
type Totp = { id: string; secret: string };

export const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
export const errorOf = ({ status, body }: { status: number; body: WireBody }) => [status, body.code, body.message];
export const ok = ({ status, body }: { status: number; body: WireBody }): WireBody => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

export function createFactorClient(world: AuthWorld) {
  /** The code of an authenticator app at the server's time, `steps` of 30 seconds from now. */
  const codeOf = (secret: string, steps = 0): string => totpCode(secret, world.clock.now().getTime() + steps * 30_000);
  /** A code that is wrong in the current, the previous and the next time step, all of which the server accepts. */
  function wrongCodeOf(secret: string): string {
    const right = [-1, 0, 1].map((step) => codeOf(secret, step));
    return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code))!;
  }

  const post = (path: string, token: string, body?: unknown) => world.request('POST', path, { token, body });

  async function enrollApp(token: string, name = 'app'): Promise<Totp> {
    const body = ok(await post('/factors', token, { factor_type: 'totp', friendly_name: name }));
    return { id: body.id, secret: body.totp.secret };
  }
  const requestChallenge = async (token: string, id: string): Promise<string> =>
    ok(await post(`/factors/${id}/challenge`, token, {})).id;
  /** Passes the second step. Moves the clock by a time step first, because the server accepts one code per step. */
  async function passSecondStep(token: string, totp: Totp): Promise<WireBody> {
    world.clock.advance(30_000);
    const challenge_id = await requestChallenge(token, totp.id);
    return ok(await post(`/factors/${totp.id}/verify`, token, { challenge_id, code: codeOf(totp.secret) }));
  }
  const signIn = async (email: string): Promise<WireBody> =>
    ok(await world.request('POST', '/token?grant_type=password', { body: { email, password: PASSWORD } }));
  const renew = (refresh_token: string) =>
    world.request('POST', '/token?grant_type=refresh_token', { body: { refresh_token } });

  /** A person with a verified authenticator app, and the session that has passed the second step. */
  async function createProtectedPerson(): Promise<Person & { totp: Totp; session: WireBody }> {
    const person = await world.signUpUser();
    const totp = await enrollApp(person.access);
    return { ...person, totp, session: await passSecondStep(person.access, totp) };
  }

  return {
    codeOf,
    wrongCodeOf,
    post,
    enrollApp,
    requestChallenge,
    passSecondStep,
    signIn,
    renew,
    createProtectedPerson,
  };
}
