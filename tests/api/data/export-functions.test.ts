import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addDays, dayLabel } from '#domain/day/day.ts';
import { ENTRY_MAX_BYTES } from '#domain/log/entry.ts';
import type { AsUser } from '#server/database/database.ts';
import { setUpWorld } from '../../support/set-up.ts';
import { daysAgo, startDataWorld, today, type WireResponse, type Person } from './fixture.ts';

const world = setUpWorld(startDataWorld);

beforeEach(() => world.server.admin.query('delete from public.entries'));
afterEach(() => expect(world.errorsLogged.splice(0)).toEqual([]));

describe('record-export', () => {
  const PATH = '/functions/v1/record-export';
  const usesOf = async ({ id }: Person): Promise<unknown[]> =>
    (await world.server.admin.query('select kind from public.plan_uses where user_id = $1', [id])).rows;

  test("records a premium user's export at most once a minute", async () => {
    await world.server.admin.query(
      `insert into public.plan_uses (user_id, kind, used_at) values ($1, 'export', now() - interval '61 seconds')`,
      [world.cleo.id],
    );
    for (const _ of [1, 2, 3]) {
      expect(await world.request(world.cleo, 'POST', PATH, { body: {} })).toMatchObject({
        status: 200,
        json: { success: true },
      });
    }
    expect(await usesOf(world.cleo)).toEqual([{ kind: 'export' }, { kind: 'export' }]);
  });

  test('rejects a free user, also with another user in the body, with 403 and a guest with 401', async () => {
    expect(await world.request(world.ana, 'POST', PATH, { body: { user_id: world.cleo.id } })).toMatchObject({
      status: 403,
      json: { success: false, error: 'Export is a premium feature. Upgrade to Closer to take your logs with you.' },
    });
    expect(await usesOf(world.ana)).toEqual([]);
    expect((await world.request(null, 'POST', PATH, { body: {} })).status).toBe(401);
  });

  test('rejects an expired plan whose profile still says premium', async () => {
    const { id } = world.ben;
    await world.server.admin.query(
      `update public.profiles set subscription_plan = 'premium', access_valid_until = current_date - 2 where id = $1`,
      [id],
    );
    expect((await world.request(world.ben, 'POST', PATH, { body: {} })).status).toBe(403);
    expect(await usesOf(world.ben)).toEqual([]);
  });
});

