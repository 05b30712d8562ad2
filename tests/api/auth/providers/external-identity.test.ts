/** Which account an identity of a provider opens: the linking rules and the defences against account takeover. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAccount, getAccount, updateUser } from '#server/auth/accounts/accounts.ts';
import {
  signInWithIdentity,
  type IdentityOutcome,
  type IdentitySignIn,
  type ExternalIdentity,
} from '#server/auth/providers/external-identity.ts';
import { startSession } from '#server/auth/sessions/sessions.ts';
import { setUpTestDatabase } from '../../../support/set-up.ts';
import { newAddress } from '../fixture.ts';

const db = setUpTestDatabase();

const NOW = new Date('2026-11-22T12:00:00Z');
const DEVICE = { ip: '192.0.2.1', userAgent: 'test' };
const POLICY = { signups: true, autoconfirm: false };

const newIdentity = (email: string | null, overrides: Partial<ExternalIdentity> = {}): ExternalIdentity => {
  const sub = randomUUID();
  return {
    provider: 'google',
    providerId: sub,
    email,
    emailVerified: email !== null,
    data: { sub, email, full_name: 'Ana' },
    ...overrides,
  };
};

const signIn = (identity: ExternalIdentity, options: Partial<IdentitySignIn> = {}): Promise<IdentityOutcome> =>
  db.database.transactAsService('test', (transaction) =>
    signInWithIdentity(transaction, { identity, policy: POLICY, device: DEVICE, now: NOW, ...options }),
  );

const service = () => db.database.asService('test');
const accountOf = (id: string) => getAccount(service(), id);

const passwordAccount = async (email: string, confirmed: boolean) => {
  const account = await createAccount(service(), {
    email,
    passwordHash: '$argon2id$stranger',
    data: { full_name: 'Stranger' },
    confirmed,
    now: NOW,
  });
  if (confirmed) await updateUser(service(), account.user.id, { email_proven_at: NOW });
  return account.user.id;
};

async function signedIn(identity: ExternalIdentity, options: Partial<IdentitySignIn> = {}) {
  const result = await signIn(identity, options);
  if (result.outcome !== 'signed_in') throw new Error(`not signed in: ${result.outcome}`);
  return result;
}

const auditEvents = async (userId: string): Promise<string[]> => {
  const { rows } = await db.admin.query('select event from auth.audit_log where user_id = $1 order by id', [userId]);
  return rows.map((row: { event: string }) => row.event);
};

test('a verified address without an account creates a confirmed account without a password', async () => {
  const identity = newIdentity(newAddress());
  const { userId, change } = await signedIn(identity);
  expect(change).toBe('created');
  const { user, identities } = await accountOf(userId);
  expect(user).toMatchObject({ email: identity.email, email_confirmed_at: NOW, password_hash: null });
  expect(user.raw_app_meta_data).toEqual({ provider: 'google', providers: ['google'] });
  expect(user.raw_user_meta_data).toEqual(identity.data);
  expect(identities).toMatchObject([{ provider: 'google', provider_id: identity.providerId }]);
  expect(await auditEvents(userId)).toEqual(['signed_up']);
});

test('a known identity opens its account, whatever address the provider gives later', async () => {
  const identity = newIdentity(newAddress());
  const { userId } = await signedIn(identity);
  const taken = newAddress();
  await passwordAccount(taken, true);
  for (const later of [
    { ...identity, email: taken },
    { ...identity, email: null, emailVerified: false, data: { sub: identity.providerId, name: 'Ana B.' } },
  ]) {
    expect(await signedIn(later, { policy: { ...POLICY, signups: false } })).toEqual({
      outcome: 'signed_in',
      userId,
      change: 'none',
    });
  }
  const { user, identities } = await accountOf(userId);
  expect(user.email).toBe(identity.email);
  expect(identities[0]!.identity_data).toEqual({ sub: identity.providerId, name: 'Ana B.' });
});

test('a verified address joins the confirmed account, which keeps its password and its own metadata', async () => {
  const email = newAddress();
  const id = await passwordAccount(email, true);
  expect(await signedIn(newIdentity(email))).toEqual({ outcome: 'signed_in', userId: id, change: 'linked' });
  const { user, identities } = await accountOf(id);
  expect(user.password_hash).toBe('$argon2id$stranger');
  expect(user.raw_user_meta_data).toMatchObject({ full_name: 'Stranger', sub: id });
  expect(user.raw_app_meta_data).toEqual({ provider: 'email', providers: ['email', 'google'] });
  expect(identities).toHaveLength(2);
  expect(await auditEvents(id)).toEqual(['identity_linked']);
});

test.each([
  ['confirmed', true],
  ['unconfirmed', false],
])('an unverified address never joins the %s account that has it', async (_, confirmed) => {
  const email = newAddress();
  const id = await passwordAccount(email, confirmed);
  for (const autoconfirm of [true, false]) {
    const policy = { signups: true, autoconfirm };
    const result = await signIn(newIdentity(email, { emailVerified: false }), { policy });
    expect(result).toMatchObject({ outcome: 'address_taken', owner: { id } });
  }
  const closed = { policy: { signups: false, autoconfirm: false } };
  expect(await signIn(newIdentity(email, { emailVerified: false }), closed)).toEqual({ outcome: 'signup_disabled' });
  expect((await accountOf(id)).identities).toHaveLength(1);
});

test('an unverified address waits for its confirmation, also at the second sign-in', async () => {
  const identity = newIdentity(newAddress(), { emailVerified: false });
  const first = await signIn(identity);
  expect(first).toMatchObject({ outcome: 'needs_verification', user: { email: identity.email } });
  expect(await signIn(identity)).toMatchObject(first);
  const verified = await signedIn({ ...identity, emailVerified: true });
  expect(verified.change).toBe('claimed');
});

test('an unverified address is accepted with autoconfirm, as the address of a sign-up is', async () => {
  const identity = newIdentity(newAddress(), { emailVerified: false });
  const { change } = await signedIn(identity, { policy: { signups: true, autoconfirm: true } });
  expect(change).toBe('created');
});

test('a proven owner takes over an unconfirmed account without anything that a stranger left in it', async () => {
  const email = newAddress();
  const id = await passwordAccount(email, false);
  await service().statement(
    `with identity as (insert into auth.identities (user_id, provider, provider_id, identity_data)
       values ($1::uuid, 'github', 'stranger-' || $2::text, '{}')),
     factor as (insert into auth.mfa_factors (user_id, factor_type, status) values ($1::uuid, 'totp', 'verified')),
     session as (insert into auth.sessions (user_id) values ($1::uuid)),
     token as (insert into auth.one_time_tokens (user_id, purpose, address, code_hash, expires_at)
       values ($1::uuid, 'signup', $2::text, sha256('1'), now() + interval '1 hour'))
     update auth.users set phone = $3::text, new_email = 'stranger@example.com' where id = $1::uuid`,
    [id, email, randomUUID()],
  );
  const identity = newIdentity(email);
  expect(await signedIn(identity)).toMatchObject({ outcome: 'signed_in', userId: id, change: 'claimed' });
  const { user, identities, factors } = await accountOf(id);
  expect(user).toMatchObject({ password_hash: null, phone: null, new_email: null, email_confirmed_at: NOW });
  expect(user.raw_user_meta_data).toEqual(identity.data);
  expect(user.raw_app_meta_data).toEqual({ provider: 'google', providers: ['google'] });
  expect(identities.map((row) => row.provider)).toEqual(['google']);
  expect(factors).toEqual([]);
  for (const table of ['sessions', 'one_time_tokens']) {
    const { rows } = await db.admin.query(`select from auth.${table} where user_id = $1`, [id]);
    expect(rows, table).toEqual([]);
  }
});

test('an account in use by phone loses an address that it never confirmed, and nothing else', async () => {
  const email = newAddress();
  const id = await passwordAccount(email, false);
  await service().statement('update auth.users set phone = $2, phone_confirmed_at = $3 where id = $1', [
    id,
    randomUUID(),
    NOW,
  ]);
  const { userId, change } = await signedIn(newIdentity(email));
  expect(change).toBe('created');
  expect(userId).not.toBe(id);
  const { user, identities } = await accountOf(id);
  expect(user).toMatchObject({ email: null, phone_confirmed_at: NOW, password_hash: '$argon2id$stranger' });
  expect(identities).toEqual([]);
});

test('proof of another address does not confirm the unverified address of the first sign-in', async () => {
  const victim = newAddress();
  const identity = newIdentity(victim, { emailVerified: false });
  await signIn(identity);
  const own = newAddress();
  const { userId, change } = await signedIn({ ...identity, email: own, emailVerified: true });
  expect(change).toBe('created');
  expect((await accountOf(userId)).user.email).toBe(own);
  const { rows } = await db.admin.query('select from auth.users where email = $1', [victim]);
  expect(rows).toEqual([]);
});

test('a banned account opens by no identity', async () => {
  const identity = newIdentity(newAddress());
  const { userId } = await signedIn(identity);
  await service().statement("update auth.users set banned_until = '2030-01-01' where id = $1", [userId]);
  expect(await signIn(identity)).toEqual({ outcome: 'banned' });
  expect(await signIn(newIdentity(identity.email, { provider: 'github' }))).toEqual({ outcome: 'banned' });
  expect(await signIn(newIdentity(null), { linkingUserId: userId })).toEqual({ outcome: 'banned' });
});

test('no account is created while sign-ups are closed', async () => {
  expect(await signIn(newIdentity(newAddress()), { policy: { signups: false, autoconfirm: true } })).toEqual({
    outcome: 'signup_disabled',
  });
});

test('an identity without an address, such as a wallet, has an account of its own', async () => {
  const wallet = newIdentity(null, { provider: 'web3' });
  const first = await signedIn(wallet);
  expect(first.change).toBe('created');
  expect(await signedIn(wallet)).toEqual({ ...first, change: 'none' });
});

test('a SAML account shares no address with other accounts', async () => {
  const email = newAddress();
  const local = await passwordAccount(email, true);
  const sso = newIdentity(email, { provider: 'sso:1' });
  const { userId, change } = await signedIn(sso, { isSso: true });
  expect(change).toBe('created');
  expect(userId).not.toBe(local);
  expect((await accountOf(userId)).user).toMatchObject({ email, is_sso_user: true, email_confirmed_at: NOW });
  expect((await signedIn(newIdentity(email))).userId).toBe(local);
});

test('a signed-in user links an identity of any address, once', async () => {
  const id = await passwordAccount(newAddress(), true);
  const identity = newIdentity(newAddress(), { emailVerified: false });
  expect(await signIn(identity, { linkingUserId: id })).toEqual({ outcome: 'linked', userId: id });
  expect(await signIn(identity, { linkingUserId: id })).toEqual({ outcome: 'identity_already_exists', isOwn: true });
  const other = await passwordAccount(newAddress(), true);
  expect(await signIn(identity, { linkingUserId: other })).toEqual({
    outcome: 'identity_already_exists',
    isOwn: false,
  });
  expect(await signIn(newIdentity(null), { linkingUserId: randomUUID() })).toEqual({ outcome: 'user_not_found' });
  const { user } = await accountOf(id);
  expect(user.email).not.toBe(identity.email);
  expect(user.raw_app_meta_data['providers']).toEqual(['email', 'google']);
});

test('an anonymous account becomes permanent by a link and adopts a verified address that is free', async () => {
  const anonymous = async () => {
    const { rows } = await db.admin.query('insert into auth.users (is_anonymous) values (true) returning id');
    return String(rows[0].id);
  };
  const id = await anonymous();
  const identity = newIdentity(newAddress());
  expect(await signIn(identity, { linkingUserId: id })).toEqual({ outcome: 'linked', userId: id });
  const { user } = await accountOf(id);
  expect(user).toMatchObject({ email: identity.email, email_confirmed_at: NOW, is_anonymous: false });
  expect(user.raw_app_meta_data).toEqual({ provider: 'google', providers: ['google'] });
  const second = newIdentity(identity.email, { provider: 'github' });
  expect(await signIn(second, { linkingUserId: await anonymous() })).toEqual({ outcome: 'email_exists' });
});

test('concurrent first sign-ins create one account per identity and per address', async () => {
  const identity = newIdentity(newAddress());
  const identities = [identity, identity, newIdentity(identity.email, { provider: 'github' })];
  const results = await Promise.all(identities.map((each) => signedIn(each)));
  expect(new Set(results.map((result) => result.userId)).size).toBe(1);
  expect(results.filter((result) => result.change === 'created')).toHaveLength(1);
  expect((await accountOf(results[0]!.userId)).identities).toHaveLength(2);
});

test('concurrent first sign-ins with one wallet create one account', async () => {
  const wallet = newIdentity(null, { provider: 'web3' });
  const results = await Promise.all([1, 2, 3, 4].map(() => signedIn(wallet)));
  expect(new Set(results.map((result) => result.userId)).size).toBe(1);
  const { rows } = await db.admin.query("select from auth.users where raw_user_meta_data ->> 'sub' = $1", [
    wallet.providerId,
  ]);
  expect(rows).toHaveLength(1);
});

test('an account that was used keeps its sessions when an identity signs in', async () => {
  const identity = newIdentity(newAddress());
  const { userId } = await signedIn(identity);
  await startSession(service(), { userId, method: 'oauth', provider: 'google', device: DEVICE, now: NOW });
  await signedIn(identity);
  const { rows } = await db.admin.query('select from auth.sessions where user_id = $1', [userId]);
  expect(rows).toHaveLength(1);
});
