/**
 * Columns that only the server writes: no user changes them by any kind of write. The API rejects some of them and
 * ignores those that clients send along with a save. Grants belong to the role of all users, whatever their plan, and
 * `tests/policies/columns.test.ts` proves them for each column, so one free and one paid plan are enough here.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, earliestToday, type Day } from '#domain/day/day.ts';
import { KINDS as ALL_KINDS, startPlanWorld, type Kind, type PlanWorld } from './fixture.ts';

const AT = new Date('2026-11-01T05:59:59.999Z');
const TODAY = earliestToday(AT);
const NEW_DAY = addDays(TODAY, -1);

const KINDS = ['free', 'endless'] as const satisfies readonly Kind[];

let world: PlanWorld;
beforeAll(async () => {
  world = await startPlanWorld();
  await world.clock.set(AT.toISOString());
});
beforeEach(async () => {
  await world.resetPlans(TODAY);
  for (const kind of ALL_KINDS) await world.insertLogs(world.people[kind], [TODAY]);
});
afterAll(async () => {
  expect(world.errorsLogged).toEqual([]);
  await world.close();
});

const FORBIDDEN = {
  entries: {
    revision: 1,
    content_text: 'other words',
    created_at: '2020-01-01T00:00:00Z',
    id: '11111111-2222-4333-8444-555555555555',
  },
  profiles: {
    subscription_plan: 'premium',
    access_valid_until: '2099-12-31',
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2020-01-01T00:00:00Z',
  },
} as const;
const KEPT = {
  ai_feedback: 'You did great.',
  hustle_score: 10,
  ai_analyzed_at: '2030-01-01T00:00:00Z',
  updated_at: '2030-01-01T00:00:00Z',
} as const;
type Table = keyof typeof FORBIDDEN;
const CELLS = (Object.keys(FORBIDDEN) as Table[]).flatMap((table) =>
  Object.entries(FORBIDDEN[table]).flatMap(([column, value]) => [[table, column, value] as const]),
);

/** A row that this user may write. With `other` the row of `entries` is for a day without a log. */
function ownRow(table: Table, kind: Kind, other = false): Record<string, unknown> {
  const { id } = world.people[kind];
  if (table === 'profiles') return { id, country: 'NL' };
  return { user_id: id, date: other ? NEW_DAY : TODAY, content: '<p>new</p>' };
}
const ownFilter = (table: Table, kind: Kind) =>
  `${table === 'profiles' ? 'id' : 'user_id'}=eq.${world.people[kind].id}`;

async function readAll(table: Table): Promise<unknown> {
  const order = table === 'profiles' ? 'id' : 'user_id, date';
  return (await world.server.admin.query(`select * from public.${table} order by ${order}`)).rows;
}

const names = (row: object): string => Object.keys(row).join(',');
type Way = (table: Table, kind: Kind, change: Record<string, unknown>) => [string, string, unknown, string?];
/** Method, path, body and preferences of each way to write a column. */
const WAYS: Record<string, Way> = {
  PATCH: (table, kind, change) => ['PATCH', `${table}?${ownFilter(table, kind)}`, change],
  'PATCH beside a granted column': (table, kind, change) => {
    const granted = table === 'profiles' ? { country: 'NL' } : { content: '<p>new</p>' };
    return ['PATCH', `${table}?${ownFilter(table, kind)}`, { ...granted, ...change }];
  },
  'PATCH columns=': (table, kind, change) => [
    'PATCH',
    `${table}?${ownFilter(table, kind)}&columns=${names(change)}`,
    change,
  ],
  'PATCH of no row': (table, _kind, change) => [
    'PATCH',
    `${table}?${table === 'profiles' ? 'id' : 'user_id'}=eq.00000000-0000-4000-8000-000000000000`,
    change,
  ],
  POST: (table, kind, change) => ['POST', table, { ...ownRow(table, kind, true), ...change }],
  'POST columns=': (table, kind, change) => {
    const row = { ...ownRow(table, kind, true), ...change };
    return ['POST', `${table}?columns=${names(row)}`, row];
  },
  'POST columns= without a value': (table, kind, change) => {
    const row = ownRow(table, kind, true);
    return ['POST', `${table}?columns=${names({ ...row, ...change })}`, row, 'missing=default'];
  },
  'upsert of the own row': (table, kind, change) => [
    'POST',
    table,
    { ...ownRow(table, kind), ...change },
    'resolution=merge-duplicates',
  ],
  'upsert of a new row': (table, kind, change) => [
    'POST',
    table,
    [{ ...ownRow(table, kind, true), ...change }],
    'resolution=merge-duplicates',
  ],
  'upsert columns=': (table, kind, change) => {
    const row = { ...ownRow(table, kind), ...change };
    return ['POST', `${table}?columns=${names(row)}`, row, 'resolution=merge-duplicates'];
  },
  'upsert that ignores duplicates': (table, kind, change) => [
    'POST',
    table,
    { ...ownRow(table, kind), ...change },
    'resolution=ignore-duplicates',
  ],
};

