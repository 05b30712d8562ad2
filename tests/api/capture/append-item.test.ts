/** The function `append-item` with a session (docs/specification/capture.md 1). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { appendItems as appendToLog } from '#domain/log/append-items.ts';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import { dayLabel } from '#domain/day/day.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { actAsUser, appendItems } from '#server/data/append-items.ts';
import { createWriteQuota } from '#server/data/write-quota.ts';
import { openDatabase } from '#server/database/connect.ts';
import { createLimiters } from '#server/load/limiters.ts';
import { createLog } from '#server/log.ts';
import { daysAgo, startDataWorld, signUp, today, type DataWorld, type Person } from '../data/fixture.ts';

let world: DataWorld;
beforeAll(async () => {
  world = await startDataWorld();
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const append = (person: Person | null, body: object, headers: Record<string, string> = {}) =>
  world.request(person, 'POST', '/functions/v1/append-item', { body, headers });

const newUser = () => signUp(world.server, `user-${randomUUID()}`);

async function contentOf(person: Person, date = today()): Promise<string | null> {
  const { rows } = await world.server.admin.query<{ content: string }>(
    'select content from public.entries where user_id = $1 and date = $2',
    [person.id, date],
  );
  return rows[0]?.content ?? null;
}

const log = (...items: string[]): string =>
  `<h2 class="date-header">${dayLabel(today())}</h2><ol>${items.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

test('appends to a day with a log and to one without', async () => {
  const person = await newUser();
  const first = await append(person, { text: 'Shipped <it>', date: today() });
  expect(first).toMatchObject({
    status: 200,
    json: { success: true, outcome: 'appended', date: today(), revision: 1 },
  });
  expect(await append(person, { text: '- one\n- two', date: today() })).toMatchObject({
    status: 200,
    json: { outcome: 'appended', revision: 2 },
  });
  expect(await contentOf(person)).toBe(log('Shipped &lt;it&gt;', 'one', 'two'));
});

test('without a date takes the day of the time zone', async () => {
  const person = await newUser();
  for (const timeZone of ['Pacific/Kiritimati', 'Etc/GMT+12']) {
    const date = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(world.server.clock.now());
    expect(await append(person, { text: 'x', time_zone: timeZone })).toMatchObject({ status: 200, json: { date } });
  }
});

test('without a date and a zone takes the preferences of the account', async () => {
  const person = await newUser();
  const preferences = { user_id: person.id, time_zone: 'Pacific/Kiritimati', day_ends_at: 3 };
  expect((await person.client.from('preferences').insert(preferences)).error).toBeNull();
  const at = new Date(world.server.clock.now().getTime() - 3 * 3_600_000);
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati', dateStyle: 'short' }).format(at);
  expect(await append(person, { text: 'x' })).toMatchObject({ status: 200, json: { date } });
});

test('takes the day of the instant at which the text was written', async () => {
  const person = await newUser();
  expect((await person.client.from('preferences').insert({ user_id: person.id, day_ends_at: 3 })).error).toBeNull();
  const written = { text: 'x', at: `${daysAgo(2)}T02:30:00Z`, time_zone: 'Etc/UTC' };
  expect(await append(person, written)).toMatchObject({ status: 200, json: { date: daysAgo(3) } });
  const ahead = new Date(world.server.clock.now().getTime() + 72 * 3_600_000).toISOString();
  const { date } = (await append(person, { text: 'x', time_zone: 'Etc/UTC' })).json as { date: string };
  expect(await append(person, { ...written, at: ahead })).toMatchObject({ json: { date } });
});

test.each([
  ['a time that is none', { text: 'x', at: 'yesterday' }, 400, 'invalid_date'],
  ['a time that does not exist', { text: 'x', at: '2026-13-28T10:00:00Z' }, 400, 'invalid_date'],
  [
    'a time before there were programs',
    { text: 'x', at: '0001-01-01T00:00:00Z', time_zone: 'Etc/UTC' },
    400,
    'invalid_date',
  ],
  ['no text', {}, 400, 'invalid_text'],
  ['an empty text', { text: ' \n ', date: today() }, 400, 'empty'],
  ['a date that does not exist', { text: 'x', date: '2026-02-30' }, 400, 'invalid_date'],
  ['an unknown time zone', { text: 'x', time_zone: 'Mars/Base' }, 400, 'unknown_time_zone'],
  ['neither a date nor a time zone', { text: 'x' }, 400, 'unknown_time_zone'],
  ['a day that has begun nowhere', { text: 'x', date: '9999-12-31' }, 400, 'future_day'],
  ['a locked day', { text: 'x', date: daysAgo(60) }, 403, 'locked_day'],
  ['a text that is too long', { text: 'x'.repeat(16_001), date: today() }, 413, 'too_long'],
  ['too many lines', { text: 'x\n'.repeat(201), date: today() }, 413, 'too_long'],
  ['a key with a line end', { text: 'x', date: today(), key: 'a\nb' }, 400, 'invalid_key'],
])('refuses %s', async (_, body, status, code) => {
  expect(await append(world.ana, body)).toMatchObject({ status, json: { success: false, code } });
  expect(await contentOf(world.ana)).toBeNull();
});

test('refuses a guest, and says nothing of a locked day that has a log', async () => {
  expect((await append(null, { text: 'x', date: today() })).status).toBe(401);
  const person = await newUser();
  await world.server.admin.query('insert into public.entries (user_id, date, content) values ($1, $2, $3)', [
    person.id,
    daysAgo(60),
    '<p>locked</p>',
  ]);
  const [withLog, without] = [
    await append(person, { text: 'x', date: daysAgo(60) }),
    await append(person, { text: 'x', date: daysAgo(61) }),
  ];
  expect(withLog.text).toBe(without.text);
  expect(await contentOf(person, daysAgo(60))).toBe('<p>locked</p>');
});

test('a premium user appends to any past day', async () => {
  expect(await append(world.cleo, { text: 'x', date: daysAgo(400) })).toMatchObject({ status: 200 });
});

test('a log that would become too long stays as it is', async () => {
  const person = await newUser();
  const content = `<p>${'x'.repeat(ENTRY_MAX_BYTES - 20)}</p>`;
  await person.client.from('entries').insert({ user_id: person.id, date: today(), content });
  const before = await contentOf(person);
  expect(await append(person, { text: 'one more', date: today() })).toMatchObject({
    status: 413,
    json: { code: 'full' },
  });
  expect(await contentOf(person)).toBe(before);
});

describe('a key', () => {
  test('appends once, in the header or the body, also if the same request is sent at once', async () => {
    const person = await newUser();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0
          ? append(person, { text: 'once', date: today() }, { 'idempotency-key': key })
          : append(person, { text: 'once', date: today(), key }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    const outcomes = answers.map(({ json }) => (json as { outcome: string }).outcome);
    expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1);
    expect(await contentOf(person)).toBe(log('once'));
  });

  test('that is repeated on the next day appends nothing and names the day of then', async () => {
    const person = await newUser();
    await append(person, { text: 'late', date: daysAgo(1), key: 'night' });
    expect(await append(person, { text: 'late', date: today(), key: 'night' })).toMatchObject({
      status: 200,
      json: { outcome: 'repeated', date: daysAgo(1) },
    });
    expect(await contentOf(person)).toBeNull();
  });

  test('refuses another text, and is another one for another user', async () => {
    const [person, other] = [await newUser(), await newUser()];
    await append(person, { text: 'one', date: today(), key: 'k' });
    expect(await append(person, { text: 'two', date: today(), key: 'k' })).toMatchObject({
      status: 422,
      json: { code: 'key_reused' },
    });
    expect(await append(other, { text: 'two', date: today(), key: 'k' })).toMatchObject({
      json: { outcome: 'appended' },
    });
  });

  test('is not used up by an append that was refused', async () => {
    const person = await newUser();
    expect((await append(person, { text: 'x', date: daysAgo(60), key: 'k' })).status).toBe(403);
    expect((await append(person, { text: 'x', date: today(), key: 'k' })).json).toMatchObject({ outcome: 'appended' });
  });
});

test('appends to every form of a log as the domain says', async () => {
  const person = await newUser();
  const item = (text: string): string => `<li><p>${text}</p></li>`;
  const empty = ['', '<br>'].map(item);
  const lists = ['ol', 'ul'].flatMap((tag) =>
    [
      item('a'),
      ...empty,
      ...empty.map((each) => item('a') + each),
      `<li><p>ä€🚀</p><${tag}>${item('b')}</${tag}></li>`,
    ].map((inner) => `<${tag}>${inner}</${tag}>`),
  );
  const logs = lists.flatMap((list) => ['', '<p></p>', '<p><br></p>', '<p>words</p>'].map((after) => list + after));
  for (const html of [
    ...logs,
    '<p>words</p>',
    '<blockquote><p>x</p></blockquote>',
    '<pre><code>&lt;/li&gt;&lt;/ol&gt;</code></pre>',
  ]) {
    const header = `<h2 class="date-header">${dayLabel(today())}</h2>`;
    await world.server.admin.query(
      `insert into public.entries (user_id, date, content) values ($1, $2, $3)
       on conflict (user_id, date) do update set content = excluded.content`,
      [person.id, today(), header + html],
    );
    expect((await append(person, { text: 'x < y\nz', date: today() })).status).toBe(200);
    expect(await contentOf(person), html).toBe(header + appendToLog(html, ['x < y', 'z']));
  }
});

test('appends and saves at once lose and double nothing', async () => {
  const person = await newUser();
  const { client, id } = person;
  await append(person, { text: 'first', date: today() });
  /** A device that adds its own lines to what it has read, as long as nobody was faster. */
  const saveLine = async (line: string): Promise<void> => {
    for (;;) {
      const { data } = await client.from('entries').select('revision, content').eq('user_id', id).single();
      const content = data!['content'].replace(/<\/ol>$/, `<li><p>${line}</p></li></ol>`);
      const { data: saved } = await client
        .from('entries')
        .update({ content })
        .eq('user_id', id)
        .eq('revision', data!['revision'])
        .select('revision');
      if (saved?.length === 1) return;
    }
  };
  const lines = Array.from({ length: 8 }, (_, index) => `line ${index}`);
  const statuses = await Promise.all(
    lines.map(async (line, index) => {
      if (index % 2 === 0) return saveLine(line).then(() => 200);
      for (;;) {
        const { status } = await append(person, { text: line, date: today(), key: line.replace(' ', '-') });
        if (status !== 503) return status;
      }
    }),
  );
  expect(statuses.every((status) => status === 200)).toBe(true);
  const content = (await contentOf(person))!;
  for (const line of ['first', ...lines]) expect(content.split(`<p>${line}</p>`), line).toHaveLength(2);
});

