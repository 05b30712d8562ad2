/** Read-only links over HTTP (docs/specification/wins.md 2): what they show, and what no attempt gets out of them. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LINK_MESSAGES, MAX_LINKS, type LinkAnswer } from '#domain/documents/document-links.ts';
import { formatContent, type DocumentLine } from '#domain/documents/wins-document.ts';
import { day } from '#domain/day/day.ts';
import { startTestServer } from '../support/start-server.ts';
import { setUpWorld } from '../support/set-up.ts';
import { request, signUp, startDataWorld, type Person, type WireResponse } from './data/fixture.ts';

const world = setUpWorld(startDataWorld);
beforeEach(() => world.server.admin.query('delete from public.documents; delete from public.reviews'));
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));

const ATTACK = '<script>alert(1)</script><img src=x onerror=alert(1)> "\'&';
const LINES: DocumentLine[] = [
  { kind: 'heading', id: 'h', text: `Billing ${ATTACK}` },
  { kind: 'win', id: 'w', date: day('2026-03-02'), text: `Shipped ${ATTACK}`, source: 'A line of the log' },
];

async function storeDocument(person: Person, title = 'My year', lines = LINES): Promise<string> {
  const { data } = await person.client
    .from('documents')
    .insert({
      ...{ user_id: person.id, title, first_day: '2026-01-01', last_day: '2026-12-31' },
      content: formatContent({ author: 'Ada Smith', lines }),
    })
    .select('id')
    .single()
    .throwOnError();
  return data.id as string;
}

async function storeReview(person: Person, text: string): Promise<string> {
  const { rows } = await world.server.admin.query<{ id: string }>(
    `insert into public.reviews (user_id, period, period_from, period_to, text)
     values ($1, '7-day', '2026-11-01', '2026-11-07', $2) returning id`,
    [person.id, text],
  );
  return rows[0]!.id;
}

const create = (person: Person | null, body: unknown): Promise<WireResponse> =>
  world.request(person, 'POST', '/functions/v1/create-link', { body });

/** The path of a new link. */
async function share(person: Person, body: object): Promise<string> {
  const answer = await create(person, { days: 7, ...body });
  expect(answer.status, answer.text).toBe(200);
  return new URL((answer.json as LinkAnswer).url).pathname;
}

const open = (path: string, method = 'GET'): Promise<WireResponse> => world.request(null, method, path);
/** Headers that differ between two answers to the same request. */
const TRANSIENT = new Set(['date', 'connection', 'keep-alive']);
const comparable = ({ status, headers, text }: WireResponse) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !TRANSIENT.has(name)),
});

describe('a link to a document', () => {
  test('shows the document as it is now, with every word escaped, and nothing else of its owner', async () => {
    const documentId = await storeDocument(world.cleo);
    await storeDocument(world.cleo, 'Secret plans');
    const path = await share(world.cleo, { documentId });
    const { status, text } = await open(path);
    expect(status).toBe(200);
    const escaped = '&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &quot;&#39;&amp;';
    for (const part of ['My year', 'Ada Smith', '2026', `Billing ${escaped}`, `Shipped ${escaped}`, 'Mar 2']) {
      expect(text).toContain(part);
    }
    for (const secret of [
      '<script',
      '<img',
      'Secret',
      'A line of the log',
      'cleo',
      world.cleo.id,
      documentId,
      'href',
    ]) {
      expect(text).not.toContain(secret);
    }
    await world.cleo.client.from('documents').update({ title: 'My best year' }).eq('id', documentId).throwOnError();
    expect((await open(path)).text).toContain('My best year');
  });

  test('is answered without script, cache, referrer, frame and index', async () => {
    const path = await share(world.cleo, { documentId: await storeDocument(world.cleo) });
    const { headers, text } = await open(path);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain('sandbox');
    expect(policy).not.toMatch(/script-src|unsafe/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('set-cookie')).toBeNull();
    expect(text).toContain('<meta name="robots" content="noindex, nofollow">');
  });

  test('has 256 random bits that the database does not have', async () => {
    const documentId = await storeDocument(world.cleo);
    const token = (await share(world.cleo, { documentId })).slice('/s/'.length);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const { rows } = await world.server.admin.query('select * from public.document_links');
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(await world.cleo.client.from('document_links').select('*')).toMatchObject({
      data: [{ document_id: documentId, review_id: null }],
    });
    expect((await world.cleo.client.from('document_links').select('token_hash')).error?.code).toBe('42703');
  });
});

