/** Two people with something to show: one on each plan, both with a few days written. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addDays, dayLabel, dayOf } from '../../src/domain/day.ts';
import type { Day } from '../../src/domain/day.ts';
import { PUBLISHABLE_KEY } from '../../src/server/config.ts';
import { ROOT } from '../parent.ts';
import type { ShowServer } from './show-server.ts';

const PASSWORD = 'correct horse';
type StorageState = { cookies: []; origins: { origin: string; localStorage: { name: string; value: string }[] }[] };
type Person = { email: string; storageState: StorageState };
export type People = { free: Person; premium: Person; newcomer: Person };

const LOG = `<ol><li><p>Shipped the billing reconciliation: <strong>0 open differences</strong> since Monday</p></li><li><p>Paired on the import bug; wrote the failing test first</p></li><li><p>Reviewed four pull requests, <em>two of them twice</em></p></li><li><p>Said no to a meeting and used the hour for the release notes</p><ul><li><p>draft is out for comments</p></li></ul></li></ol>`;

export async function createPeople(server: ShowServer): Promise<People> {
  const today = dayOf(new Date());
  const free = await signUp(server, 'Pat Example', 'pat@example.com');
  const premium = await signUp(server, 'Sam Example', 'sam@example.com');
  const newcomer = await signUp(server, 'Kim Example', 'kim@example.com');
  await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'src/server/admin.ts'), 'plan:grant', premium.email, '--days', '365'],
    { env: server.env },
  );
  for (const person of [free, premium]) {
    for (const back of [0, 2, 3, 4, 6]) await write(server, person, addDays(today, -back));
  }
  return { free, premium, newcomer };
}

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

async function write(server: ShowServer, person: SignedUp, date: Day): Promise<void> {
  const answer = await fetch(`${server.url}/rest/v1/entries`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: person.id, date, content: `<h2 class="date-header">${dayLabel(date)}</h2>${LOG}` }),
  });
  if (!answer.ok) throw new Error(`writing a day answered ${answer.status}: ${await answer.text()}`);
}
