/**
 * Writes accounts with a session straight into the server's database, without the cost of a sign-up over HTTP, and
 * changes rows for states that tests cannot reach, such as old sessions.
 */
import { randomUUID } from 'node:crypto';
import type { Day } from '#domain/day/day.ts';
import { createAccount, syncProviders, updateUser, type Account } from '#server/auth/accounts/accounts.ts';
import { saveIdentity } from '#server/auth/providers/external-identity.ts';
import { startSession, type StartedSession } from '#server/auth/sessions/sessions.ts';
import { createAccessTokens } from '#server/auth/keys/access-tokens.ts';
import { loadSigningKeys } from '#server/auth/keys/signing-keys.ts';
import { sessionResponse } from '#server/auth/sessions/session-response.ts';
import { systemClock } from '#server/clock.ts';
import { openDatabase } from '#server/database/connect.ts';
import type { AsService } from '#server/database/database.ts';
import { createLog } from '#server/log.ts';
import { changePlan } from '#server/plans/change-plan.ts';
import { PASSWORD, PASSWORD_HASH } from '../../support/passwords.ts';
import type { Product } from '../../support/product.ts';

export type Person = { name: string; email: string; password: string };
export type NewPerson = Partial<Omit<Person, 'password'>>;
/** `session` as the page stores it: its end is counted from now, whenever its token was issued. */
export type SeededAccount = { person: Person; session: Awaited<ReturnType<typeof sessionResponse>> };

/** `providerId`: the id of the provider's account, as the sandbox's provider gives it. */
export type LinkedAccount = { provider: 'google' | 'github'; providerId: string; email: string };

export type Accounts = {
  /** @param tokenAgeMs how long ago the server issued the access token */
  create(given?: NewPerson, tokenAgeMs?: number): Promise<SeededAccount>;
  /** Signs the account's user in on another device. */
  signInAgain(account: SeededAccount): Promise<SeededAccount>;
  /** Links an account at a provider. The session that it returns knows of it. */
  link(account: SeededAccount, identity: LinkedAccount): Promise<SeededAccount>;
  /** Gives the account's user the paid plan (Closer) without an end. */
  upgrade(account: SeededAccount): Promise<void>;
  /** Writes a log into the database. The day may be one that the user's plan locks, which the API would refuse. */
  writeLog(account: SeededAccount, date: Day, html: string): Promise<void>;
  /** Ages every session with its second steps, and every passkey, of an account by this many hours. */
  ageSessions(email: string, hours: number): Promise<void>;
  /** Gives an account a confirmed number, such as `+4915123456789`. */
  givePhone(email: string, phone: string): Promise<void>;
  /** Removes the password of an account, and the sign-in methods (`amr`) of its sessions. */
  removePassword(email: string): Promise<void>;
  close(): Promise<void>;
};

export async function openAccounts({ url, env }: Product): Promise<Accounts> {
  const dataDir = env['DATA_DIR']!;
  const log = createLog('error');
  const database = await openDatabase({ config: { dataDir, databaseUrl: null }, log, whenRunning: 'join' });
  const keys = await loadSigningKeys({ signingKeyFile: null, dataDir, database, clock: systemClock, log });
  const issuer = `${url}/auth/v1`;
  const tokensIssuedAt = (ageMs: number) => {
    const clock = { now: () => new Date(Date.now() - ageMs) };
    return createAccessTokens({ keys, issuer, clock, database });
  };
  const start = (transaction: AsService, userId: string) => {
    const device = { ip: '127.0.0.1', userAgent: null };
    return startSession(transaction, { userId, method: 'password', device, now: systemClock.now() });
  };
  const createSession = async (started: StartedSession & { account: Account }, tokenAgeMs = 0) => {
    const session = await sessionResponse(tokensIssuedAt(tokenAgeMs), started.account, started);
    return { ...session, expires_at: Math.floor(Date.now() / 1000) + session.expires_in };
  };
  const signInAgain = async ({ person, session: { user } }: SeededAccount): Promise<SeededAccount> => {
    const started = await database.transactAsService('sign in on another device', (transaction) =>
      start(transaction, user.id),
    );
    return { person, session: await createSession(started) };
  };
  return {
    async create(given = {}, tokenAgeMs = 0) {
      const person = { name: 'Ada Smith', email: `${randomUUID()}@example.com`, password: PASSWORD, ...given };
      const started = await database.transactAsService('seed an account', async (transaction) => {
        const { user } = await createAccount(transaction, {
          email: person.email,
          passwordHash: PASSWORD_HASH,
          data: { name: person.name },
          confirmed: true,
          now: systemClock.now(),
        });
        // A mailed link would claim an unproven account, and remove its password and factors.
        await updateUser(transaction, user.id, { email_proven_at: user.email_confirmed_at });
        return start(transaction, user.id);
      });
      return { person, session: await createSession(started, tokenAgeMs) };
    },
    signInAgain,
    async link(account, { provider, providerId, email }) {
      const data = { sub: providerId, email, email_verified: true };
      const identity = { provider, providerId, email, emailVerified: true, data };
      const { id } = account.session.user;
      await database.transactAsService('link an account at a provider', async (transaction) => {
        await saveIdentity(transaction, { identity, now: systemClock.now() }, id);
        await syncProviders(transaction, id);
      });
      return signInAgain(account);
    },
    async upgrade({ session }) {
      const { id: userId } = session.user;
      await changePlan(database, { userId, plan: 'premium', accessValidUntil: null, reason: 'operator grant' });
    },
    async writeLog({ session }, date, html) {
      await database
        .asService('write a log')
        .statement('insert into public.entries (user_id, date, content) values ($1, $2, $3)', [
          session.user.id,
          date,
          html,
        ]);
    },
    async ageSessions(email, hours) {
      const { rowCount } = await database.asService('make sessions older').statement(
        `with passkeys as (
           update auth.webauthn_credentials set created_at = created_at - make_interval(hours => $2)
            where user_id = (select id from auth.users where email = $1))
         update auth.sessions
            set created_at = created_at - make_interval(hours => $2),
                amr = (select coalesce(jsonb_agg(jsonb_set(step, '{timestamp}', to_jsonb((step ->> 'timestamp')::int - $2 * 3600))
                                                 order by place), '[]')
                         from jsonb_array_elements(amr) with ordinality as steps (step, place))
          where user_id = (select id from auth.users where email = $1)`,
        [email, hours],
      );
      if (rowCount === 0) throw new Error(`no session of ${email}`);
    },
    async givePhone(email, phone) {
      await database
        .asService('give an account a number')
        .statement('update auth.users set phone = $2, phone_confirmed_at = now() where email = $1', [
          email,
          phone.slice(1),
        ]);
    },
    async removePassword(email) {
      const service = database.asService('remove a password');
      await service.statement('update auth.users set password_hash = null where email = $1', [email]);
      await service.statement(
        `update auth.sessions set amr = '[]' where user_id = (select id from auth.users where email = $1)`,
        [email],
      );
    },
    close: () => database.close(),
  };
}
