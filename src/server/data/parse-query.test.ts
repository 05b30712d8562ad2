import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { DataError, MAX_ROWS } from './errors.ts';
import { EXPOSED_TABLES } from './exposed-tables.ts';
import { parseAccept, parsePreferences, applyRangeHeader } from './parse-headers.ts';
import { parseQuery } from './parse-query.ts';
import { parseChanges, parseBody, parseInsertRows } from './parse-rows.ts';
import type { Condition, Range } from './query.ts';

const entries = EXPOSED_TABLES.get('entries')!;
const column = (name: string) => entries.columns.get(name)!;
const where = (search: string) => parseQuery(entries, search).where;

function errorOf(act: () => unknown): DataError {
  try {
    act();
  } catch (error) {
    if (error instanceof DataError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

describe('select', () => {
  test('selects columns once each, quoted or not', () => {
    expect(parseQuery(entries, 'select=date,"content",date').select.map(({ name }) => name)).toEqual([
      'date',
      'content',
    ]);
  });
  test.each(['', 'select=*', 'select=', 'select=*,id'])('%j selects every column', (search) => {
    expect(parseQuery(entries, search).select).toHaveLength(entries.columns.size);
  });
  test.each([
    ['select=nope', '42703'],
    ['select=__proto__', '42703'],
    ['select=constructor', '42703'],
    ['select=day:date', 'PGRST100'],
    ['select=date::text', 'PGRST100'],
    ['select=content->a', 'PGRST100'],
    ['select=id,profiles(id)', 'PGRST200'],
    ['select=count()', 'PGRST123'],
    ['select=hustle_score.avg()', 'PGRST123'],
  ])('%s is rejected with %s', (search, code) => {
    expect(errorOf(() => parseQuery(entries, search))).toMatchObject({ status: 400, code });
  });
});

describe('filters', () => {
  const date = { column: column('date') };
  test.each<[string, Condition]>([
    ['date=eq.2026-11-21', { kind: 'compare', ...date, operator: 'eq', negated: false, value: '2026-11-21' }],
    ['date=not.lt.2026-11-21', { kind: 'compare', ...date, operator: 'lt', negated: true, value: '2026-11-21' }],
    ['date=eq.', { kind: 'compare', ...date, operator: 'eq', negated: false, value: '' }],
    ['date=eq.a.b,c)"d', { kind: 'compare', ...date, operator: 'eq', negated: false, value: 'a.b,c)"d' }],
    ['date=isdistinct.x', { kind: 'compare', ...date, operator: 'isdistinct', negated: false, value: 'x' }],
    ['date=is.null', { kind: 'is', ...date, negated: false, value: 'null' }],
    ['date=not.is.NULL', { kind: 'is', ...date, negated: true, value: 'null' }],
    ['date=is.not_null', { kind: 'is', ...date, negated: false, value: 'not_null' }],
    [
      'date=in.(a,"b,)",)',
      { kind: 'each', ...date, operator: 'eq', of: 'any', negated: false, values: ['a', 'b,)', ''] },
    ],
    ['date=not.in.()', { kind: 'each', ...date, operator: 'eq', of: 'any', negated: true, values: [] }],
    ['date=like.a*', { kind: 'compare', ...date, operator: 'like', negated: false, value: 'a%' }],
    [
      'date=ilike(all).{a*,"b}"}',
      { kind: 'each', ...date, operator: 'ilike', of: 'all', negated: false, values: ['a%', 'b}'] },
    ],
  ])('%s', (search, condition) => {
    expect(where(search)).toEqual([condition]);
  });

  test.each([
    ['date=in.( a, b )', 'date=in.(a,b)'],
    ['date=in.( "a" , "b" )', 'date=in.(a,b)'],
    ['date=eq(any).{ a, "b" }', 'date=eq(any).{a,b}'],
    ['content=like(any).{a , b}', 'content=like(any).{a,b}'],
    ['or=( date.eq.a , content.eq.b)', 'or=(date.eq.a,content.eq.b)'],
    [
      ' or= (date.eq.a, and ( id.is.null , not.or( date .eq.b) ) ) '.trim(),
      'or=(date.eq.a,and(id.is.null,not.or(date.eq.b)))',
    ],
    ['or=( "content".eq."b c" , date.in.( a , b ) )', 'or=(content.eq."b c",date.in.(a,b))'],
    ['or=(date.eq.a\t,\tdate.eq.b)', 'or=(date.eq.a,date.eq.b)'],
  ])('%s: spaces around commas and parentheses are no part of a value', (spaced, plain) => {
    expect(where(spaced)).toEqual(where(plain));
  });

  test('random spaces around the signs of a random group change nothing', () => {
    const { tree } = fc.letrec<{ tree: string[]; leaf: string[] }>((tie) => ({
      leaf: fc.oneof(
        fc
          .tuple(fc.constantFrom('date', 'id', 'revision', '"date"'), fc.constantFrom('a', '"b,)"', '7'))
          .map(([name, value]) => [name, '.eq.', '', value]),
        fc
          .array(fc.constantFrom('a', '"b,)"'), { minLength: 1, maxLength: 3 })
          .map((items) => [
            ...['date', '.in.(', ...items.flatMap((item, index) => (index === 0 ? [item] : [',', item]))],
            ')',
          ]),
        fc.constantFrom('.is.null', '.not.is.null').map((operation) => ['id', operation]),
      ),
      tree: fc
        .tuple(
          fc.constantFrom('and', 'or', 'not.and'),
          fc.array(fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('tree')), { minLength: 1, maxLength: 3 }),
        )
        .map(([name, parts]) => [
          name,
          '(',
          ...parts.flatMap((part, index) => (index === 0 ? part : [',', ...part])),
          ')',
        ]),
    }));
    const spaces = fc.array(fc.constantFrom('', ' ', '\t '), { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(tree, spaces, (tokens, gaps) => {
        // An empty token stands between an operator and its value, where a space would be part of the value.
        const spaced = tokens
          .map((token, index) => (tokens[index - 1] === '' || token === '' ? token : `${gaps[index % 9]}${token}`))
          .join('');
        const group = (text: string): Condition[] => [...where(new URLSearchParams({ or: `(${text})` }).toString())];
        expect(group(spaced)).toEqual(group(tokens.join('')));
      }),
      { numRuns: fuzzBudget(1_000) },
    );
  });

  test('spaces within a list of texts are part of them, except after the parenthesis', () => {
    expect(where('content=in.( a, b c,"d ")')).toMatchObject([{ values: ['a', ' b c', 'd '] }]);
    expect(where('content=eq. a &date=eq. b ')).toMatchObject([{ value: ' a ' }, { value: ' b ' }]);
  });

  test('accepts several filters on the same column', () => {
    expect(where('date=gte.a&date=lt.b')).toHaveLength(2);
  });

  test('counts the conditions in groups towards the limit', () => {
    const group = (count: number): string => `or=(${Array.from({ length: count }, () => 'date.is.null').join(',')})`;
    expect(() => where([group(49), group(49)].join('&'))).not.toThrow();
    expect(() => where([group(50), group(49)].join('&'))).toThrow('could not be parsed');
    expect(() => where(`and=(${[group(50), group(50)].join(',').replaceAll('=', '')})`)).toThrow('could not be parsed');
  });

  test('accepts nested groups', () => {
    const search = 'not.or=(date.eq.a,"content".not.like."x,y\\")*",not.and(date.in.(a,b),id.is.null))';
    expect(where(search)).toEqual([
      {
        kind: 'group',
        joined: 'or',
        negated: true,
        conditions: [
          { kind: 'compare', ...date, operator: 'eq', negated: false, value: 'a' },
          { kind: 'compare', column: column('content'), operator: 'like', negated: true, value: 'x,y")%' },
          {
            kind: 'group',
            joined: 'and',
            negated: true,
            conditions: [
              { kind: 'each', ...date, operator: 'eq', of: 'any', negated: false, values: ['a', 'b'] },
              { kind: 'is', column: column('id'), negated: false, value: 'null' },
            ],
          },
        ],
      },
    ]);
  });

  test.each([
    ['date=2026-11-21', 'PGRST100'],
    ['date=', 'PGRST100'],
    ['date=equals.x', 'PGRST100'],
    ['date=not.not.eq.x', 'PGRST100'],
    ['date=match.x', 'PGRST100'],
    ['date=is.maybe', 'PGRST100'],
    ['date=in.a,b', 'PGRST100'],
    ['date=in.(a', 'PGRST100'],
    ['date=in.(a)b', 'PGRST100'],
    ['date=in.("a"b)', 'PGRST100'],
    ['date=eq(some).x', 'PGRST100'],
    ['or=date.eq.x', 'PGRST100'],
    ['or=()', 'PGRST100'],
    ['or=(date.eq.x', 'PGRST100'],
    ['or=(date.eq.x)x', 'PGRST100'],
    ['or=(date.eq."x"y)', 'PGRST100'],
    ['nope=eq.x', '42703'],
    ['__proto__=eq.x', '42703'],
    ['constructor=eq.x', '42703'],
    ['profiles.id=eq.x', '42703'],
    ['or=(nope.eq.x)', '42703'],
    ['date=eq.%00', '22P05'],
    [`or=${'(and'.repeat(40)}`, 'PGRST100'],
    [`or=(${'and('.repeat(40)}date.eq.x${')'.repeat(41)}`, 'PGRST100'],
    [`or=(${'date.eq.x,'.repeat(400)}date.eq.x)`, 'PGRST100'],
    ['date=eq.x&'.repeat(400), 'PGRST100'],
  ])('%s is rejected with %s', (search, code) => {
    const error = errorOf(() => where(search));
    expect(error).toMatchObject({ status: 400, code });
    expect(error.message.length).toBeLessThan(300);
  });
});

describe('order, limit and offset', () => {
  test('parses columns, directions and nulls of order', () => {
    expect(parseQuery(entries, 'order=date.desc.nullslast,id,revision.nullsfirst,date.asc').order).toEqual([
      { column: column('date'), descending: true, nulls: 'last' },
      { column: column('id'), descending: false, nulls: null },
      { column: column('revision'), descending: false, nulls: 'first' },
    ]);
  });
  test('reads an order of many spaces in linear time', () => {
    // Quadratic time would exceed the test's timeout.
    for (const term of ['date', 'date.', ''])
      expect(() => parseQuery(entries, `order=${term}${'+'.repeat(300_000)}x`)).toThrow();
  });
  test('ignores spaces around the terms of order', () => {
    expect(parseQuery(entries, 'order= date.desc , id ,revision .asc.nullsfirst').order).toEqual(
      parseQuery(entries, 'order=date.desc,id,revision.asc.nullsfirst').order,
    );
  });
  test.each([
    ['order=date.down', 400, 'PGRST100'],
    ['order=date.desc.nullslast.x', 400, 'PGRST100'],
    ['order=nope', 400, '42703'],
    ['limit=-1', 416, 'PGRST103'],
    ['offset=-1', 416, 'PGRST103'],
    ['limit=ten', 400, 'PGRST100'],
    ['limit=1e3', 400, 'PGRST100'],
  ])('%s is rejected: %d %s', (search, status, code) => {
    expect(errorOf(() => parseQuery(entries, search))).toMatchObject({ status, code });
  });
  test('caps a huge limit at the largest safe integer', () => {
    expect(parseQuery(entries, 'limit=99999999999999999999').range.limit).toBe(Number.MAX_SAFE_INTEGER);
  });
  test.each<[Range, string, Range]>([
    [{ offset: 0, limit: null }, '5-9', { offset: 5, limit: 5 }],
    [{ offset: 0, limit: null }, 'items=5-', { offset: 5, limit: null }],
    [{ offset: 0, limit: 3 }, '0-9', { offset: 0, limit: 3 }],
    [{ offset: 0, limit: 20 }, '5-9', { offset: 5, limit: 5 }],
    [{ offset: 8, limit: 20 }, '5-9', { offset: 8, limit: 2 }],
    [{ offset: 2, limit: null }, '0-9', { offset: 2, limit: 8 }],
    [{ offset: 0, limit: 8 }, '5-', { offset: 5, limit: 3 }],
    [{ offset: 0, limit: 0 }, '5-9', { offset: 0, limit: 0 }],
    [{ offset: 1, limit: 2 }, 'bytes', { offset: 1, limit: 2 }],
  ])('limit and offset %o with the Range header %s give the rows of both', (range, header, expected) => {
    expect(applyRangeHeader(range, header)).toEqual(expected);
  });
  test.each<[Range, string]>([
    [{ offset: 0, limit: null }, '9-5'],
    [{ offset: 0, limit: 3 }, '5-9'],
    [{ offset: 10, limit: null }, '5-9'],
  ])('limit and offset %o with the Range header %s are rejected without a row in common', (range, header) => {
    expect(errorOf(() => applyRangeHeader(range, header))).toMatchObject({ status: 416, code: 'PGRST103' });
  });
});

describe('headers', () => {
  test('parses preferences and lists the applied ones', () => {
    expect(parsePreferences('return=representation, count=exact,tx=commit')).toMatchObject({
      representation: true,
      count: true,
      applied: ['return=representation', 'count=exact'],
    });
  });
  test('applies the first of two conflicting preferences', () => {
    expect(parsePreferences('return=minimal,return=representation').representation).toBe(false);
  });
  test('rejects unknown preferences with handling=strict', () => {
    expect(errorOf(() => parsePreferences('handling=strict, a=b'))).toMatchObject({ code: 'PGRST122' });
    expect(parsePreferences('handling=lenient, a=b, handling=strict').applied).toEqual(['handling=lenient']);
  });
  test.each([undefined, '*/*', 'application/json', 'text/html, application/json;q=0.9', 'application/*'])(
    'Accept %s selects an array',
    (header) =>
      expect(parseAccept(header)).toEqual({ single: false, omitsNulls: false, contentType: 'application/json' }),
  );
  test.each([
    ['application/vnd.pgrst.array+json', false, false, 'application/json'],
    ['application/vnd.pgrst.array+json;nulls=stripped', false, true, 'application/vnd.pgrst.array+json;nulls=stripped'],
    ['application/vnd.pgrst.object+json', true, false, 'application/vnd.pgrst.object+json'],
    [
      'text/csv, Application/vnd.pgrst.object+json; Nulls=stripped',
      true,
      true,
      'application/vnd.pgrst.object+json;nulls=stripped',
    ],
    ['application/json;nulls=stripped', false, false, 'application/json'],
  ])('Accept %s', (header, single, omitsNulls, contentType) => {
    expect(parseAccept(header)).toEqual({ single, omitsNulls, contentType });
  });
  test('rejects Accept text/csv', () => {
    expect(errorOf(() => parseAccept('text/csv'))).toMatchObject({ status: 406, code: 'PGRST107' });
  });
});

describe('rows', () => {
  test('columns= selects the written keys, and missing keys are null', () => {
    const columns = [column('date'), column('content')];
    expect(parseInsertRows(entries, [{ date: 'a', other: 1 }, { content: 'b' }], columns).rows).toEqual([
      ['a', null],
      [null, 'b'],
    ]);
  });
  test.each([
    ['rows with different keys', [{ date: 'a' }, { content: 'b' }], 'PGRST102'],
    [
      'equally many but different keys',
      [
        { date: 'a', content: 'b' },
        { date: 'a', id: 'b' },
      ],
      'PGRST102',
    ],
    ['an array of texts', ['a'], 'PGRST102'],
    ['an array of arrays', [[]], 'PGRST102'],
    ['null', null, 'PGRST102'],
    ['a number', 5, 'PGRST102'],
    ['an unknown column', { nope: 1 }, 'PGRST204'],
    ['the prototype', JSON.parse('{"__proto__":{"admin":true}}'), 'PGRST204'],
    ['a constructor', { constructor: 1 }, 'PGRST204'],
    ['an object as a value', { content: { a: 1 } }, '22P02'],
    ['an array as a value', { content: [1] }, '22P02'],
  ])('rejects %s', (_what, body, code) => {
    expect(errorOf(() => parseInsertRows(entries, body, null))).toMatchObject({ code, status: 400 });
  });
  test('missing=default leaves out what a row omits, if the column has a default', () => {
    const columns = ['id', 'date', 'updated_at'].map(column);
    const rows = [{ id: 'a', date: 'b' }, { updated_at: null }];
    expect(parseInsertRows(entries, rows, columns, true).rows).toEqual([
      ['a', 'b', undefined],
      [undefined, null, null],
    ]);
    expect(parseChanges(entries, { date: 'b' }, columns, true).rows).toEqual([[undefined, 'b', undefined]]);
  });
  test('accepts one object for an update', () => {
    expect(parseChanges(entries, [{ date: 'a' }], null).rows).toEqual([['a']]);
    expect(errorOf(() => parseChanges(entries, [], null))).toMatchObject({ code: 'PGRST102' });
  });
});

describe('the body of a write', () => {
  const rows = (count: number, row: unknown = { date: 'a', content: '{[,' }) =>
    JSON.stringify(Array.from({ length: count }, () => row));
  const everyColumn = Object.fromEntries([...entries.columns.keys()].map((name) => [name, '']));

  test('can hold MAX_ROWS rows with every column', () => {
    expect(parseBody(entries, rows(MAX_ROWS, everyColumn))).toHaveLength(MAX_ROWS);
  });
  test.each([rows(MAX_ROWS + 1), rows(90_500, {})])('is rejected with 54023 above MAX_ROWS rows: %.20s', (body) => {
    expect(errorOf(() => parseBody(entries, body))).toMatchObject({ code: '54023', status: 413 });
  });
  test.each([`{"content":[${'[],'.repeat(100_000)}1]}`, '['.repeat(100_000), `{${'"a":{'.repeat(100_000)}`])(
    'is rejected before parsing when it has too many values: %.20s',
    (body) => {
      expect(errorOf(() => parseBody(entries, body))).toMatchObject({ code: 'PGRST102', details: 'too many values' });
    },
  );
});