describe('import-entries', () => {
  const PATH = '/functions/v1/import-entries';
  const send = (person: Person | null, entries: unknown): Promise<WireResponse> =>
    world.request(person, 'POST', PATH, { body: { entries } });
  const header = (date: Parameters<typeof dayLabel>[0]) => `<h2 class="date-header">${dayLabel(date)}</h2>`;

  type Row = { date: string; content: string; content_text: string; revision: number } & Record<string, unknown>;
  const rowsOf = async (person: Person): Promise<Row[]> => {
    const { data, error } = await person.client.from('entries').select('*').order('date');
    expect(error).toBeNull();
    return data as Row[];
  };
  const versionOf = async (date: string, revision = 1) => {
    const { data } = await world.cleo.client.from('entries').select('id').eq('date', date).single().throwOnError();
    return { id: data.id as string, revision };
  };
  const importEntries = async (entries: unknown): Promise<unknown> => {
    const response = await send(world.cleo, entries);
    expect(response.status, response.text).toBe(200);
    return (response.json as { outcomes: unknown }).outcomes;
  };

  test('writes new days of any age with their feedback', async () => {
    const coach = { hustleScore: 7, feedback: 'Good <b>work</b>', analyzedAt: '2020-03-02T10:11:12.123456+00:00' };
    const date = daysAgo(2_000);
    expect(await importEntries([{ date, content: `${header(date)}<p>x</p>`, ...coach, replaces: null }])).toEqual([
      { date, outcome: 'written' },
    ]);
    expect(await rowsOf(world.cleo)).toMatchObject([
      {
        date,
        content: `${header(date)}<p>x</p>`,
        content_text: 'x',
        hustle_score: 7,
        ai_feedback: 'Good <b>work</b>',
        ai_analyzed_at: '2020-03-02T10:11:12.123456+00:00',
      },
    ]);
  });

  test('responds 503 if the database may not write its files, although PostgreSQL reports a missing right', async () => {
    const { database } = world.server;
    const error = Object.assign(new Error('Read-only file system'), { code: '42501', file: 'md.c' });
    const { asUser } = database;
    vi.spyOn(database, 'asUser').mockImplementation((...args) => {
      const user = asUser(...args);
      const statement: AsUser['statement'] = (text, values) =>
        text.includes('insert into public.entries') ? Promise.reject(error) : user.statement(text, values);
      return { ...user, statement };
    });
    const response = await send(world.cleo, [{ date: today(), content: '<p>Words</p>' }]);
    vi.restoreAllMocks();
    expect(response).toMatchObject({ status: 503, json: { code: 'BUSY' } });
    expect(world.errorsLogged.splice(0)).toHaveLength(1);
  });

  test('does not overwrite a day without a named revision, or with an outdated one', async () => {
    const [first, second] = [daysAgo(2), daysAgo(1)];
    for (const date of [first, second]) {
      await world.cleo.client.from('entries').insert({ user_id: world.cleo.id, date, content: '<p>mine</p>' });
    }
    expect(
      await importEntries([
        { date: first, content: '<p>file</p>', replaces: null, hustleScore: 9 },
        { date: second, content: '<p>file</p>', replaces: await versionOf(second, 7), hustleScore: 9 },
      ]),
    ).toEqual([
      { date: first, outcome: 'changed' },
      { date: second, outcome: 'changed' },
    ]);
    expect((await rowsOf(world.cleo)).map((row) => [row.content_text, row['hustle_score']])).toEqual([
      ['mine', null],
      ['mine', null],
    ]);
  });

  test('replaces the named revision, and restores feedback for unchanged text', async () => {
    const date = daysAgo(3);
    await world.cleo.client.from('entries').insert({ user_id: world.cleo.id, date, content: '<p>mine</p>' });
    const [shown, then] = [await versionOf(date), await versionOf(date, 2)];
    expect(await importEntries([{ date, content: '<p>file</p>', replaces: shown }])).toEqual([
      { date, outcome: 'written' },
    ]);
    expect(await importEntries([{ date, content: '<p>file</p>', replaces: then, feedback: 'Good' }])).toEqual([
      { date, outcome: 'written' },
    ]);
    expect(await rowsOf(world.cleo)).toMatchObject([{ content_text: 'file', ai_feedback: 'Good' }]);
  });

  test('does not overwrite a day that was deleted and recreated with the same revision', async () => {
    const date = daysAgo(3);
    const insertLog = (content: string) =>
      world.cleo.client.from('entries').insert({ user_id: world.cleo.id, date, content }).throwOnError();
    await insertLog('<p>mine</p>');
    const shown = await versionOf(date);
    await world.cleo.client.from('entries').delete().eq('date', date).throwOnError();
    await insertLog('<p>anew</p>');
    expect(await importEntries([{ date, content: '<p>file</p>', replaces: shown, feedback: 'Good' }])).toEqual([
      { date, outcome: 'changed' },
    ]);
    expect(await rowsOf(world.cleo)).toMatchObject([{ content_text: 'anew', revision: 1, ai_feedback: null }]);
  });

  test('replaces a day that was analysed since, and keeps newer feedback for unchanged text', async () => {
    const [same, other] = [daysAgo(4), daysAgo(3)];
    const analysed = `update public.entries set ai_feedback = 'Fresh', hustle_score = 5, ai_analyzed_at = now()`;
    for (const date of [same, other]) {
      await world.cleo.client.from('entries').insert({ user_id: world.cleo.id, date, content: '<p>mine</p>' });
    }
    await world.server.admin.query(analysed);
    const coach = { feedback: 'From the file', hustleScore: 9, analyzedAt: '2020-03-02T10:11:12Z' };
    expect(
      await importEntries([
        { date: same, content: '<p>mine</p>', ...coach, replaces: await versionOf(same) },
        { date: other, content: '<p>file</p>', ...coach, replaces: await versionOf(other) },
      ]),
    ).toEqual([
      { date: same, outcome: 'written' },
      { date: other, outcome: 'written' },
    ]);
    expect(await rowsOf(world.cleo)).toMatchObject([
      { content_text: 'mine', ai_feedback: 'Fresh', hustle_score: 5, revision: 1 },
      { content_text: 'file', ai_feedback: 'From the file', hustle_score: 9, revision: 2 },
    ]);
  });

  test.each([60_000, 30_000_000_000_000])(
    'marks imported feedback as outdated although the file dates it %d ms later than the import',
    async (ms) => {
      const analyzedAt = new Date(Date.now() + ms).toISOString();
      await importEntries([{ date: today(), content: '<p>x</p>', feedback: 'Good', hustleScore: 10, analyzedAt }]);
      const [row] = await rowsOf(world.cleo);
      expect(Date.parse(String(row!['ai_analyzed_at']))).toBeLessThan(Date.parse(String(row!['updated_at'])));
    },
  );

  test('sanitizes content like the data API', async () => {
    const content =
      '<script>alert(1)</script><p onclick="x">a</p><img src=x onerror=alert(1)><a href="javascript:x">b</a>';
    await importEntries([{ date: today(), content }]);
    expect(await rowsOf(world.cleo)).toMatchObject([{ content: `${header(today())}<p>a</p>b` }]);
  });

  test('strips characters from feedback that the coach cannot write, and keeps all others', async () => {
    const said =
      'Well done \u2764\ufe0f \u{1f469}\u200d\u{1f4bb} می\u200cخواهم [1].\n\n- 11,400 euros\tfor <b>Weber</b>';
    const hidden = 'Safe \u202eexe.gpj\u202c\u200b\u{e0041} \u001b[31mred\u0007\u2028- line\u2029';
    const days = [daysAgo(2), daysAgo(1)] as const;
    await importEntries([
      { date: days[0], content: '<p>x</p>', feedback: said },
      { date: days[1], content: '<p>x</p>', feedback: hidden },
    ]);
    expect((await rowsOf(world.cleo)).map((row) => row['ai_feedback'])).toEqual([said, 'Safe exe.gpj [31mred- line']);
  });

  test('rejects each invalid entry with its reason and writes the others', async () => {
    const tooLong = `<p>${'x'.repeat(ENTRY_MAX_BYTES)}</p>`;
    const entries = [
      null,
      { date: '2026-02-30', content: '<p>x</p>' },
      { date: addDays(today(), 3), content: '<p>x</p>' },
      { date: daysAgo(1), content: { toString: 'x' } },
      { date: daysAgo(2), content: tooLong },
      { date: daysAgo(3), content: '<b>'.repeat(3_000) },
      { date: daysAgo(4), content: '<p> </p>' },
      { date: daysAgo(5), content: '<p>x</p>', hustleScore: 11 },
      { date: daysAgo(6), content: '<p>x</p>', replaces: 1 },
      { date: daysAgo(6), content: '<p>x</p>', replaces: { id: world.cleo.id, revision: '1' } },
      { date: daysAgo(6), content: '<p>x</p>', replaces: { id: '\0', revision: 1 } },
      { date: daysAgo(7), content: '<p>x</p>' },
      { date: daysAgo(7), content: '<p>y</p>' },
    ];
    expect(
      ((await importEntries(entries)) as { reason?: string; outcome: string }[]).map(
        (one) => one.reason ?? one.outcome,
      ),
    ).toEqual([
      ...['invalidDate', 'invalidDate', 'futureDay', 'notText', 'tooLong', 'tooDeep', 'empty', 'notText', 'notText'],
      ...['notText', 'notText', 'duplicateDay', 'written'],
    ]);
    expect((await rowsOf(world.cleo)).map((row) => row.content_text)).toEqual(['x']);
  });

  test("writes only the caller's own rows, regardless of the user_id of an entry", async () => {
    const date = daysAgo(1);
    const entry: unknown = JSON.parse(
      `{"__proto__":{"user_id":"${world.ana.id}"},"user_id":"${world.ana.id}","id":"${world.ana.id}","revision":99,"date":"${date}","content":"<p>x</p>"}`,
    );
    await importEntries([entry]);
    expect(await rowsOf(world.ana)).toEqual([]);
    expect(await rowsOf(world.cleo)).toMatchObject([{ user_id: world.cleo.id, revision: 1 }]);
  });

  test.each([undefined, {}, [], 'x', null, Array.from({ length: 51 }, () => ({}))])(
    'rejects entries %#, which are not one to fifty',
    async (entries) => {
      expect(await send(world.cleo, entries)).toMatchObject({ status: 400, json: { success: false } });
    },
  );

  test('accepts two logs of the maximum size and rejects a body over the limit', async () => {
    const largest = `<p>${'"'.repeat(ENTRY_MAX_BYTES - 7)}</p>`;
    const entries = [daysAgo(1), daysAgo(2)].map((date) => ({ date, content: largest }));
    expect(await importEntries(entries)).toEqual(entries.map(({ date }) => ({ date, outcome: 'written' })));
    const response = await world.request(world.cleo, 'POST', PATH, { body: `"${'x'.repeat(4 * 1024 * 1024)}"` });
    expect(response.status).toBe(413);
    // The function record-export keeps its lower limit.
    const other = await world.request(world.cleo, 'POST', '/functions/v1/record-export', {
      body: `"${'x'.repeat(70_000)}"`,
    });
    expect(other.status).toBe(413);
  });
});
