import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addDays, dayLabel, dayOf, type Day, weekdayOf } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { ROOT } from '../../scripts/project.ts';
import type { Product } from '../support/product.ts';

const PASSWORD = 'correct horse';
type StorageState = { cookies: []; origins: { origin: string; localStorage: { name: string; value: string }[] }[] };
type Account = { email: string; storageState: StorageState };
/** `ending` and `ended`: the plan expires soon, or has ended. `veteran`: a premium user with logs of a whole year. */
export type Accounts = Record<'free' | 'premium' | 'newcomer' | 'ending' | 'ended' | 'veteran', Account>;

const LOG = `<ol><li><p>Shipped the billing reconciliation: <strong>0 open differences</strong> since Monday</p></li><li><p>Paired on the import bug; wrote the failing test first</p></li><li><p>Reviewed four pull requests, <em>two of them twice</em></p></li><li><p>Said no to a meeting and used the hour for the release notes</p><ul><li><p>draft is out for comments</p></li></ul></li></ol>`;

export async function createAccounts(server: Product): Promise<Accounts> {
  const today = dayOf(new Date());
  const free = await signUp(server, 'Pat Example', 'pat@example.com');
  const premium = await signUp(server, 'Sam Example', 'sam@example.com');
  const newcomer = await signUp(server, 'Kim Example', 'kim@example.com');
  const ending = await signUp(server, 'Lou Example', 'lou@example.com');
  const ended = await signUp(server, 'Max Example', 'max@example.com');
  const veteran = await signUp(server, 'Ida Example', 'ida@example.com');
  await buyPlan(server, premium);
  await runAdmin(server, 'plan:grant', veteran.email);
  await writeYear(server, veteran);
  await runAdmin(server, 'plan:grant', ending.email, '--days', '12');
  await runAdmin(server, 'plan:grant', ended.email, '--days', '12');
  await runAdmin(server, 'plan:revoke', ended.email);
  for (const account of [free, premium]) {
    for (const daysAgo of [0, 2, 3, 4, 6]) await writeLog(server, account, addDays(today, -daysAgo));
  }
  return { free, premium, newcomer, ending, ended, veteran };
}

const runAdmin = (server: Product, ...args: string[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'src/server/admin.ts'), ...args], {
    env: { ...process.env, ...server.env },
  });

type SignedInAccount = Account & { id: string; token: string };

export async function signUp(server: Product, name: string, email: string): Promise<SignedInAccount> {
  const answer = await fetch(`${server.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD, data: { name } }),
  });
  if (!answer.ok) throw new Error(`sign-up answered ${answer.status}: ${await answer.text()}`);
  const session = (await answer.json()) as { access_token: string; user: { id: string } };
  const key = `sb-${new URL(server.url).hostname.split('.')[0]}-auth-token`;
  const localStorage = [{ name: key, value: JSON.stringify(session) }];
  return {
    email,
    id: session.user.id,
    token: session.access_token,
    storageState: { cookies: [], origins: [{ origin: server.url, localStorage }] },
  };
}

/** Buys a plan through PayPal's simulator, as a browser would. */
async function buyPlan(server: Product, account: SignedInAccount): Promise<void> {
  const order = { amount: 24, currency: 'USD', user_id: account.id };
  const { approval_url: approval } = await callFunction(server, account, 'paypal-create-order', order);
  await fetch(String(approval), { method: 'POST', body: new URLSearchParams({ choice: 'pay' }), redirect: 'manual' });
  const capture = { order_id: new URL(String(approval)).searchParams.get('token'), user_id: account.id };
  await callFunction(server, account, 'paypal-capture-order', capture);
}

async function callFunction(
  server: Product,
  account: SignedInAccount,
  name: string,
  body: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function writeLog(server: Product, account: SignedInAccount, date: Day): Promise<void> {
  const answer = await fetch(`${server.url}/rest/v1/entries`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      user_id: account.id,
      date,
      content: `<h2 class="date-header">${dayLabel(date)}</h2>${LOG}`,
    }),
  });
  if (!answer.ok) throw new Error(`writing a day answered ${answer.status}: ${await answer.text()}`);
}

const DAYS = 360;
/** Feedback is requested for this many of the newest logs, except for the days that `writeYear` skips. */
const MAX_ANALYSED_LOGS = 36;

/** Sample logs from a vague to a productive day. */
const SAMPLE_LOGS: readonly (readonly string[])[] = [
  ['Looked at some stuff', 'A few things came up'],
  ['Meetings, mostly', 'Talked about the release', 'Answered mail'],
  ['Reviewed four pull requests', 'Talked to the new supplier about terms'],
  ['Wrote the failing test for the import bug, then fixed it', 'Reviewed three pull requests and sent one back'],
  [
    'Shipped the billing reconciliation: 0 open differences since Monday',
    'Wrote the failing test for the import bug, then fixed it',
    'Closed 12 of the 15 oldest support tickets',
    'Sent the offer to two customers and booked both calls',
  ],
];

/** A deterministic pseudo-random index below `count`. */
const pickIndex = (seed: number, count: number): number =>
  Math.floor(Math.abs(Math.sin(seed * 12.9898) * 43_758.5453)) % count;

function createContent(daysAgo: number, date: Day): string | null {
  if (daysAgo === 0) return renderList(SAMPLE_LOGS[4]!);
  const isWeekend = ['Saturday', 'Sunday'].includes(weekdayOf(date));
  if (daysAgo === 9) return '<p>I am sick</p>';
  if (daysAgo !== 3 && (pickIndex(daysAgo, 12) === 0 || (isWeekend && pickIndex(daysAgo + 500, 3) > 0))) return null;
  return renderList(SAMPLE_LOGS[pickIndex(daysAgo + 7, SAMPLE_LOGS.length)]!);
}

const renderList = (items: readonly string[]): string =>
  `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

type Author = { id: string; token: string };

async function writeYear(server: Product, author: Author): Promise<void> {
  const today = dayOf(new Date());
  const rows = Array.from({ length: DAYS }, (_, daysAgo) => {
    const date = addDays(today, -daysAgo);
    return { user_id: author.id, date, content: createContent(daysAgo, date) };
  }).filter(({ content }) => content !== null);
  await send(server, author, 'POST', '/rest/v1/entries', rows);
  await send(server, author, 'PATCH', `/rest/v1/profiles?id=eq.${author.id}`, { ai_consent: true });
  await send(server, author, 'POST', '/sandbox/ai-model/__simulator/pace', { ms: 0 });
  for (const { date, content } of rows.slice(0, MAX_ANALYSED_LOGS)) {
    // Days without a score, such as a day of sickness, produce gaps in the chart.
    if (content === '<p>I am sick</p>' || date === addDays(today, -3) || date === addDays(today, -17)) continue;
    await send(server, author, 'POST', '/functions/v1/ai-feedback', { date });
  }
}

async function send(server: Product, author: Author, method: string, path: string, body: object): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${author.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok || text.includes('event: problem')) throw new Error(`${path} answered ${answer.status}: ${text}`);
}
