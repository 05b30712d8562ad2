/** Published clients of other languages against the server. `npm run test:clients` installs them and sets TEST_CLIENTS. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { newAddress, PASSWORD, setUpAuthWorld } from '../api/auth/fixture.ts';
import { today } from '../api/data/fixture.ts';

const commands = new Map(Object.entries(JSON.parse(process.env['TEST_CLIENTS'] ?? '{}') as Record<string, string[]>));
const world = setUpAuthWorld();

// oxlint-disable-next-line typescript/no-explicit-any -- each client prints other facts; its test asserts them
type Facts = any;

async function runClient(language: string): Promise<{ email: string; facts: Facts }> {
  const [program = '', ...args] = commands.get(language)!;
  const email = newAddress();
  const env = {
    ...process.env,
    CLIENT_URL: world.url,
    CLIENT_KEY: world.config.publishableKey,
    CLIENT_SERVICE_TOKEN: await world.serviceToken(),
    CLIENT_DATE: today(),
    CLIENT_EMAIL: email,
    CLIENT_PASSWORD: PASSWORD,
  };
  const { stdout } = await promisify(execFile)(program, args, { env });
  return { email, facts: JSON.parse(stdout) };
}

/** Every client signs up as Ada, signs in, renews its session and takes the name Grace. */
function expectSessions({ email, facts }: { email: string; facts: Facts }): void {
  for (const name of ['signed_up', 'signed_in', 'refreshed']) {
    const session = facts[name];
    expect(session, name).toMatchObject({ email, name: 'Ada', refresh_token: expect.any(String) });
    expect(session.expires_at, name).toBe(decodeJwt(session.access_token).exp);
  }
  expect(facts.refreshed.refresh_token).not.toBe(facts.signed_in.refresh_token);
  expect(facts.user).toBe('Grace');
}

describe.runIf(commands.has('Python'))('the client for Python', () => {
  test('signs in, saves and reads a log, and administrates', async () => {
    const { email, facts } = await runClient('Python');
    expectSessions({ email, facts });
    expect(facts.log).toEqual({ text: 'Shipped from Python', count: 1, left: 0 });
    expect(facts.refused).toEqual({ code: 'invalid_credentials', message: 'Invalid login credentials', status: 400 });
    expect(facts.administration).toEqual({
      team: 'red',
      read: `invited-${email}`,
      linked: { name: 'Lin' },
      linked_at: true,
      verification_type: 'signup',
      invited: { name: 'Ina' },
      listed: [email, ...['created', 'invited', 'linked'].map((kind) => `${kind}-${email}`)].toSorted(),
      redeemed: `linked-${email}`,
    });
    expect(facts.after_sign_out).toBe(true);
  });
});

describe.runIf(commands.has('Go'))('the client for Go', () => {
  test('signs in, saves and reads a log, and administrates', async () => {
    const { email, facts } = await runClient('Go');
    expectSessions({ email, facts });
    expect(facts.log).toEqual({ text: 'Changed from Go', count: 1 });
    expect(facts.refused).toContain('400: {"code":400,"error_code":"invalid_credentials"');
    expect(facts).toMatchObject({ health: 'GoTrue', disable_signup: false });
    expect(facts.administration).toEqual({
      changed: { full_name: 'Cleo', email_verified: true, team: 'red' },
      linked: { name: 'Lin' },
      linked_at: true,
      invited: { name: 'Ina' },
      invited_at: true,
      listed: 4,
      factor: 'Old app',
      audit_id: expect.stringMatching(/^00000000-0000-8000-8000-/),
      audit_actions: 'factor_in_progress',
      audit_actor: 'Cleo',
      audit_pages: 2,
      audit_next: 2,
      audit_total: 2,
    });
    expect(facts.after_sign_out).toContain('session_not_found');
  });
});

describe.runIf(commands.has('Rust'))('the client for Rust', () => {
  test('signs in, saves and reads a log, and invites', async () => {
    const { email, facts } = await runClient('Rust');
    expectSessions({ email, facts });
    expect(facts.log).toEqual({ rows: [{ content_text: 'Changed from Rust' }], range: '0-0/1' });
    expect(facts.refused).toContain('Invalid login credentials');
    expect(facts).toMatchObject({
      invited: { name: 'Ina' },
      invited_at: true,
      health: 'GoTrue',
      disable_signup: false,
    });
    expect(facts.after_sign_out).toContain('Session from session_id claim in JWT does not exist');
  });
});
