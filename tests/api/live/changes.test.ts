/** Tests `GET /functions/v1/changes`: a signed-in user learns which of their own days changed, on every server. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Day } from '#domain/day/day.ts';
import { LISTENER_NAME } from '#server/database/changes/change-listener.ts';
import { openDatabase } from '#server/database/connect.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { MAX_STREAMS_PER_USER } from '#server/functions/change-streams.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { readChanges, type ChangesReader, type ReceivedEvent } from '../../support/read-changes.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, signUp, startDataWorld, type Person } from '../data/fixture.ts';

const PATH = '/functions/v1/changes';
const TEXT = '<p>private text</p>';

const world = setUpWorld(startDataWorld);
const readers: ChangesReader[] = [];
let names = 0;

beforeAll(async () => {
  // The server begins to listen for changes after its start, and then sends `resync` to every stream. Either event of
  // this stream shows that it listens.
  const person = await newPerson();
  const reader = await followFromNow(person);
  await insert(person, daysAgo(1));
  await reader.next();
  reader.close();
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});

/** A new user for each test, so that no test hears the changes of another one. */
const newPerson = (): Promise<Person> => signUp(world.server, `live-${(names += 1)}`);

async function follow(
  person: Person,
  { url = world.server.url, lastEventId }: { url?: string; lastEventId?: string } = {},
): Promise<ChangesReader> {
  const reader = await readChanges(
    url,
    person.token,
    lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  );
  readers.push(reader);
  return reader;
}

/** Follows from now on: the first event of a new stream tells the page to read everything once. */
async function followFromNow(person: Person, url?: string): Promise<ChangesReader> {
  const reader = await follow(person, url === undefined ? {} : { url });
  expect((await reader.next()).event).toBe('resync');
  return reader;
}

type Row = { id: string; revision: number };

async function insert(person: Person, date: Day, content = TEXT): Promise<Row> {
  const { data } = await person.client
    .from('entries')
    .insert({ user_id: person.id, date, content })
    .select('id, revision')
    .single()
    .throwOnError();
  return data;
}

const changeOf = ({ event, data }: ReceivedEvent): unknown => ({ event, data });
const expectedChange = (date: Day, { id, revision }: Row) => ({
  event: 'change',
  data: { date, stored: true, id, revision },
});
const expectedRemoval = (date: Day) => ({ event: 'change', data: { date, stored: false } });

