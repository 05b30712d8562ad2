/** The mails that one recipient gets in an hour, over all kinds (docs/specification/limits.md 2). */
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, newAddress, startAuthWorld, tokenHashIn, waitUntilPassing } from '../fixture.ts';

const settings = { AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' };
const world = setUpAuthWorld(settings);

let lastNetwork = 0;
/** A client address in a network that no other request uses. */
const newNetwork = () => {
  lastNetwork += 1;
  return { 'X-Real-Ip': `198.18.${Math.floor(lastNetwork / 250)}.${(lastNetwork % 250) + 1}` };
};
const post = (path: string, body: unknown, token?: string) =>
  world.request('POST', path, { body, headers: newNetwork(), ...(token !== undefined && { token }) });

const hashOf = (address: string): string => createHash('sha256').update(address).digest('base64url');
/** The mails to the address that were asked for, sent or not, by the share that they wanted. */
async function requestedMails(address: string): Promise<Record<string, number>> {
  const { rows } = await world.admin.query<{ share: string; points: number }>(
    `select split_part(key, ':', 1) as share, points from auth.rate_limits where key like 'mail-%:' || $1`,
    [hashOf(address)],
  );
  return Object.fromEntries(rows.map(({ share, points }) => [share, points]));
}
const subjectsTo = (address: string): string[] =>
  world.mailbox
    .messagesTo(address)
    .map(({ subject }) => subject)
    .toReversed();
/** Resolves once the address has got these mails, in any order, and each mail beyond them has been refused. */
const expectMails = (address: string, expected: Record<string, number>): Promise<void> =>
  waitUntilPassing(() => {
    const counts: Record<string, number> = {};
    for (const subject of subjectsTo(address)) counts[subject] = (counts[subject] ?? 0) + 1;
    expect(counts).toEqual(expected);
  });
const waitForRequests = (address: string, share: string, count: number): Promise<void> =>
  waitUntilPassing(async () => expect((await requestedMails(address))[share]).toBe(count));

const RECOVERY = 'Reset your password';
const SIGN_IN = 'Sign in to your journal';

/**
 * Repeats a request for a mail to the address once a minute, because each kind of mail leaves once a minute. Waits for
 * each: the server takes the time when it prepares the mail, after the response.
 */
async function repeat(count: number, email: string, request: () => Promise<{ status: number }>): Promise<void> {
  const before = (await requestedMails(email))['mail-open'] ?? 0;
  for (let done = 1; done <= count; done += 1) {
    world.clock.advance(60_000);
    expect((await request()).status).toBe(200);
    // Every mail asks for the open share first.
    await waitForRequests(email, 'mail-open', before + done);
  }
}
async function createOwner(): Promise<{ email: string; id: string; access: string }> {
  const email = newAddress();
  const { status, body } = await post('/signup', { email, password: PASSWORD });
  expect(status).toBe(200);
  await world.proveAddress(email);
  return { email, id: body.user.id, access: body.access_token };
}
const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' };

describe('a stranger', () => {
  test('has at most six links sent to an address in an hour, and each lets its owner in', async () => {
    const { email } = await createOwner();
    await repeat(5, email, () => post('/recover', { email }));
    await repeat(5, email, () => post('/otp', { email }));
    await expectMails(email, { [RECOVERY]: 5, [SIGN_IN]: 1 });
    const link = tokenHashIn(world.mailbox.messagesTo(email).find(({ subject }) => subject === RECOVERY)!);
    expect((await post('/verify', { type: 'recovery', token_hash: link })).status).toBe(200);
  });

  test('uses up no recovery with mails of other kinds and with links that need another browser', async () => {
    const { email } = await createOwner();
    await repeat(2, email, () => post('/recover', { email, ...challenge }));
    await repeat(2, email, () => post('/otp', { email, ...challenge }));
    await repeat(2, email, async () => {
      const { access } = await createOwner();
      return world.request('PUT', '/user', { token: access, body: { email }, headers: newNetwork() });
    });
    await expectMails(email, { [RECOVERY]: 2, [SIGN_IN]: 1 });
    await repeat(4, email, () => post('/recover', { email }));
    await expectMails(email, { [RECOVERY]: 5, [SIGN_IN]: 1 });
  });

  test('cannot keep a notice from its owner', async () => {
    const { email, access } = await createOwner();
    await repeat(8, email, () => post('/recover', { email }));
    await expectMails(email, { [RECOVERY]: 6 });
    const changed = await world.request('PUT', '/user', {
      token: access,
      body: { password: 'another horse battery' },
      headers: newNetwork(),
    });
    expect(changed.status).toBe(200);
    await expectMails(email, { [RECOVERY]: 6, 'Your password was changed': 1 });
  });

  test.each([
    ['after a plus sign', 'example.com', (name: string, index: number) => `${name}+${index}@example.com`],
    [
      'in their dots, at Gmail',
      'gmail.com',
      (name: string, index: number) =>
        `${name.slice(0, index + 1)}.${name.slice(index + 1)}@${index % 2 === 0 ? 'gmail' : 'googlemail'}.com`,
    ],
  ])('has ten mails sent to all unproven addresses of a mailbox that differ %s', async (_, domain, vary) => {
    const [name] = newAddress().split('@') as [string];
    const addresses = Array.from({ length: 12 }, (_each, index) => vary(name, index));
    for (const email of addresses) {
      expect((await post('/otp', { email })).status).toBe(200);
    }
    await waitUntilPassing(async () => {
      const { rows } = await world.admin.query(`select points from auth.rate_limits where key = 'mailbox:' || $1`, [
        hashOf(`${name}@${domain}`),
      ]);
      expect(rows).toEqual([{ points: 12 }]);
    });
    await waitUntilPassing(() => expect(addresses.flatMap(subjectsTo)).toHaveLength(10));
  });
});

describe('a session', () => {
  const changePassword = (token: string) =>
    world.request('PUT', '/user', {
      token,
      body: { password: `another horse ${randomUUID()}` },
      headers: newNetwork(),
    });

  test('sends six notices an hour, of which the last says so, and cannot delete the account without a mail', async () => {
    const { email, access } = await createOwner();
    for (let count = 0; count < 9; count += 1) expect((await changePassword(access)).status).toBe(200);
    await waitForRequests(email, 'mail-notice', 6);
    await expectMails(email, { 'Your password was changed': 6 });
    const texts = world.mailbox.messagesTo(email).map(({ text }) => text);
    expect(texts.filter((text) => text.includes('This is the last notice'))).toHaveLength(1);

    const remove = async (token: string, password: string) =>
      world.request('DELETE', '/account', { token, body: { password }, headers: newNetwork() });
    const password = 'a staple of my own';
    expect(
      (await world.request('PUT', '/user', { token: access, body: { password }, headers: newNetwork() })).status,
    ).toBe(200);
    expect((await remove(access, password)).status).toBe(200);
    await expectMails(email, { 'Your password was changed': 6, 'Your account will be deleted in one hour': 1 });

    const again = await post('/token?grant_type=password', { email, password });
    expect(again.status).toBe(200);
    const refused = await remove(again.body.access_token, password);
    expect([refused.status, refused.body.code]).toEqual([429, 'over_email_send_rate_limit']);
    // The recovery of the owner is not affected.
    await repeat(1, email, () => post('/recover', { email }));
    await waitUntilPassing(() => expect(subjectsTo(email)).toContain(RECOVERY));
  });
});

test('an address that is not confirmed yet gets six confirmations an hour', async () => {
  const unconfirmed = await startAuthWorld({ ...settings, AUTH_AUTOCONFIRM: 'off' });
  try {
    const email = newAddress();
    const send = (path: string, body: object) =>
      unconfirmed.request('POST', path, { body: { email, ...body }, headers: newNetwork() });
    await send('/signup', { password: PASSWORD });
    const countRequests = async () => {
      const { rows } = await unconfirmed.admin.query<{ points: number }>(
        `select points from auth.rate_limits where key = 'mail-open:' || $1`,
        [hashOf(email)],
      );
      return rows[0]?.points;
    };
    for (let count = 1; count <= 9; count += 1) {
      await waitUntilPassing(async () => expect(await countRequests()).toBe(count));
      unconfirmed.clock.advance(60_000);
      await send('/resend', { type: 'signup' });
    }
    await waitUntilPassing(async () => expect(await countRequests()).toBe(10));
    await waitUntilPassing(() => expect(unconfirmed.mailbox.messagesTo(email)).toHaveLength(6));
  } finally {
    await unconfirmed.close();
  }
});
