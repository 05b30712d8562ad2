import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unicodeText } from '../../support/unicode-text.ts';
import { fuzzBudget } from '../../support/fuzz-budget.ts';
import { daysAgo, startDataWorld, today, type DataWorld } from './fixture.ts';

let world: DataWorld;

beforeAll(async () => {
  world = await startDataWorld();
  await world.ana.client
    .from('entries')
    .insert([0, 1, 2].map((count) => ({ user_id: world.ana.id, date: daysAgo(count), content: 'x' })));
  await world.ben.client.from('entries').insert({ user_id: world.ben.id, date: today(), content: 'SECRET OF BEN' });
});
afterAll(async () => {
  await world.close();
});

const COLUMNS = [
  'id',
  'user_id',
  'date',
  'content',
  'content_text',
  'revision',
  'updated_at',
  'hustle_score',
  'nope',
  '__proto__',
];
const OPERATORS = [
  'eq',
  'neq',
  'gt',
  'lte',
  'like',
  'ilike',
  'isdistinct',
  'is',
  'in',
  'like(any)',
  'eq(all)',
  'fts',
  '',
];
const VALUES = [
  '',
  '0',
  '-1',
  '1.5',
  '1e999',
  '99999999999999999999',
  'true',
  'null',
  'NaN',
  'infinity',
  '-infinity',
  'now',
  'today',
  'BC',
  '2026-02-30',
  '2026-13-01',
  '0000-00-00',
  '4714-11-24 BC',
  '294277-01-01',
  '{}',
  '{"',
  '[]',
  '()',
  '(a,b)',
  '(',
  '"',
  '\\',
  '%\\',
  '%',
  '\0',
  '\uD800',
  "'; drop table entries; --",
  '$1',
  '${1}',
  '00000000-0000-0000-0000-000000000000',
  'a'.repeat(5_000),
  '\u202E',
];

const value = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...VALUES) }, unicodeText({ maxLength: 12 }));
const column = fc.constantFrom(...COLUMNS);
const filter = fc
  .tuple(fc.constantFrom('', 'not.'), fc.constantFrom(...OPERATORS), value)
  .map(([not, operator, text]) => `${not}${operator}.${operator === 'in' ? `(${text})` : text}`);
const parameter = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(column, filter) },
  fc.tuple(
    fc.constantFrom('or', 'and', 'not.or'),
    fc.tuple(column, filter).map(([name, text]) => `(${name}.${text})`),
  ),
  fc.tuple(fc.constant('select'), fc.oneof(column, value)),
  fc.tuple(fc.constant('order'), fc.oneof(column, value)),
  fc.tuple(fc.constantFrom('limit', 'offset'), value),
  fc.tuple(fc.constantFrom('on_conflict', 'columns'), fc.oneof(column, value)),
  fc.tuple(value, value),
);
const scalar = fc.oneof(
  value,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant([1]),
  fc.constant({ a: 1 }),
);
const row = fc.dictionary(column, scalar, { maxKeys: 4 });
const body = fc.oneof({ weight: 5, arbitrary: row }, fc.array(row, { maxLength: 3 }), fc.jsonValue());
const prefer = fc
  .subarray([
    'return=representation',
    'return=headers-only',
    'count=exact',
    'resolution=merge-duplicates',
    'missing=default',
    'handling=strict',
    'x=y',
  ])
  .map((parts) => parts.join(','));

/** Random URL parameters. URLSearchParams replaces lone surrogates, which a URL cannot contain. */
const query = fc.array(parameter, { maxLength: 4 }).map((parameters) => new URLSearchParams(parameters).toString());

test('random requests get a typed response, never a 500 and never data of another user', async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'PATCH', 'DELETE'),
      fc.constantFrom('entries', 'entries', 'profiles'),
      query,
      body,
      prefer,
      fc.constantFrom('*/*', 'application/vnd.pgrst.object+json'),
      async (method, table, search, sent, preferences, accept) => {
        const response = await world.request(world.ana, method, `/rest/v1/${table}?${search}`, {
          ...(method !== 'GET' && method !== 'HEAD' && { body: sent }),
          headers: { prefer: preferences, accept },
        });
        seen.add(response.status);
        expect(response.status).toBeLessThan(500);
        expect(response.text).not.toContain('SECRET OF BEN');
        expect(response.text).not.toContain(world.ben.id);
        if (response.status >= 400 && method !== 'HEAD') {
          expect(response.json).toMatchObject({ code: expect.any(String), message: expect.any(String) });
        } else if (response.text !== '') {
          expect(response.json).toBeDefined();
        }
      },
    ),
    { numRuns: fuzzBudget(1_200) },
  );
  expect(world.errorsLogged).toEqual([]);
  expect([...seen]).toEqual(expect.arrayContaining([200, 400]));
  const { rows } = await world.server.admin.query(`select content_text from public.entries where user_id = $1`, [
    world.ben.id,
  ]);
  expect(rows).toEqual([{ content_text: 'SECRET OF BEN' }]);
});