/** Ways that only insert rows. They may set `id`, which a browser chooses (docs/specification/days-and-saving.md). */
const INSERTS = ['POST', 'POST columns=', 'POST columns= without a value', 'upsert that ignores duplicates'];

describe.each(Object.entries(WAYS))('by %s', (name, way) => {
  const cells = CELLS.filter(([, column]) => column !== 'id' || !INSERTS.includes(name));

  test.each(KINDS)('the plan %s writes no server column', async (kind) => {
    for (const [table, column, value] of cells) {
      const before = await readAll(table);
      for (const change of [{ [column]: value }, { [column]: null }]) {
        const [method, path, body, prefer] = way(table, kind, change);
        const answer = await world.request(world.people[kind], method, `/rest/v1/${path}`, {
          body,
          headers: prefer ? { prefer } : {},
        });
        expect({ column, status: answer.status, json: answer.json }).toMatchObject({
          column,
          status: 403,
          json: { code: '42501', message: `permission denied for table ${table}` },
        });
      }
      expect(await readAll(table)).toEqual(before);
    }
  });

  test.each(KINDS)('values of the plan %s for server columns are ignored', async (kind) => {
    const own = `select to_jsonb(entries) as row from public.entries where user_id = $1 and date = $2`;
    const rowAt = async (date: Day) =>
      (await world.server.admin.query<{ row: object }>(own, [world.people[kind].id, date])).rows[0]?.row;
    const analysed = { ai_feedback: 'Good.', hustle_score: 7, ai_analyzed_at: '2026-10-31T00:00:00+00:00' };
    const none = { ai_feedback: null, hustle_score: null, ai_analyzed_at: null };
    await world.server.admin.query(
      'update public.entries set ai_feedback = $2, hustle_score = $3, ai_analyzed_at = $4 where user_id = $1',
      [world.people[kind].id, ...Object.values(analysed)],
    );
    for (const change of [...Object.entries(KEPT).map(([column, value]) => ({ [column]: value })), KEPT]) {
      const [method, path, body, prefer] = way('entries', kind, change);
      const answer = await world.request(world.people[kind], method, `/rest/v1/${path}`, {
        body,
        headers: prefer ? { prefer } : {},
      });
      expect([200, 201, 204]).toContain(answer.status);
      expect(await rowAt(TODAY)).toMatchObject(analysed);
      const begun = await rowAt(NEW_DAY);
      if (begun) expect(begun).toMatchObject(none);
      for (const row of [await rowAt(TODAY), begun]) {
        if (row) expect((row as { updated_at: string }).updated_at < KEPT.updated_at).toBe(true);
      }
      await world.server.admin.query('delete from public.entries where date = $1', [NEW_DAY]);
    }
  });

  test('the same request writes granted columns', async () => {
    const granted = { entries: { content: '<p>new</p>' }, profiles: { ai_consent: true } } as const;
    for (const table of ['entries', 'profiles'] as const) {
      const [method, path, body, prefer] = way(table, 'free', granted[table]);
      const answer = await world.request(world.people.free, method, `/rest/v1/${path}`, {
        body,
        headers: prefer ? { prefer } : {},
      });
      // Sign-up creates the profile, so inserting it again returns 409, not 403.
      expect(table === 'profiles' ? [200, 201, 204, 409] : [200, 201, 204]).toContain(answer.status);
    }
  });
});

