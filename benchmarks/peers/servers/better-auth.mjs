/**
 * A journal's API as an application of better-auth would have it: Fastify, pg, and a session read for each request.
 * Environment: DATABASE_URL, MODULES, PORT, SECRET.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.MODULES);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { betterAuth } = await load('better-auth');
const { bearer } = await load('better-auth/plugins');
const { getMigrations } = await load('better-auth/db/migration');
const pg = require('pg');
const fastify = require('fastify');

const { DATABASE_URL, PORT, SECRET } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });
const options = {
  database: pool,
  secret: SECRET,
  baseURL: `http://127.0.0.1:${PORT}`,
  emailAndPassword: { enabled: true },
  plugins: [bearer()],
  rateLimit: { enabled: false },
};
const auth = betterAuth(options);
await (await getMigrations(options)).runMigrations();
await pool.query(`
  create table if not exists entries (
    id uuid primary key default gen_random_uuid(),
    user_id text not null references "user" (id) on delete cascade,
    date date not null,
    content text not null,
    updated_at timestamptz not null default now(),
    unique (user_id, date)
  )`);

const app = fastify();
app.all('/api/auth/*', async (request, reply) => {
  const response = await auth.handler(
    new Request(new URL(request.url, options.baseURL), {
      method: request.method,
      headers: request.headers,
      ...(request.body ? { body: JSON.stringify(request.body) } : {}),
    }),
  );
  response.headers.forEach((value, name) => reply.header(name, value));
  return reply.status(response.status).send(await response.text());
});

async function userOf(request, reply) {
  const session = await auth.api.getSession({ headers: new Headers(request.headers) });
  if (session) return session.user.id;
  reply.status(401).send({ message: 'sign in' });
  return null;
}

app.get('/entries/:date', async (request, reply) => {
  const user = await userOf(request, reply);
  if (user === null) return reply;
  const { rows } = await pool.query('select * from entries where user_id = $1 and date = $2', [
    user,
    request.params.date,
  ]);
  return rows;
});
app.get('/entries', async (request, reply) => {
  const user = await userOf(request, reply);
  if (user === null) return reply;
  const { rows } = await pool.query('select date::text from entries where user_id = $1 order by date desc', [user]);
  return rows;
});
app.put('/entries/:date', async (request, reply) => {
  const user = await userOf(request, reply);
  if (user === null) return reply;
  const { rows } = await pool.query(
    'update entries set content = $3, updated_at = now() where user_id = $1 and date = $2 returning updated_at',
    [user, request.params.date, request.body.content],
  );
  return rows;
});
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