describe('a stream', () => {
  test('tells each change of a day without any text', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    const row = await insert(person, daysAgo(1));
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(1), row));

    await person.client.from('entries').update({ content: '<p>more</p>' }).eq('id', row.id).throwOnError();
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(1), { ...row, revision: 2 }));

    await person.client
      .from('entries')
      .update({ date: daysAgo(2) })
      .eq('id', row.id)
      .throwOnError();
    expect(changeOf(await reader.next())).toEqual(expectedRemoval(daysAgo(1)));
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(2), { ...row, revision: 3 }));

    await person.client.from('entries').delete().eq('id', row.id).throwOnError();
    expect(changeOf(await reader.next())).toEqual(expectedRemoval(daysAgo(2)));
    expect(reader.raw()).not.toMatch(/private|more|</);
  });

  test("does not tell the coach's writes, a save without a change or a rejected save", async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    const row = await insert(person, daysAgo(1));
    await reader.next();
    await world.server.database
      .asService('test')
      .statement('update entries set ai_feedback = $2, hustle_score = 5 where id = $1', [row.id, 'Good.']);
    await person.client.from('entries').update({ content: TEXT }).eq('id', row.id).eq('revision', 9).throwOnError();
    const { error } = await person.client
      .from('entries')
      .insert({ user_id: person.id, date: daysAgo(1), content: TEXT });
    expect(error?.code).toBe('23505');
    const next = await insert(person, daysAgo(3));
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(3), next));
  });

  test('does not announce changes that were rolled back', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    for (const date of [daysAgo(1), daysAgo(2)]) {
      const row = await insert(person, date);
      expect(changeOf(await reader.next())).toEqual(expectedChange(date, row));
    }
    const { error } = await person.client
      .from('entries')
      .update({ content: '<p>both</p>' })
      .eq('user_id', person.id)
      .select('id')
      .single();
    expect(error?.code).toBe('PGRST116');
    const work = world.server.database.transactAsService('test', async (service) => {
      await service.statement('delete from entries where user_id = $1', [person.id]);
      await service.statement('select 1 / 0', []);
    });
    await expect(work).rejects.toThrow('division by zero');
    const row = await insert(person, daysAgo(3));
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(3), row));
  });

  test('a user who writes thousands of days makes only their own pages read again', async () => {
    const [ada, bob] = [await newPerson(), await newPerson()];
    const [adas, bobs] = [await followFromNow(ada), await followFromNow(bob)];
    await world.server.database
      .asService('test')
      .statement(
        `insert into entries (user_id, date, content) select $1, current_date - n, $2 from generate_series(1, 5000) n`,
        [ada.id, TEXT],
      );
    expect((await adas.next()).event).toBe('resync');
    const row = await insert(bob, daysAgo(1));
    expect(changeOf(await bobs.next())).toEqual(expectedChange(daysAgo(1), row));
  });

  test("never tells another user's changes, also after a sign-out and a sign-in", async () => {
    const [ada, bob] = [await newPerson(), await newPerson()];
    const reader = await followFromNow(bob);
    await insert(ada, daysAgo(1));
    const first = await insert(bob, daysAgo(2));
    const event = await reader.next();
    expect(changeOf(event)).toEqual(expectedChange(daysAgo(2), first));

    // The same browser: Bob signs out, Ada signs in and continues after Bob's last event.
    await bob.client.auth.signOut();
    const second = await insert(ada, daysAgo(3));
    const adas = await follow(ada, { lastEventId: event.id! });
    // Her second change may be announced before or after the stream begins.
    const events: unknown[] = [];
    do events.push(changeOf(await adas.next()));
    while (!JSON.stringify(events).includes(second.id));
    expect(events).toContainEqual(expectedChange(daysAgo(3), second));
    expect(JSON.stringify(events)).not.toContain(first.id);
  });

  test('replays what was missed after the Last-Event-ID', async () => {
    const person = await newPerson();
    const before = await followFromNow(person);
    const row = await insert(person, daysAgo(1));
    const { id } = await before.next();
    before.close();
    const missed = await insert(person, daysAgo(2));
    // The other stream proves that the server has received the announcement.
    const other = await newPerson();
    const witness = await followFromNow(other);
    await insert(other, daysAgo(1));
    await witness.next();

    const after = await follow(person, { lastEventId: id! });
    const events: ReceivedEvent[] = [];
    do events.push(await after.next());
    while (events.at(-1)!.event !== 'ready');
    // The stream resumes at the millisecond of the last event, so that event may come again.
    expect(events.map(changeOf)).toContainEqual(expectedChange(daysAgo(2), missed));
    expect(JSON.stringify(events)).not.toContain('resync');
    expect(row.id).not.toBe(missed.id);
  });

  test.each(['', 'x', 'AAAAAAAA.1', '../../etc', '99999999999999999999.1'])(
    'asks to read everything after the unknown id %j',
    async (lastEventId) => {
      const person = await newPerson();
      expect((await (await follow(person, { lastEventId })).next()).event).toBe('resync');
    },
  );

  test('does not accept an id of the future', async () => {
    const person = await newPerson();
    const { id } = await (await follow(person)).next();
    const lastEventId = `${id!.split('.')[0]}.999999999`;
    expect((await (await follow(person, { lastEventId })).next()).event).toBe('resync');
  });

  test('sends an import as a request to read everything', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    await world.server.admin.query(
      `insert into entries (user_id, date, content) select $1, current_date - n, $2 from generate_series(1, 500) n`,
      [person.id, TEXT],
    );
    // The server may send the first changes one by one before it has received too many of them.
    let sent = 0;
    while ((await reader.next()).event === 'change') sent += 1;
    expect(sent).toBeLessThan(400);
  });

  test('names row and revision of a locked day only to a user whose plan opens it', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    const date = daysAgo(60);
    const insertRow = (): Promise<{ rows: Row[] }> =>
      world.server.admin.query(
        'insert into entries (user_id, date, content) values ($1, $2, $3) returning id, revision',
        [person.id, date, TEXT],
      );
    await insertRow();
    expect(changeOf(await reader.next())).toEqual({ event: 'change', data: { date, stored: true } });
    await world.server.admin.query(`delete from entries where user_id = $1`, [person.id]);
    expect(changeOf(await reader.next())).toEqual(expectedRemoval(date));

    await world.server.admin.query(`update profiles set subscription_plan = 'premium' where id = $1`, [person.id]);
    const { rows } = await insertRow();
    expect(changeOf(await reader.next())).toEqual(expectedChange(date, rows[0]!));
  });
});