test.each(KINDS)('columns= drops the other values of the plan %s', async (kind) => {
  const { id } = world.people[kind];
  const profile = { id, country: 'NL', subscription_plan: 'premium', access_valid_until: '2099-12-31' };
  const log = { ...ownRow('entries', kind), hustle_score: 10, ai_feedback: 'great', ai_analyzed_at: AT };
  const plans = 'select id, subscription_plan, access_valid_until from public.profiles order by id';
  const before = (await world.server.admin.query(plans)).rows;
  const headers = { prefer: 'resolution=merge-duplicates' };
  const asked = [
    await world.request(world.people[kind], 'POST', '/rest/v1/profiles?columns=id,country', { body: profile, headers }),
    await world.request(world.people[kind], 'PATCH', `/rest/v1/profiles?id=eq.${id}&columns=country`, {
      body: profile,
    }),
    await world.request(world.people[kind], 'POST', '/rest/v1/entries?columns=user_id,date,content', {
      body: log,
      headers,
    }),
    await world.request(world.people[kind], 'PATCH', `/rest/v1/entries?user_id=eq.${id}&columns=content`, {
      body: log,
    }),
  ];
  expect(asked.map(({ status }) => status)).toEqual([200, 204, 200, 204]);
  expect((await world.server.admin.query(plans)).rows).toEqual(before);
  const { data } = await world.people[kind].client.from('entries').select().single();
  expect(data).toMatchObject({ revision: 2, hustle_score: null, ai_feedback: null, ai_analyzed_at: null });
});

describe.each(KINDS)('a row of %s cannot be renamed', (kind) => {
  const other: Kind = kind === 'free' ? 'endless' : 'free';

  test.each([
    ["to somebody else's user", () => ['entries', { user_id: world.people[other].id }] as const],
    ['to nobody', () => ['entries', { user_id: '00000000-0000-4000-8000-000000000000' }] as const],
    ['to a day that has begun nowhere', () => ['entries', { date: addDays(TODAY, 3) }] as const],
    ["to somebody else's profile", () => ['profiles', { id: world.people[other].id }] as const],
  ])('%s', async (_where, change) => {
    const [table, body] = change();
    const before = await readAll(table);
    const answer = await world.request(world.people[kind], 'PATCH', `/rest/v1/${table}?${ownFilter(table, kind)}`, {
      body,
    });
    expect(answer).toMatchObject({ status: 403, json: { code: '42501' } });
    for (const prefer of ['return=minimal', 'resolution=merge-duplicates', 'resolution=ignore-duplicates']) {
      const inserted = await world.request(world.people[kind], 'POST', `/rest/v1/${table}`, {
        body: { ...ownRow(table, kind), ...body },
        headers: { prefer },
      });
      expect(inserted).toMatchObject({ status: 403, json: { code: '42501' } });
    }
    expect(await readAll(table)).toEqual(before);
  });
});

test.each(KINDS)('the plan %s deletes no profile, and a guest writes no row of that user', async (kind) => {
  const { id } = world.people[kind];
  const before = [await readAll('entries'), await readAll('profiles')];
  expect((await world.request(world.people[kind], 'DELETE', `/rest/v1/profiles?id=eq.${id}`)).status).toBe(403);
  for (const [method, path, body] of [
    ['PATCH', `entries?user_id=eq.${id}`, { content: 'x' }],
    ['DELETE', `entries?user_id=eq.${id}`, undefined],
    ['POST', 'entries', ownRow('entries', kind, true)],
    ['PATCH', `profiles?id=eq.${id}`, { country: 'NL' }],
  ] as const) {
    expect((await world.request(null, method, `/rest/v1/${path}`, { body })).status).toBe(401);
  }
  expect([await readAll('entries'), await readAll('profiles')]).toEqual(before);
});
