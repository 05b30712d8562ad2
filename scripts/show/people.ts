/** People with something to show: one on each plan with a few days written, one new, two whose year is at its end, one with a year behind. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addDays, dayLabel, dayOf } from '../../src/domain/day.ts';
import type { Day } from '../../src/domain/day.ts';
import { PUBLISHABLE_KEY } from '../../src/server/config.ts';
import { ROOT } from '../parent.ts';
import type { ShowServer } from './show-server.ts';
import { writeYear } from './year-of-logs.ts';

const PASSWORD = 'correct horse';
type StorageState = { cookies: []; origins: { origin: string; localStorage: { name: string; value: string }[] }[] };
type Person = { email: string; storageState: StorageState };
export type People = Record<'free' | 'premium' | 'newcomer' | 'ending' | 'ended' | 'veteran', Person>;

const LOG = `<ol><li><p>Shipped the billing reconciliation: <strong>0 open differences</strong> since Monday</p></li><li><p>Paired on the import bug; wrote the failing test first</p></li><li><p>Reviewed four pull requests, <em>two of them twice</em></p></li><li><p>Said no to a meeting and used the hour for the release notes</p><ul><li><p>draft is out for comments</p></li></ul></li></ol>`;

export async function createPeople(server: ShowServer): Promise<People> {
  const today = dayOf(new Date());
  const free = await signUp(server, 'Pat Example', 'pat@example.com');
  const premium = await signUp(server, 'Sam Example', 'sam@example.com');
  const newcomer = await signUp(server, 'Kim Example', 'kim@example.com');
  const ending = await signUp(server, 'Lou Example', 'lou@example.com');
  const ended = await signUp(server, 'Max Example', 'max@example.com');
  const veteran = await signUp(server, 'Ida Example', 'ida@example.com');
  await pay(server, premium);
  await admin(server, 'plan:grant', veteran.email);
  await writeYear(server, veteran);
  await admin(server, 'plan:grant', ending.email, '--days', '12');
  await admin(server, 'plan:grant', ended.email, '--days', '12');
  await admin(server, 'plan:revoke', ended.email);
  for (const person of [free, premium]) {
    for (const back of [0, 2, 3, 4, 6]) await write(server, person, addDays(today, -back));
  }
  return { free, premium, newcomer, ending, ended, veteran };
}

const admin = (server: ShowServer, ...args: string[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'src/server/admin.ts'), ...args], { env: server.env });

type SignedUp = Person & { id: string; token: string };

/** Signs somebody up through the API. */
export async function signUp(server: ShowServer, name: string, email: string): Promise<SignedUp> {
  const answer = await fetch(`${server.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, data: { name } }),
  });
  if (!answer.ok) throw new Error(`sign-up answered ${answer.status}: ${await answer.text()}`);
  const session = (await answer.json()) as { access_token: string; expires_in: number; user: { id: string } };
  const stored = { expires_at: Math.floor(Date.now() / 1000) + session.expires_in, ...session };
  const key = `sb-${new URL(server.url).hostname.split('.')[0]}-auth-token`;
  const localStorage = [{ name: key, value: JSON.stringify(stored) }];
  return {
    email,
    id: session.user.id,
    token: session.access_token,
    storageState: { cookies: [], origins: [{ origin: server.url, localStorage }] },
  };
}

/** Buys a year at the sandbox's PayPal, as a browser would. */
async function pay(server: ShowServer, person: SignedUp): Promise<void> {
  const order = { amount: 24, currency: 'USD', user_id: person.id };
  const { approval_url: approval } = await callFunction(server, person, 'paypal-create-order', order);
  await fetch(String(approval), { method: 'POST', body: new URLSearchParams({ choice: 'pay' }), redirect: 'manual' });
  const capture = { order_id: new URL(String(approval)).searchParams.get('token'), user_id: person.id };
  await callFunction(server, person, 'paypal-capture-order', capture);
}

async function callFunction(
  server: ShowServer,
  person: SignedUp,
  name: string,
  body: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function write(server: ShowServer, person: SignedUp, date: Day): Promise<void> {
  const answer = await fetch(`${server.url}/rest/v1/entries`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: person.id, date, content: `<h2 class="date-header">${dayLabel(date)}</h2>${LOG}` }),
  });
  if (!answer.ok) throw new Error(`writing a day answered ${answer.status}: ${await answer.text()}`);
}
