/**
 * The baseline of `auth.ts`: node:http, jose and pg without a framework. It sends the product's own statements,
 * prepared, and answers with the product's own bodies, but without roles, limits, logs and caches. Runs as a separate
 * process with DATABASE_URL and PORT in its environment.
 */
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { SignJWT, generateKeyPair, jwtVerify } from 'jose';
import pg from 'pg';
import { toAccount } from '#server/auth/accounts/accounts.ts';
import { ROTATE_ACTIVE, hashToken } from '#server/auth/sessions/refresh-tokens.ts';
import { ACCOUNT_AND_SESSION } from '#server/auth/sessions/sessions.ts';
import { ACCESS_TOKEN_SECONDS } from '#server/auth/keys/access-tokens.ts';
import { userJson } from '#server/auth/accounts/user-json.ts';
import type { PreparedQuery } from '#server/database/query-builder.ts';
import { valueTypes } from '#server/database/tables.ts';

const { DATABASE_URL = '', PORT = '' } = process.env;
const { privateKey, publicKey } = await generateKeyPair('ES256');
const secret = randomBytes(32);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16, types: valueTypes() });

async function run<Values extends object, Row>(
  name: string,
  query: PreparedQuery<Values, Row>,
  values: Values,
): Promise<Row[]> {
  const { rows } = await pool.query({ name, text: query.text, values: query.bind(values) });
  return rows as Row[];
}

const signToken = (userId: string, sessionId: string, claims: object): Promise<string> =>
  new SignJWT({ ...claims, role: 'authenticated', session_id: sessionId })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
    .sign(privateKey);

/** `GET /user` with an access token. */
async function readUser(authorization: string): Promise<object> {
  const { payload } = await jwtVerify(authorization.slice('Bearer '.length), publicKey, { algorithms: ['ES256'] });
  const ids = { userId: payload.sub!, sessionId: String(payload['session_id']) };
  const [row] = await run('user', ACCOUNT_AND_SESSION, ids);
  if (!row?.session) throw new Error('the session has ended');
  return userJson(toAccount(row));
}

/** `POST /refresh` with `{ refresh_token }`. */
async function refresh({ refresh_token }: { refresh_token: string }): Promise<object> {
  const salt = randomBytes(16);
  const child = createHmac('sha256', secret).update(salt).update(refresh_token).digest('base64url');
  const [row] = await run('refresh', ROTATE_ACTIVE, {
    tokenHash: hashToken(refresh_token),
    childHash: hashToken(child),
    salt,
    now: new Date(),
    ip: '127.0.0.1',
    userAgent: null,
  });
  if (!row) throw new Error('the token is not active');
  const user = userJson(toAccount(row));
  const { app_metadata, user_metadata, email } = user;
  const claims = { app_metadata, user_metadata, email, aal: row.session_aal, amr: row.session_amr };
  const access_token = await signToken(user.id, row.session_id, claims);
  return { access_token, token_type: 'bearer', expires_in: ACCESS_TOKEN_SECONDS, refresh_token: child, user };
}

/** `POST /sessions` with `{ user_id }`; not measured. */
async function startSession({ user_id }: { user_id: string }): Promise<object> {
  const [id, token] = [randomUUID(), randomBytes(32).toString('base64url')];
  await pool.query('insert into auth.sessions (id, user_id) values ($1, $2)', [id, user_id]);
  await pool.query(
    'insert into auth.refresh_tokens (session_id, generation, token_hash, salt) values ($1, 1, $2, $3)',
    [id, createHash('sha256').update(token).digest(), randomBytes(16)],
  );
  return { access_token: await signToken(user_id, id, {}), refresh_token: token };
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(request.url ?? '', request.headers.authorization ?? '', Buffer.concat(chunks)).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
}).listen(Number(PORT), '127.0.0.1');

async function answer(path: string, authorization: string, body: Buffer): Promise<object> {
  if (path === '/user') return readUser(authorization);
  if (path === '/refresh') return refresh(JSON.parse(body.toString('utf8')) as { refresh_token: string });
  if (path === '/sessions') return startSession(JSON.parse(body.toString('utf8')) as { user_id: string });
  return {};
}

process.on('SIGTERM', () => process.exit(0));
