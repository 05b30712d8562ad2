/** Feedback on a day over each provider's own protocol: streaming, storage, reuse and concurrency. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROMPT_VERSION } from '#server/coach/prompts.ts';
import { GOOD_DAY, openStream, PROVIDERS, startCoachWorld, type CoachWorld } from './fixture.ts';
import { daysAgo, today, type Person } from '../data/fixture.ts';

const DATE = { date: today() };

describe.each(PROVIDERS)('%s', (provider) => {
  let world: CoachWorld;
  beforeAll(async () => {
    world = await startCoachWorld({}, provider);
  });
  afterAll(() => world.close());

  test('streams the score, then the text, and sends done after everything is stored', async () => {
    const { cleo, server, model } = world;
    await world.writeLog(cleo, today(), GOOD_DAY);
    const { response, events } = await openStream(server, cleo, 'ai-feedback', DATE);
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toContain('no-store');
    const received = [];
    for await (const event of events!) {
      received.push(event);
      if (event.event !== 'done') continue;
      expect(await world.entry(cleo)).toMatchObject({
        feedback: event.data.feedback,
        score: event.data.score,
        upToDate: true,
      });
      expect(await world.countRows(cleo)).toEqual({ analyses: 1, uses: 1, claims: 0, tries: 1 });
    }
    const [first, ...rest] = received;
    const done = rest.pop()!;
    expect(first).toEqual({ event: 'score', data: { score: 8 } });
    expect(rest.length).toBeGreaterThan(3);
    const text = rest.map((event) => (event.event === 'text' ? event.data.delta : '?')).join('');
    expect(text).toMatch(/^Sandbox model: 3 items.*\[1\] carries the day/);
    expect(done).toEqual({
      event: 'done',
      data: {
        score: 8,
        feedback: text,
        cited: [{ ref: '1', line: 1 }],
        missingFact: null,
        analyzedAt: expect.stringMatching(/Z$/),
        upToDate: true,
        reused: false,
      },
    });
    expect(model.requests()).toMatchObject([{ end: 'whole' }]);
  });

  test('stores the provenance of the analysis', async () => {
    const { rows } = await world.server.admin.query('select * from public.analyses');
    const settings = world.server.config.coach!;
    expect(rows).toEqual([
      expect.objectContaining({
        user_id: world.cleo.id,
        kind: 'feedback',
        provider,
        model: settings.model,
        model_version: `${settings.model}-sandbox`,
        prompt_version: PROMPT_VERSION,
        finish_reason: 'stop',
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        duration_ms: expect.any(Number),
        input_hash: expect.stringMatching(/^[\w-]{43}$/),
        score: 8,
        cited: [1],
        cited_refs: ['1'],
        missing_fact: null,
      }),
    ]);
  });
});

describe('with any provider', () => {
  let world: CoachWorld;
  let closer: Person;
  beforeAll(async () => {
    world = await startCoachWorld();
  });
  beforeEach(async () => {
    world.model.reset();
    closer = await world.createCloser();
    await world.writeLog(closer, today(), GOOD_DAY);
  });
  afterEach(() => {
    expect(world.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });
  afterAll(() => world.close());

  const requestCount = (): number => world.model.requests().length;

  test('sends the model the three earlier logs without short ones, and no tools', async () => {
    await world.writeLog(closer, daysAgo(1), ['ten chars.']);
    await world.writeLog(closer, daysAgo(2), ['Eleven char']);
    await world.writeLog(closer, daysAgo(9), ['The third log before this day']);
    await world.writeLog(closer, daysAgo(10), ['The fourth log before this day']);
    await world.feedback(closer, DATE);
    const { body } = world.model.requests()[0]!;
    const { contents, generationConfig, systemInstruction, tools } = JSON.parse(body);
    const [, data] = /^FENCE .+\n(.+)\nFENCE/m.exec(contents[0].parts[0].text)!;
    expect(JSON.parse(data!)).toMatchObject({
      newest: { date: today(), lines: [{ ref: '1', text: GOOD_DAY[0] }, { ref: '2' }, { ref: '3' }] },
      earlier: [
        { date: daysAgo(9), text: 'The third log before this day' },
        { date: daysAgo(2), text: 'Eleven char' },
      ],
    });
    expect(systemInstruction.parts[0].text).not.toContain(GOOD_DAY[0]);
    expect(generationConfig).toMatchObject({ maxOutputTokens: 4096, thinkingConfig: { thinkingLevel: 'low' } });
    expect(tools).toBeUndefined();
  });

  test('cites lines by the numbers that the page shows, in the feedback and in the missing fact', async () => {
    const inner = `<ol><li><p>Looked at the door</p></li><li><p>${GOOD_DAY[0]}</p></li></ol>`;
    await world.writeLog(
      closer,
      today(),
      `<h2>Workshop</h2><ol start="3"><li><p>Blue van</p>${inner}</li></ol><p>Swept the whole floor at five o'clock</p>`,
    );
    const { done } = await world.feedback(closer, DATE);
    expect(done!.feedback).toMatch(/4 items.*\[3\.2\] carries the day.*\[3\] says little/);
    expect(done).toMatchObject({
      cited: [
        { ref: '3', line: 2 },
        { ref: '3.2', line: 4 },
      ],
      missingFact: 'how [3] ended',
    });
  });

  test('reuses the analysis of the same text unless force is set', async () => {
    const first = await world.feedback(closer, DATE);
    const again = await world.feedback(closer, DATE);
    expect(again.done).toEqual({ ...first.done, reused: true, analyzedAt: expect.any(String) });
    expect({ text: again.text, score: again.score }).toEqual({ text: first.text, score: first.score });
    expect(requestCount()).toBe(1);
    expect(await world.countRows(closer)).toEqual({ analyses: 1, uses: 1, claims: 0, tries: 1 });
    expect((await world.feedback(closer, { ...DATE, force: true })).done).toMatchObject({ reused: false });
    expect(requestCount()).toBe(2);
    expect(await world.countRows(closer)).toEqual({ analyses: 2, uses: 2, claims: 0, tries: 2 });
  });

  test('analyses again when the log or an earlier log changes, and reuses the old answer for the old text', async () => {
    const first = await world.feedback(closer, DATE);
    await world.writeLog(closer, today(), GOOD_DAY.slice(1));
    expect(await world.entry(closer)).toMatchObject({ upToDate: false });
    const second = await world.feedback(closer, DATE);
    expect(second.done?.feedback).not.toBe(first.done?.feedback);
    await world.writeLog(closer, today(), GOOD_DAY);
    expect((await world.feedback(closer, DATE)).done).toMatchObject({
      feedback: first.text,
      reused: true,
      upToDate: true,
    });
    expect(await world.entry(closer)).toMatchObject({ feedback: first.text, upToDate: true });
    expect(requestCount()).toBe(2);
    await world.writeLog(closer, daysAgo(1), ['Promised to ship the importer']);
    expect((await world.feedback(closer, DATE)).done).toMatchObject({ reused: false });
    expect(requestCount()).toBe(3);
  });

  test('is outdated when the log is saved while it runs', async () => {
    world.model.fail({ hold: 'after' });
    const received = world.feedback(closer, DATE);
    await world.model.whenHeld();
    await world.writeLog(closer, today(), [...GOOD_DAY, 'And one more thing']);
    world.model.release();
    expect((await received).done).toMatchObject({ upToDate: false });
    expect(await world.entry(closer)).toMatchObject({ feedback: expect.any(String), upToDate: false });
  });

  test('is outdated when a save starts before the read and commits after it', async () => {
    world.model.fail({ hold: 'after' });
    const concurrent = await world.server.admin.connect();
    await concurrent.query('begin');
    await concurrent.query('select now()');
    const received = world.feedback(closer, DATE);
    await world.model.whenHeld();
    await concurrent.query(`update public.entries set content = '<p>Late words</p>' where user_id = $1`, [closer.id]);
    await concurrent.query('commit');
    concurrent.release();
    world.model.release();
    expect((await received).done).toMatchObject({ upToDate: false });
  });

  test.each([
    ['deleted', 'delete from public.entries where user_id = $1'],
    ['emptied', "update public.entries set content = '<p></p>' where user_id = $1"],
  ])('is not stored but counts as a use when the day is %s while it runs', async (_what, statement) => {
    world.model.fail({ hold: 'after' });
    const received = world.feedback(closer, DATE);
    await world.model.whenHeld();
    await world.server.admin.query(statement, [closer.id]);
    world.model.release();
    expect(await received).toMatchObject({ done: null, problem: { class: 'general' } });
    expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 1, claims: 0 });
  });

  test('a client disconnect aborts the request to the provider, stores nothing and counts as a use', async () => {
    await world.feedback(closer, DATE);
    const before = [await world.entry(closer), await world.countRows(closer)];
    world.model.reset();
    world.model.fail({ hold: 'after', after: 2 });
    const disconnect = new AbortController();
    const { events } = await openStream(
      world.server,
      closer,
      'ai-feedback',
      { ...DATE, force: true },
      disconnect.signal,
    );
    expect((await events!.next()).value).toMatchObject({ event: 'score' });
    disconnect.abort();
    await world.model.whenDisconnected();
    await expect.poll(() => world.countRows(closer)).toEqual({ ...(before[1] as object), tries: 2, uses: 2 });
    expect(await world.entry(closer)).toEqual(before[0]);
  });

  describe('several processes', () => {
    const runs = (text: string) =>
      world.server.admin.query(`update public.analysis_runs set ${text} where user_id = $1`, [closer.id]);

    test('never analyse the same day concurrently', async () => {
      world.model.fail({ hold: 'before' });
      const received = world.feedback(closer, DATE);
      await world.model.whenHeld();
      expect(await world.feedback(closer, { ...DATE, force: true })).toMatchObject({
        status: 409,
        json: { success: false, code: 'running' },
      });
      await world.writeLog(closer, daysAgo(1), GOOD_DAY);
      expect((await world.feedback(closer, { date: daysAgo(1) })).done).not.toBeNull();
      world.model.release();
      expect((await received).done).not.toBeNull();
      expect((await world.feedback(closer, { ...DATE, force: true })).status).toBe(200);
    });

    test('take over the claim of a dead process after its lease expires', async () => {
      await world.feedback(closer, DATE);
      await runs(`lease_until = now() + interval '1 minute', run = gen_random_uuid()`);
      expect((await world.feedback(closer, DATE)).status).toBe(409);
      await runs('lease_until = now()');
      expect((await world.feedback(closer, DATE)).status).toBe(200);
    });

    test('run at most five analyses of one user concurrently', async () => {
      const days = [0, 1, 2, 3, 4, 5].map(daysAgo);
      for (const day of days) await world.writeLog(closer, day, GOOD_DAY);
      world.model.fail({ hold: 'before', times: 5 });
      const received = days.slice(0, 5).map((date) => world.feedback(closer, { date }));
      await world.model.whenHeld(5);
      const sixth = { date: days[5]! };
      expect(await world.feedback(closer, sixth)).toMatchObject({ status: 409, json: { code: 'running' } });
      expect(await world.countRows(closer)).toMatchObject({ claims: 5, tries: 5 });
      world.model.release();
      for (const each of await Promise.all(received)) expect(each.done).not.toBeNull();
      expect((await world.feedback(closer, sixth)).done).not.toBeNull();
    });

    test('store nothing after losing the claim', async () => {
      world.model.fail({ hold: 'after' });
      const received = world.feedback(closer, DATE);
      await world.model.whenHeld();
      await runs('run = gen_random_uuid()');
      world.model.release();
      expect(await received).toMatchObject({ done: null, problem: { class: 'general' } });
      expect(await world.entry(closer)).toMatchObject({ feedback: null, score: null, analyzedAt: null });
      expect(await world.countRows(closer)).toMatchObject({ analyses: 0, uses: 1, claims: 1 });
    });
  });

  test('concurrent requests for the same text cause one request to the provider', async () => {
    const running = Promise.withResolvers<void>();
    world.model.fail({ hold: 'before' });
    const received = Array.from({ length: 8 }, async () => {
      const { status } = await world.feedback(closer, DATE);
      if (status === 409) running.resolve();
      return status;
    });
    await running.promise;
    world.model.release();
    expect(new Set(await Promise.all(received))).toEqual(new Set([200, 409]));
    expect(requestCount()).toBe(1);
    expect(await world.countRows(closer)).toMatchObject({ analyses: 1, uses: 1, claims: 0 });
  });
});
