/**
 * The evening at one hour: 100,000 users have their reminder due at once, and one server with two cores hands the mails
 * to a mail server that throws them away, while others save their logs.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { printFigures } from './figures.ts';
import { cpuSeconds, startProduct } from './processes.ts';
import { createLogHtml, openSeededDatabase } from './seeded-database.ts';

const USERS = 100_000;
const LIMIT_SECONDS = 600;
const SAVERS = 8;
const SAVES_PER_SECOND = 40;
const QUIET_SECONDS = 20;
const POLL_MS = 1_000;
const SEND_WAIT_MS = 90_000;

let received = 0;
const sink = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  logger: false,
  onData(stream, _session, done) {
    stream.on('end', () => {
      received += 1;
      done();
    });
    stream.resume();
  },
});
sink.on('error', () => {});
await new Promise<void>((listening) => sink.listen(0, '127.0.0.1', listening));
const { port } = sink.server.address() as AddressInfo;

const database = await openSeededDatabase();
const app = await startProduct(database, { SMTP_URL: `smtp://127.0.0.1:${port}`, LOG_LEVEL: 'warn' });
const client = new pg.Client({ connectionString: database.url });
await client.connect();
try {
  await seed();
  const savers = await Promise.all(Array.from({ length: SAVERS }, (_, index) => createSaver(index)));
  const quietMs = await measureSaves(savers, QUIET_SECONDS);

  await client.query(
    "update reminder_schedule set due_at = now(), day = (now() at time zone $1)::date where kind = 'reminder' and user_id in (select user_id from preferences)",
    [noonZone()],
  );
  for (const since = Date.now(); received === 0; await delay(POLL_MS))
    if (Date.now() - since > SEND_WAIT_MS) throw new Error('the job did not start');
  const startedAt = performance.now();
  const receivedAtStart = received;
  const cpuAtStart = await cpuSeconds([app.pid, database.pid]);
  const busyP99s: number[] = [];
  while (received < USERS && performance.now() - startedAt < LIMIT_SECONDS * 1000)
    busyP99s.push(await measureSaves(savers, QUIET_SECONDS));
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = (await cpuSeconds([app.pid, database.pid])) - cpuAtStart;
  const cpuOfAll = (cpu / (received - receivedAtStart)) * USERS;
  const busyMs = Math.max(...busyP99s.slice(0, Math.max(1, busyP99s.length - 1)));
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int as count from reminder_schedule where kind = 'reminder' and sent_day is not null",
  );
  printFigures('Reminders', [
    {
      what: `${USERS.toLocaleString('en')} reminders due at once, handed to a mail server`,
      measured: `${seconds.toFixed(0)} s (${(received / seconds).toFixed(0)}/s, ${received} received, ${rows[0]!.count} marked)`,
      target: `at most ${LIMIT_SECONDS} s, each once`,
      isMet: received === USERS && rows[0]!.count === USERS && seconds <= LIMIT_SECONDS,
    },
    {
      what: 'processor time of the server and PostgreSQL for all of them, with the saves',
      measured: `${cpuOfAll.toFixed(0)} s (${((cpuOfAll / USERS) * 1000).toFixed(1)} ms each)`,
      target: `less than two cores have in ${LIMIT_SECONDS} s`,
      isMet: cpuOfAll < 2 * LIMIT_SECONDS,
    },
    {
      what: 'p99 of saves meanwhile, highest of all 20 seconds, against the quiet p99',
      measured: `${(busyMs / quietMs).toFixed(2)}x (${busyMs} ms against ${quietMs} ms)`,
      target: 'at most 3x',
      isMet: busyMs <= quietMs * 3,
    },
  ]);
} finally {
  await client.end();
  await app.stop();
  await database.close();
  await new Promise<void>((closed) => sink.close(closed));
}

/** A zone in which it is about noon, so that the benchmark runs at any hour. The signs of these zones are reversed. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** Users with a log of 2 KB of yesterday and a reminder that is not due yet. */
async function seed(): Promise<void> {
  await client.query(
    "insert into auth.users (email, email_confirmed_at) select 'reminded-' || n || '@example.com', now() from generate_series(1, $1) n",
    [USERS],
  );
  await client.query('insert into entries (user_id, date, content) select id, current_date - 2, $1 from auth.users', [
    createLogHtml(0),
  ]);
  // Rows without a day would be planned by the job: they wait until everything is ready.
  await client.query(
    "insert into preferences (user_id, time_zone, remind_at, workdays, remind_by_mail) select id, $1, 720, '{0,1,2,3,4,5,6}', true from auth.users",
    [noonZone()],
  );
  await client.query("update reminder_schedule set due_at = now() + interval '1 day' where kind = 'reminder'");
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

type Saver = { path: string; headers: Record<string, string> };

async function createSaver(index: number): Promise<Saver> {
  const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
  const signedUp = await fetch(`${app.url}/auth/v1/signup`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: `saver-${index}@example.com`, password: 'correct horse battery' }),
  });
  const { access_token: token, user } = (await signedUp.json()) as { access_token: string; user: { id: string } };
  const own = { ...headers, authorization: `Bearer ${token}` };
  const date = new Date().toISOString().slice(0, 10);
  const created = await fetch(`${app.url}/rest/v1/entries`, {
    method: 'POST',
    headers: own,
    body: JSON.stringify({ user_id: user.id, date, content: createLogHtml(0) }),
  });
  if (!created.ok) throw new Error(`a saver: ${created.status} ${await created.text()}`);
  return { path: `/rest/v1/entries?user_id=eq.${user.id}&date=eq.${date}`, headers: own };
}

/** The p99 in milliseconds. */
async function measureSaves(savers: readonly Saver[], duration: number): Promise<number> {
  let connections = 0;
  const result = await autocannon({
    url: app.url,
    connections: savers.length,
    overallRate: SAVES_PER_SECOND,
    duration,
    setupClient: (connection) => {
      const { path, headers } = savers[connections++ % savers.length]!;
      let variant = 0;
      connection.setRequests([
        {
          method: 'PATCH',
          path,
          headers,
          setupRequest: (request) => ({ ...request, body: JSON.stringify({ content: createLogHtml((variant += 1)) }) }),
        },
      ]);
    },
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} rejected and ${result.errors} failed saves`);
  return result.latency.p99;
}
