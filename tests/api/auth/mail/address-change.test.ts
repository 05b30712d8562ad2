/** The change of an address with double confirmation (docs/specification/api.md 13). */
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, tokenHashIn, newAddress, startAuthWorld } from '../fixture.ts';

const world = setUpAuthWorld();

type Mail = { links: string[] };
const change = (token: string, email: string) => world.request('PUT', '/user', { token, body: { email } });
const confirm = (mail: Mail) =>
  world.request('POST', '/verify', { body: { type: 'email_change', token_hash: tokenHashIn(mail) } });
const resend = (email: string) => world.request('POST', '/resend', { body: { type: 'email_change', email } });
const addressOf = async (token: string) => (await world.request('GET', '/user', { token })).body.email;
const eventsOf = async (userId: string) => {
  const { rows } = await world.admin.query('select event from auth.audit_log where user_id = $1 order by id', [userId]);
  return rows.map(({ event }) => event);
};

test.each(['current first', 'new first'])('both addresses confirm, %s', async (order) => {
  const { email, access, id } = await world.signUpUser();
  const newEmail = newAddress();
  await change(access, newEmail);
  const mails = [await world.waitForMail(email), await world.waitForMail(newEmail)];
  if (order === 'new first') mails.reverse();
  const first = await confirm(mails[0]!);
  expect([first.status, first.body]).toEqual([
    200,
    { msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email', code: '200' },
  ]);
  expect(await addressOf(access)).toBe(email);
  expect((await confirm(mails[1]!)).body.user).toMatchObject({ id, email: newEmail });
  expect(await eventsOf(id)).toEqual([
    'signed_up',
    'signed_in',
    'address_change_requested',
    'address_changed',
    'signed_in',
  ]);
});

test('concurrent confirmations of both addresses give one session', async () => {
  const { email, access } = await world.signUpUser();
  const newEmail = newAddress();
  await change(access, newEmail);
  const mails = [await world.waitForMail(email), await world.waitForMail(newEmail)];
  const answers = await Promise.all([...mails, ...mails, ...mails].map(confirm));
  const bodies = answers.filter(({ status }) => status === 200).map(({ body }) => body);
  expect(bodies.filter((body) => 'msg' in body)).toHaveLength(1);
  expect(bodies.filter((body) => 'access_token' in body)).toHaveLength(1);
  expect(await addressOf(access)).toBe(newEmail);
});

test('a second confirmation by the same address changes nothing', async () => {
  const { email, access } = await world.signUpUser();
  await change(access, newAddress());
  const mail = await world.waitForMail(email);
  expect((await confirm(mail)).status).toBe(200);
  expect((await confirm(mail)).body.code).toBe('otp_expired');
  expect(await addressOf(access)).toBe(email);
});

test('a repeated mail keeps the confirmation of the other address, and every link that was mailed', async () => {
  const { email, access } = await world.signUpUser();
  const newEmail = newAddress();
  await change(access, newEmail);
  expect((await confirm(await world.waitForMail(email))).body.code).toBe('200');
  const early = await world.waitForMail(newEmail);
  expect((await world.client().auth.resend({ type: 'email_change', email })).error).toBeNull();
  const late = await world.waitForMail(newEmail, 2);
  expect(tokenHashIn(late)).not.toBe(tokenHashIn(early));
  expect(world.mailbox.messagesTo(email)).toHaveLength(1);
  expect((await confirm(early)).body.user.email).toBe(newEmail);
  expect((await confirm(late)).body.code).toBe('otp_expired');
});

test('resend repeats both mails once a confirmation is an hour old', async () => {
  const { email, access } = await world.signUpUser();
  const newEmail = newAddress();
  await change(access, newEmail);
  await confirm(await world.waitForMail(email));
  world.clock.advance(3_600_000);
  await resend(email);
  const mails = [await world.waitForMail(email, 2), await world.waitForMail(newEmail, 2)];
  expect((await confirm(mails[0]!)).body.code).toBe('200');
  expect((await confirm(mails[1]!)).body.user.email).toBe(newEmail);
});

test('a new request begins again: earlier links and confirmations end, wrong guesses still count', async () => {
  const { email, access, id } = await world.signUpUser();
  const newEmail = newAddress();
  await change(access, newEmail);
  const first = [await world.waitForMail(email), await world.waitForMail(newEmail)];
  await resend(email);
  const repeated = [await world.waitForMail(email, 2), await world.waitForMail(newEmail, 2)];
  expect((await confirm(first[0]!)).body.code).toBe('200');
  for (let guess = 0; guess < 3; guess += 1) {
    await world.request('POST', '/verify', { body: { type: 'email_change', email: newEmail, token: 'x' } });
  }
  await change(access, newEmail);
  const [toOld, toNew] = [await world.waitForMail(email, 3), await world.waitForMail(newEmail, 3)];
  for (const mail of [...first, ...repeated]) expect((await confirm(mail)).body.code).toBe('otp_expired');
  const { rows } = await world.admin.query(
    `select earlier_wrong_codes from auth.one_time_tokens where user_id = $1 and purpose = 'email_change_new'`,
    [id],
  );
  expect(rows).toEqual([{ earlier_wrong_codes: 3 }]);
  expect((await confirm(toNew)).body.code).toBe('200');
  expect((await confirm(toOld)).body.user.email).toBe(newEmail);
});

describe('a cancelled change', () => {
  const account = async (token: string) => (await world.request('GET', '/account', { token })).body.address_change;
  const cancel = (token: string) => world.request('DELETE', '/account/address-change', { token });

  test('ends the links, codes and confirmations of both addresses, and is logged once', async () => {
    const { email, access, id } = await world.signUpUser();
    const newEmail = newAddress();
    expect(await account(access)).toBeNull();
    await change(access, newEmail);
    expect(await account(access)).toEqual({ new_email: newEmail, unconfirmed: [email, newEmail] });
    const [toOld, toNew] = [await world.waitForMail(email), await world.waitForMail(newEmail)];
    await confirm(toOld);
    expect(await account(access)).toEqual({ new_email: newEmail, unconfirmed: [newEmail] });
    await resend(email);
    const repeated = await world.waitForMail(newEmail, 2);

    for (let count = 0; count < 2; count += 1) expect((await cancel(access)).status).toBe(204);
    expect(await account(access)).toBeNull();
    expect((await world.request('GET', '/user', { token: access })).body).toMatchObject({ email });
    expect((await world.request('GET', '/user', { token: access })).body.new_email).toBeUndefined();
    for (const mail of [toOld, toNew, repeated]) expect((await confirm(mail)).body.code).toBe('otp_expired');
    const body = { type: 'email_change', email: newEmail, token: repeated.code };
    expect((await world.request('POST', '/verify', { body })).body.code).toBe('otp_expired');
    expect(await addressOf(access)).toBe(email);
    expect((await eventsOf(id)).filter((event) => event.startsWith('address_change'))).toEqual([
      'address_change_requested',
      'address_change_cancelled',
    ]);
  });

  test('keeps the count of guesses at its codes, and can be followed by a change to another address', async () => {
    const { email, access, id } = await world.signUpUser();
    await change(access, newAddress());
    for (let guess = 0; guess < 3; guess += 1) {
      await world.request('POST', '/verify', { body: { type: 'email_change', email, token: 'x' } });
    }
    await cancel(access);
    const wanted = newAddress();
    await change(access, wanted);
    const { rows } = await world.admin.query(
      `select earlier_wrong_codes from auth.one_time_tokens where user_id = $1 and purpose = 'email_change_current'`,
      [id],
    );
    expect(rows).toEqual([{ earlier_wrong_codes: 3 }]);
    expect((await confirm(await world.waitForMail(wanted))).body.code).toBe('200');
    expect((await confirm(await world.waitForMail(email, 2))).body.user.email).toBe(wanted);
  });

  test('needs the second step of a user with a second factor, and leaves the changes of other users', async () => {
    const ana = await world.signUpUser();
    await change(ana.access, newAddress());
    expect((await cancel('')).status).toBe(401);
    expect((await cancel((await world.signUpUser()).access)).status).toBe(204);
    await world.admin.query(
      `insert into auth.mfa_factors (user_id, factor_type, status, friendly_name) values ($1, 'phone', 'verified', 'x')`,
      [ana.id],
    );
    const { status, body } = await cancel(ana.access);
    expect([status, body.code]).toEqual([401, 'insufficient_aal']);
    expect(await account(ana.access)).not.toBeNull();
  });
});

test('a pending change ends when the password changes', async () => {
  const { email, access } = await world.signUpUser();
  await change(access, newAddress());
  const mail = await world.waitForMail(email);
  await world.request('PUT', '/user', { token: access, body: { password: 'quite another' } });
  expect((await confirm(mail)).body.code).toBe('otp_expired');
  expect((await world.request('GET', '/user', { token: access })).body.new_email).toBeUndefined();
});

test('resend answers the same for a change, for none and for an unknown address', async () => {
  const { email, access } = await world.signUpUser();
  const { email: calm } = await world.signUpUser();
  await change(access, newAddress());
  for (const address of [email, calm, newAddress()]) {
    const { status, body } = await resend(address);
    expect([status, body]).toEqual([200, {}]);
  }
});

describe('an address that another account claims', () => {
  const signUpUnconfirmed = async (email: string) => {
    const { rows } = await world.admin.query(
      `insert into auth.users (email, password_hash, raw_app_meta_data, created_at, updated_at)
       values ($1, 'x', '{"provider":"email","providers":["email"]}', now(), now()) returning id`,
      [email],
    );
    const { id } = rows[0] as { id: string };
    await world.admin.query(
      `insert into auth.identities (user_id, provider, provider_id, identity_data) values ($1, 'email', $2, '{}')`,
      [id, id],
    );
    return id;
  };

  test('goes to the user who proves it if nobody confirmed it, and the empty account is deleted', async () => {
    const squatted = newAddress();
    const squatter = await signUpUnconfirmed(squatted);
    const { email, access, id } = await world.signUpUser();
    await change(access, squatted);
    const mail = await world.waitForMail(squatted);
    expect(mail.subject).toBe('Confirm your new email address');
    await confirm(mail);
    expect((await confirm(await world.waitForMail(email))).body.user).toMatchObject({ id, email: squatted });
    const { rows } = await world.admin.query(
      `select email, password_hash, deletion_due_at is not null as is_due,
              (select count(*)::int from auth.identities where user_id = users.id) as identities
         from auth.users where id = $1`,
      [squatter],
    );
    expect(rows).toEqual([{ email: null, password_hash: null, is_due: true, identities: 0 }]);
    const signIn = await world.request('POST', '/token?grant_type=password', {
      body: { email: squatted, password: PASSWORD },
    });
    expect(signIn.body.user.id).toBe(id);
  });

  test('stays with the account that has confirmed it', async () => {
    const owner = await world.signUpUser();
    const { email, access } = await world.signUpUser();
    await change(access, owner.email);
    expect((await confirm(await world.waitForMail(email))).body.code).toBe('200');
    expect((await world.waitForMail(owner.email)).links).toHaveLength(2);
    expect(await addressOf(access)).toBe(email);
  });

  test('stays with the account that confirms it while the change is pending', async () => {
    const wanted = newAddress();
    const { email, access } = await world.signUpUser();
    await change(access, wanted);
    await confirm(await world.waitForMail(email));
    const mail = await world.waitForMail(wanted);
    await world.signUpUser(wanted);
    const late = await confirm(mail);
    expect([late.status, late.body.code]).toEqual([422, 'email_exists']);
    expect(await addressOf(access)).toBe(email);
  });

  test('goes to one of two users who prove it at the same time', async () => {
    const wanted = newAddress();
    const users = [await world.signUpUser(), await world.signUpUser()];
    const mails = [];
    for (const { access } of users) await change(access, wanted);
    for (const { email } of users) expect((await confirm(await world.waitForMail(email))).body.code).toBe('200');
    await world.waitForMail(wanted, 2);
    mails.push(...world.mailbox.messagesTo(wanted).slice(0, 2));
    const answers = await Promise.all(mails.map(confirm));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });
});

test('an address gets three mails an hour from accounts that want it, and every request the same answer', async () => {
  const limited = await startAuthWorld({ AUTH_RATE_LIMITS: 'on', CLIENT_ADDRESS_HEADER: 'X-Real-Ip' });
  try {
    const victim = newAddress();
    for (let count = 1; count <= 12; count += 1) {
      const headers = { 'X-Real-Ip': `192.0.2.${count}` };
      const { body } = await limited.request('POST', '/signup', {
        body: { email: newAddress(), password: PASSWORD },
        headers,
      });
      const moved = await limited.request('PUT', '/user', {
        token: body.access_token,
        body: { email: victim },
        headers,
      });
      expect([moved.status, moved.body.new_email]).toEqual([200, victim]);
      await limited.waitForMail(body.user.email);
    }
    await limited.waitForMail(victim, 3);
    expect(limited.mailbox.messagesTo(victim)).toHaveLength(3);
    // Only mailed codes are stored. A guess is compared with all codes for the address, so more codes would help it.
    const countCodes = async () =>
      (
        await limited.admin.query(
          `select count(*) filter (where wrong_codes < 5)::int as live, count(*)::int as all
             from auth.one_time_tokens where address = $1`,
          [victim],
        )
      ).rows;
    // The server prepares the mails after its answers.
    await expect.poll(countCodes).toEqual([{ live: 3, all: 12 }]);
    // Links that let the owner in have a share of their own, so strangers cannot block them.
    await limited.request('POST', '/otp', { body: { email: victim }, headers: { 'X-Real-Ip': '192.0.2.99' } });
    expect((await limited.waitForMail(victim, 4)).subject).toBe('Sign in to your journal');
  } finally {
    await limited.close();
  }
});