describe('access', () => {
  test('is refused to a guest and to a forged token, and only GET is allowed', async () => {
    expect((await world.request(null, 'GET', PATH)).status).toBe(401);
    const forged = await world.request(null, 'GET', PATH, { headers: { authorization: 'Bearer x.y.z' } });
    expect(forged.status).toBe(401);
    const posted = await world.request(await newPerson(), 'POST', PATH, { body: {} });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('forbids proxies to buffer, cache or transform the stream', async () => {
    const { headers } = (await follow(await newPerson())).response;
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('ends with the session and sends nothing after a sign-out', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    await person.client.auth.signOut({ scope: 'global' });
    await world.server.admin.query('insert into entries (user_id, date, content) values ($1, $2, $3)', [
      person.id,
      daysAgo(1),
      TEXT,
    ]);
    expect(changeOf(await reader.next())).toEqual({ event: 'end', data: { reason: 'session' } });
    await expect(reader.next()).rejects.toThrow('ended');
  });

  test('ends the oldest stream of a user who opens too many', async () => {
    const person = await newPerson();
    const first = await followFromNow(person);
    for (let opened = 1; opened <= MAX_STREAMS_PER_USER; opened += 1) await followFromNow(person);
    expect(changeOf(await first.next())).toEqual({ event: 'end', data: { reason: 'too_many' } });
    const row = await insert(person, daysAgo(1));
    for (const reader of readers.slice(1))
      expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(1), row));
  });
});

describe('several servers', () => {
  test('tells changes of every server, and of other clients of the database', async () => {
    const { config, databaseUrl, clock } = world.server;
    const log = createLog('error');
    const database = await openDatabase({ config: { databaseUrl: new Secret(databaseUrl), dataDir: '' }, log });
    const port = await freePort();
    const second = await serve({ config: { ...config, port }, database, clock, log });
    const url = `http://localhost:${second.port}`;
    try {
      const person = await newPerson();
      const [here, there] = [await followFromNow(person), await followFromNow(person, url)];
      // The second server announced its start, which may reach a stream that is open already.
      const nextChange = async (reader: ChangesReader): Promise<unknown> => {
        for (;;) {
          const event = await reader.next();
          if (event.event !== 'resync') return changeOf(event);
        }
      };
      const row = await insert(person, daysAgo(1));
      for (const reader of [here, there]) expect(await nextChange(reader)).toEqual(expectedChange(daysAgo(1), row));
      await world.server.admin.query('delete from entries where id = $1', [row.id]);
      for (const reader of [here, there]) expect(await nextChange(reader)).toEqual(expectedRemoval(daysAgo(1)));

      await second.stop();
      expect(await nextChange(there)).toEqual({ event: 'end', data: { reason: 'unavailable' } });
    } finally {
      await second.stop();
      await database.close();
    }
  });

  test('asks every page to read again after the connection to the database was lost', async () => {
    const person = await newPerson();
    const reader = await followFromNow(person);
    const { rowCount } = await world.server.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and starts_with(application_name, $1)`,
      [LISTENER_NAME],
    );
    expect(rowCount).toBe(1);
    expect((await reader.next()).event).toBe('resync');
    const row = await insert(person, daysAgo(1));
    expect(changeOf(await reader.next())).toEqual(expectedChange(daysAgo(1), row));
  });
});

// Last, because it moves the clock.
test('ends when the access token expires', async () => {
  const person = await newPerson();
  const reader = await followFromNow(person);
  world.server.clock.advance(3_601_000);
  await world.server.admin.query('insert into entries (user_id, date, content) values ($1, $2, $3)', [
    person.id,
    daysAgo(1),
    TEXT,
  ]);
  expect(changeOf(await reader.next())).toEqual({ event: 'end', data: { reason: 'session' } });
});
