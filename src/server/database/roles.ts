/**
 * The roles of the database server. `anon`, `authenticated` and `service_role` are those of every Supabase database;
 * requests log in as a separate role whose only right is to switch to one of the three.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

import pg from 'pg';

const ACTING_ROLES = { anon: '', authenticated: '', service_role: 'bypassrls' } as const;

/** The schema of the job queue's tables, which pg-boss creates and the service role may use. */
export const JOBS_SCHEMA = 'pgboss';

/** Leaves room for the suffix within PostgreSQL's 63-byte name limit. */
const OWNER_NAME_MAX = 50;

/**
 * Limits of the request login's sessions. They are defaults of the role and not startup parameters, which a pooler
 * refuses or ignores. An operator may set other values on the role.
 */
const TIMEOUTS = { statement_timeout: '15s', idle_in_transaction_session_timeout: '10s' } as const;

type RequestLogin = { user: string; password: string };

/**
 * Derives the request login from the owner's credentials: several servers on one database get the same login without
 * storing or exchanging it, and it changes with the owner's password.
 */
function requestLogin(ownerUrl: string): RequestLogin {
  const { user, password } = new pg.Client({ connectionString: ownerUrl }) as {
    user?: string;
    password?: string | null;
  };
  if (!user || !password) throw new Error('DATABASE_URL must name a user and a password');
  const name = `${user.slice(0, OWNER_NAME_MAX)}_requests`;
  return { user: name, password: createHmac('sha256', password).update(`requests of ${user}`).digest('base64url') };
}

export function requestConnection(ownerUrl: string): pg.ClientConfig {
  const { host, port, database, ssl } = new pg.Client({ connectionString: ownerUrl });
  return { host, port, ssl, ...(database === undefined ? {} : { database }), ...requestLogin(ownerUrl) };
}

/**
 * Creates missing acting roles, creates or updates the request login and sets its missing time-outs; does nothing if
 * all of this is done. Existing acting roles stay as they are, because all databases of the server share them.
 */
export async function ensureRoles(owner: pg.Client, ownerUrl: string): Promise<void> {
  if (!(await mayActAsAll(ownerUrl))) {
    try {
      await makeRoles(owner, requestLogin(ownerUrl));
    } catch (cause) {
      throw new Error(
        `the user of DATABASE_URL lacks the right to create the request roles (docs/operations.md): ${reasonOf(cause)}`,
        { cause },
      );
    }
  }
  await ensureTimeouts(ownerUrl);
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Every role may set its own defaults, so this needs no right of the owner. */
async function ensureTimeouts(ownerUrl: string): Promise<void> {
  const login = new pg.Client(requestConnection(ownerUrl));
  await login.connect();
  try {
    const { rows } = await login.query<{ name: keyof typeof TIMEOUTS }>(
      "select name from pg_catalog.pg_settings where name = any($1) and setting = '0' order by name",
      [Object.keys(TIMEOUTS)],
    );
    for (const { name } of rows) await login.query(`alter role current_user set ${name} = '${TIMEOUTS[name]}'`);
  } catch (cause) {
    const role = pg.escapeIdentifier(requestLogin(ownerUrl).user);
    const statements = Object.entries(TIMEOUTS).map(([name, value]) => `alter role ${role} set ${name} = '${value}';`);
    throw new Error(
      `the time-outs of the role for requests cannot be set: ${reasonOf(cause)}. ` +
        `Run this as a superuser of the database, then start again: ${statements.join(' ')}`,
      { cause },
    );
  } finally {
    await login.end();
  }
}

async function makeRoles(owner: pg.Client, login: RequestLogin): Promise<void> {
  for (const [role, attributes] of Object.entries(ACTING_ROLES)) {
    if (!(await exists(owner, role))) await owner.query(`create role ${role} nologin noinherit ${attributes}`);
  }
  const user = pg.escapeIdentifier(login.user);
  // Sent as a SCRAM verifier, so no server log can contain the password.
  const password = pg.escapeLiteral(scramVerifier(login.password));
  const attributes = `login noinherit password ${password}`;
  await owner.query(`${(await exists(owner, login.user)) ? 'alter' : 'create'} role ${user} ${attributes}`);
  await owner.query(`grant anon, authenticated, service_role to ${user}`);
}

async function mayActAsAll(ownerUrl: string): Promise<boolean> {
  const client = new pg.Client(requestConnection(ownerUrl));
  try {
    await client.connect();
    const { rows } = await client.query<{ all: boolean }>(
      `select bool_and(pg_has_role(session_user, rolname, 'member')) and count(*) = $2 as all
         from pg_catalog.pg_roles where rolname = any($1)`,
      [Object.keys(ACTING_ROLES), Object.keys(ACTING_ROLES).length],
    );
    return rows[0]!.all;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

async function exists(owner: pg.Client, role: string): Promise<boolean> {
  const { rowCount } = await owner.query('select from pg_catalog.pg_roles where rolname = $1', [role]);
  return rowCount === 1;
}

/** The password as PostgreSQL stores it (RFC 5802, RFC 7677). */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}

export class PrivilegedLoginError extends Error {}

/**
 * Threat: with a login that is a superuser or has BYPASSRLS, a statement that runs outside the acting roles would see
 * every user's journal without an error. The server refuses to start with such a login, or one that may create roles or
 * databases, replicate, or owns relations.
 *
 * @throws PrivilegedLoginError
 */
export async function rejectPrivilegedLogin(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ mighty: boolean; owns: boolean }>(
    `select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as mighty,
            exists (select from pg_catalog.pg_class where relowner = pg_roles.oid) as owns
       from pg_catalog.pg_roles where rolname = session_user`,
  );
  const [login] = rows;
  if (!login || login.mighty || login.owns) {
    throw new PrivilegedLoginError(
      'the role that requests log in with is too privileged: row-level security would not apply',
    );
  }
}