test('a session that has ended elsewhere leaves no link, though this process knows it as live', async () => {
  const ada = await signUp(world.server, `ada-${randomBytes(4).toString('hex')}`);
  await world.server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [ada.id]);
  const documentId = await storeDocument(ada);
  await world.server.admin.query('delete from auth.sessions where user_id = $1', [ada.id]);
  expect((await create(ada, { documentId, days: 7 })).status).toBe(401);
  const { rows } = await world.server.admin.query('select from public.document_links where user_id = $1', [ada.id]);
  expect(rows).toEqual([]);
});

test('a link to a review shows its text as text and its wins', async () => {
  const text = `**Patterns**\n\nYou ship <b>early</b>.\n- one\n\n**Wins**\n- 2026-11-02: Won <i>it</i>`;
  const path = await share(world.cleo, { reviewId: await storeReview(world.cleo, text) });
  const page = await open(path);
  expect(page.status).toBe(200);
  expect(page.text).toContain('<strong>Patterns</strong>');
  expect(page.text).toContain('You ship &lt;b&gt;early&lt;/b&gt;.');
  expect(page.text).toContain('Won &lt;i&gt;it&lt;/i&gt;');
  expect(page.text).toContain('November 1 – 7, 2026');
});

describe('a link that shows nothing', () => {
  /** Each makes the link of a document of Cleo end. */
  const ENDINGS: Record<string, (documentId: string) => PromiseLike<unknown>> = {
    'was ended by its owner': () =>
      world.cleo.client.from('document_links').delete().eq('user_id', world.cleo.id).throwOnError(),
    expired: () => world.server.admin.query('update public.document_links set expires_at = now()'),
    'has lost its document': (id) => world.cleo.client.from('documents').delete().eq('id', id).throwOnError(),
    'has a document that another client has broken': (id) =>
      world.cleo.client.from('documents').update({ content: '<p>' }).eq('id', id).throwOnError(),
    'was replaced': (documentId) =>
      world.cleo.client
        .from('document_links')
        .select('id')
        .single()
        .throwOnError()
        .then(({ data }) => share(world.cleo, { documentId, replaces: data.id as string })),
    'has an owner whose plan has ended': () => setPlan("subscription_plan = 'free'"),
    'has an owner whose paid year is over': () => setPlan('access_valid_until = current_date - 3'),
    'has an owner whose deletion is due': () => setUser('deletion_due_at = now()'),
    'has a banned owner': () => setUser("banned_until = now() + interval '1 hour'"),
  };
  const setPlan = (set: string) =>
    world.server.admin.query(`update public.profiles set ${set} where id = $1`, [world.cleo.id]);
  const setUser = (set: string) =>
    world.server.admin.query(`update auth.users set ${set} where id = $1`, [world.cleo.id]);
  afterEach(async () => {
    await setPlan("subscription_plan = 'premium', access_valid_until = null");
    await setUser('deletion_due_at = null, banned_until = null');
  });

  test.each(Object.keys(ENDINGS))('answers exactly like one that never was if it %s', async (ending) => {
    const documentId = await storeDocument(world.cleo);
    const path = await share(world.cleo, { documentId });
    const never = comparable(await open(`/s/${randomBytes(32).toString('base64url')}`));
    expect(never.status).toBe(404);
    expect(comparable(await open(path)).status).toBe(200);
    await ENDINGS[ending]!(documentId);
    expect(comparable(await open(path))).toEqual(never);
  });

  test('works again when the plan does', async () => {
    const path = await share(world.cleo, { documentId: await storeDocument(world.cleo) });
    await setPlan("subscription_plan = 'free'");
    expect((await open(path)).status).toBe(404);
    await setPlan("subscription_plan = 'premium'");
    expect((await open(path)).status).toBe(200);
  });

  test.each([
    '/s/x',
    `/s/${'A'.repeat(42)}`,
    `/s/${'A'.repeat(44)}`,
    `/s/${'%41'.repeat(43)}%00`,
    "/s/'; drop table documents; --",
    '/s/%2e%2e%2fhealthz',
  ])('answers a path that is no link like a link that never was: %s', async (path) => {
    const never = comparable(await open(`/s/${'A'.repeat(43)}`));
    const answer = comparable(await open(path));
    expect(answer).toEqual(never);
  });

  test('ends with the account', async () => {
    const dora = await signUp(world.server, `dora-${randomBytes(4).toString('hex')}`);
    await world.server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [dora.id]);
    const path = await share(dora, { documentId: await storeDocument(dora) });
    expect((await open(path)).status).toBe(200);
    await world.server.admin.query('delete from auth.users where id = $1', [dora.id]);
    expect((await open(path)).status).toBe(404);
    const { rows } = await world.server.admin.query('select from public.document_links where user_id = $1', [dora.id]);
    expect(rows).toEqual([]);
  });
});