test('work without a session appends as the user', async () => {
  const { database, clock, config } = world.server;
  const writeQuota = createWriteQuota({ database, clock, config, limiters: createLimiters() });
  const person = await newUser();
  const request = { date: today(), items: ['from a mail'], key: 'mail:1' };
  const user = actAsUser(person.id);
  expect(await appendItems({ database, clock, writeQuota }, user, request)).toMatchObject({ outcome: 'appended' });
  expect(await appendItems({ database, clock, writeQuota }, user, request)).toMatchObject({ outcome: 'repeated' });
  await expect(
    appendItems({ database, clock, writeQuota }, user, { ...request, date: daysAgo(60), key: null }),
  ).rejects.toMatchObject({ reason: 'locked_day' });
  // The identity can append and do nothing else.
  const rows = await database
    .asUser(user.identity)
    .statement('delete from public.entries where user_id = $1', [person.id]);
  expect(rows.rowCount).toBe(0);
  expect(await contentOf(person)).toBe(log('from a mail'));
});

const appendDeps = (database = world.server.database) => {
  const { clock, config } = world.server;
  return { database, clock, writeQuota: createWriteQuota({ database, clock, config, limiters: createLimiters() }) };
};

test('appends of different users that start together share a transaction', async () => {
  const { admin, databaseUrl } = world.server;
  // Without a pooler: only named statements share transactions, and some poolers make the server send unnamed ones.
  const direct = { databaseUrl: new Secret(databaseUrl), dataDir: '' };
  const database = await openDatabase({ config: direct, log: createLog('error') });
  onTestFinished(() => database.close());
  const deps = appendDeps(database);
  const users = await Promise.all(Array.from({ length: 8 }, async () => (await newUser()).id));
  const appendTo = (userId: string, text: string) =>
    appendItems(deps, actAsUser(userId), { date: today(), items: [text], key: text });
  for (const userId of users) await appendTo(userId, 'creates the list');
  /** How many appends of a round have shared each user's transaction, the first user's first. */
  const transactionSizes = async (): Promise<number[]> => {
    await Promise.all(users.map((userId) => appendTo(userId, randomUUID())));
    const { rows } = await admin.query<{ count: number }>(
      `select count(*) over (partition by xmin::text)::int from public.entries where user_id = any($1)
        order by user_id = $2 desc`,
      [users, users[0]],
    );
    return rows.map(({ count }) => count);
  };
  // Rounds are repeated: the first on a connection prepares the statement, and on a busy machine the appends of a round
  // may start in different turns of the event loop.
  await expect.poll(transactionSizes).toEqual(Array(8).fill(8));

  const long = `<ol><li><p>${'x'.repeat(40_000)}</p></li></ol>`;
  await admin.query('update public.entries set content = $2 where user_id = $1', [users[0], long]);
  await expect.poll(transactionSizes).toEqual([1, ...Array(7).fill(7)]);
});

test('appends to a long log that start together are all kept', async () => {
  const { admin } = world.server;
  const deps = appendDeps();
  const person = await newUser();
  const long = `<ol><li><p>${'x'.repeat(200_000)}</p></li></ol>`;
  await admin.query('insert into public.entries (user_id, date, content) values ($1, $2, $3)', [
    person.id,
    today(),
    long,
  ]);
  const texts = Array.from({ length: 24 }, (_, index) => `item ${index}`);
  await Promise.all(
    texts.map((text) => appendItems(deps, actAsUser(person.id), { date: today(), items: [text], key: text })),
  );
  const content = (await contentOf(person))!;
  for (const text of texts) expect(content.split(`<p>${text}</p>`), text).toHaveLength(2);
});