describe('create-link', () => {
  test('refuses a guest, a user without the plan, and the document or review of another user', async () => {
    const documentId = await storeDocument(world.cleo);
    const reviewId = await storeReview(world.cleo, 'x');
    expect((await create(null, { documentId, days: 7 })).status).toBe(401);
    expect(await create(world.ana, { documentId, days: 7 })).toMatchObject({
      status: 403,
      json: { error: LINK_MESSAGES.premium },
    });
    await world.server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [
      world.ben.id,
    ]);
    for (const target of [{ documentId }, { reviewId }]) {
      expect(await create(world.ben, { ...target, days: 7 })).toMatchObject({
        status: 404,
        json: { error: LINK_MESSAGES.notFound },
      });
    }
    await world.server.admin.query(`update public.profiles set subscription_plan = 'free' where id = $1`, [
      world.ben.id,
    ]);
  });

  test("never ends another user's link in place of an own one", async () => {
    const path = await share(world.cleo, { documentId: await storeDocument(world.cleo) });
    const { data } = await world.cleo.client.from('document_links').select('id').single().throwOnError();
    await world.server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [
      world.ben.id,
    ]);
    await share(world.ben, { documentId: await storeDocument(world.ben), replaces: data.id as string });
    await world.server.admin.query(`update public.profiles set subscription_plan = 'free' where id = $1`, [
      world.ben.id,
    ]);
    expect((await open(path)).status).toBe(200);
  });

  test.each([
    {},
    { days: 7 },
    { documentId: 'x', days: 7 },
    { documentId: 7, days: 7 },
    { documentId: crypto.randomUUID(), reviewId: crypto.randomUUID(), days: 7 },
    { documentId: crypto.randomUUID(), days: 365 },
    { documentId: crypto.randomUUID(), days: '7' },
    { documentId: crypto.randomUUID(), days: 7, replaces: "' or true" },
  ])('refuses the body %j', async (body) => {
    expect(await create(world.cleo, body)).toMatchObject({ status: 400, json: { error: LINK_MESSAGES.invalid } });
  });

  test.each([7, 30, 90])('makes a link that ends after %s days, or by the id in its answer', async (days) => {
    const answer = (await create(world.cleo, { documentId: await storeDocument(world.cleo), days })).json as LinkAnswer;
    const hours = (new Date(answer.expiresAt).getTime() - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(days * 24 - 0.1);
    expect(hours).toBeLessThanOrEqual(days * 24);
    await world.cleo.client.from('document_links').delete().eq('id', answer.id).throwOnError();
    expect((await open(new URL(answer.url).pathname)).status).toBe(404);
  });

  test('says when too many links live, and forgets those that have ended', async () => {
    const documentId = await storeDocument(world.cleo);
    for (let count = 0; count < MAX_LINKS; count += 1) await share(world.cleo, { documentId });
    expect(await create(world.cleo, { documentId, days: 7 })).toMatchObject({
      status: 409,
      json: { error: LINK_MESSAGES.tooMany },
    });
    await world.server.admin.query('update public.document_links set expires_at = now()');
    await share(world.cleo, { documentId });
    const { rows } = await world.server.admin.query('select from public.document_links');
    expect(rows).toHaveLength(1);
  });

  test('gives no client a token of its own choice', async () => {
    const documentId = await storeDocument(world.cleo);
    const chosen = { user_id: world.cleo.id, document_id: documentId, token_hash: '\\x00', expires_at: '2099-01-01' };
    const { error } = await world.cleo.client.from('document_links').insert(chosen);
    expect(error?.code).toBe('PGRST204');
    const { error: changed } = await world.cleo.client
      .from('document_links')
      .update({ expires_at: '2099-01-01' })
      .eq('user_id', world.cleo.id);
    expect(changed?.code).toBe('42501');
  });
});

test('other methods than GET and HEAD get no document', async () => {
  const path = await share(world.cleo, { documentId: await storeDocument(world.cleo) });
  const head = await open(path, 'HEAD');
  expect([head.status, head.text]).toEqual([200, '']);
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const { status, text } = await open(path, method);
    expect(status).toBe(404);
    expect(text).not.toContain('My year');
  }
});

test('no token is logged, and views of one network address are limited', async () => {
  const lines: string[] = [];
  const server = await startTestServer({
    settings: { AUTH_RATE_LIMITS: 'on' },
    logTo: { write: (line) => void lines.push(line) },
  });
  const token = randomBytes(32).toString('base64url');
  const view = () => request(server, null, 'GET', `/s/${token}`);
  let answer = await view();
  expect(answer.status).toBe(404);
  for (let views = 1; views < 100 && answer.status === 404; views += 1) answer = await view();
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  await server.close();
  expect(lines.some((line) => line.includes('"/s/:token"'))).toBe(true);
  expect(lines.join('\n')).not.toContain(token);
});
