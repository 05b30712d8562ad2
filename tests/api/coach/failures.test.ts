/**
 * What becomes of an analysis when the provider fails, over each provider's own wire: the class of problem, whether it
 * was asked again, and that nothing is kept, nothing is lost and nothing private is written down.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import { ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import type { Fault } from '../../../simulators/ai-model/faults.ts';
import { SANDBOX_KEY } from '../../../simulators/ai-model/simulator.ts';
import { PROVIDERS, startCoachWorld } from './world.ts';
import type { CoachWorld, KeptEntry } from './world.ts';
import { today } from '../data/world.ts';

/** Words that nothing but a log holds. */
const MARKER = 'zyxgate';
const LOG = [`Shipped the ${MARKER} importer to 40 customers`, 'Fixed 12 bugs of the editor'];
const AGAIN = { date: today(), force: true };

type Row = [what: string, fault: Fault, problem: AnalysisProblem, requests: number];

const EVERYWHERE: Row[] = [
  ['a wrong key', { status: 401 }, 'configuration', 1],
  ['a key without the right', { status: 403 }, 'configuration', 1],
  ['an unknown model', { status: 404 }, 'configuration', 1],
  ['too many requests', { status: 429, retryDelay: 37 }, 'rate', 1],
  ['too many requests, told in the header', { status: 429, retryAfter: 37 }, 'rate', 1],
  ['a failure of its own', { status: 500, times: 2 }, 'network', 2],
  ['a page of a proxy', { status: 502, body: 'html', times: 2 }, 'network', 2],
  ['a connection that breaks', { drop: true, times: 2 }, 'network', 2],
  ['an answer of another protocol', { body: 'html', times: 2 }, 'network', 2],
  ['a stream that breaks before its first word', { cut: 'connection', after: 0, times: 2 }, 'network', 2],
  ['an answer without a word', { reply: 'nothing' }, 'format', 1],
  ['an answer that does not close', { reply: 'broken' }, 'format', 1],
  ['an answer beyond its length', { reply: 'length' }, 'format', 1],
  ['an answer that is held back', { reply: 'safety' }, 'general', 1],
  ['a stream that breaks', { cut: 'connection', after: 3 }, 'network', 1],
  ['a stream without its end', { cut: 'stream', after: 3 }, 'network', 1],
  ['a failure in the middle', { status: 500, after: 3 }, 'network', 1],
  ['words that are no answer', { text: 'I would rather not.' }, 'format', 1],
  ['a score out of range', { text: answer({ score: 11 }) }, 'format', 1],
  ['no score', { text: answer({ score: null }) }, 'format', 1],
  ['a feedback too short', { text: answer({ feedback: 'Good.' }) }, 'format', 1],
  ['a feedback without an end', { text: answer({ feedback: 'x'.repeat(40_000) }) }, 'format', 1],
  ['an object without a bottom', { text: `{"score": 9, "feedback": ${'['.repeat(12_000)}` }, 'format', 1],
  ['two scores in one', { text: `{"score": 10, "feedback": "A very fine day.", "score": 2}` }, 'format', 1],
  [
    'a feedback that is taken back',
    { text: `{"score": 9, "feedback": "A very fine day.", "feedback": "No."}` },
    'format',
    1,
  ],
];

const BY_PROVIDER: Record<string, Row[]> = {
  google: [
    ['a request it does not take', { status: 400 }, 'configuration', 1],
    ['a key that is none', { status: 400, name: 'API_KEY_INVALID' }, 'configuration', 1],
    ['a quota for the day', { status: 429, name: 'PerDay', retryDelay: 1 }, 'rate', 1],
    ['too much to do', { status: 503, times: 2 }, 'network', 2],
    ['a blocked prompt', { reply: 'blocked' }, 'general', 1],
  ],
  anthropic: [
    ['a request it does not take', { status: 400 }, 'configuration', 1],
    ['too much to do', { status: 529, name: 'overloaded_error', times: 2 }, 'network', 2],
  ],
  'openai-compatible': [
    // Once more without the schema, which may have been what it does not take.
    ['a request it does not take', { status: 400, times: 2 }, 'configuration', 2],
    ['money that ran out', { status: 429, name: 'insufficient_quota' }, 'configuration', 1],
    ['too much to do', { status: 503, times: 2 }, 'network', 2],
  ],
};

function answer(changed: object): string {
  return JSON.stringify({ score: 7, feedback: 'You shipped the importer.', cited: [1], missingFact: '', ...changed });
}

describe.each(PROVIDERS)('%s', (provider) => {
  let world: CoachWorld;
  let before: KeptEntry | null;
  const printed = (['error', 'warn', 'log'] as const).map((way) => vi.spyOn(console, way));
  beforeAll(async () => {
    world = await startCoachWorld({}, provider);
    await world.wrote(world.cleo, today(), LOG);
    await world.feedback(world.cleo, { date: today() });
    before = await world.entry(world.cleo);
  });
  beforeEach(() => world.model.reset());
  afterAll(async () => {
    // The library's own way of telling of an error is to print it, and with it the request.
    expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([]);
    const lines = world.logged.join('');
    expect(lines).toContain('"msg":"analysis"');
    expect(lines).not.toContain(SANDBOX_KEY);
    expect(lines).not.toContain(MARKER);
    expect(lines).not.toContain('"level":"error"');
    await world.close();
  });

  test.each([...EVERYWHERE, ...BY_PROVIDER[provider]!])(
    '%s: %o is a problem of %s',
    async (_what, fault, problem, requests) => {
      // A connection that breaks takes along what was still on its way: so that some of it arrives, it comes piece by piece.
      if (fault.cut && fault.after) world.model.pace(20);
      world.model.fail(fault);
      const { uses } = await world.kept(world.cleo);
      const heard = await world.feedback(world.cleo, AGAIN);
      // What was read of an answer that is none is a use; what the provider or the network broke off is not.
      const used = problem === 'format' && (heard.score !== null || heard.text !== '') ? 1 : 0;
      expect(heard.problem).toMatchObject({ class: problem, message: ANALYSIS_PROBLEMS[problem] });
      expect(heard.done).toBeNull();
      expect(world.model.requests()).toHaveLength(requests);
      expect(await world.entry(world.cleo)).toEqual(before);
      expect(await world.kept(world.cleo)).toMatchObject({ analyses: 1, uses: uses + used, claims: 0 });
    },
  );

  test.each([
    ['a failure of its own', { status: 500 }],
    ['a connection that breaks', { drop: true }],
    ['a short wait', { status: 429, retryAfter: 0 }],
  ] as const)('after %s it is asked once more, and nobody notices', async (_what, fault) => {
    world.model.fail(fault);
    const { done, problem } = await world.feedback(world.cleo, AGAIN);
    expect(problem).toBeNull();
    expect(done).not.toBeNull();
    expect(world.model.requests()).toHaveLength(2);
    before = await world.entry(world.cleo);
    await world.server.admin.query(
      'delete from public.analyses where created_at < (select max(created_at) from analyses)',
    );
    await world.server.admin.query('alter table public.plan_uses disable trigger only_added_to');
    await world.server.admin.query('delete from public.plan_uses where id < (select max(id) from public.plan_uses)');
    await world.server.admin.query('alter table public.plan_uses enable trigger only_added_to');
  });

  test('where it says how long to wait, the user is told', async () => {
    world.model.fail({ status: 429, retryDelay: 37, retryAfter: 37 });
    const { problem } = await world.feedback(world.cleo, AGAIN);
    const waitMs = Date.parse(problem!.retryAt!) - Date.now();
    expect(waitMs).toBeGreaterThan(30_000);
    expect(waitMs).toBeLessThanOrEqual(37_000);
  });
});

describe('with any provider', () => {
  test('a quota for the day comes back on no known hour, and so none is told', async () => {
    const world = await startCoachWorld();
    await world.wrote(world.cleo, today(), LOG);
    world.model.fail({ status: 429, name: 'PerDay', retryDelay: 3 });
    expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'rate', retryAt: null });
    await world.close();
  });

  test('nobody at the address is a problem of the network', async () => {
    const world = await startCoachWorld({ AI_BASE_URL: 'http://127.0.0.1:9/v1beta' });
    await world.wrote(world.cleo, today(), LOG);
    expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'network' });
    expect(await world.kept(world.cleo)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
    await world.close();
  });

  test('a model that takes too long is left, and the claim is free again', async () => {
    const world = await startCoachWorld({ AI_TIMEOUT_MS: '1000' });
    await world.wrote(world.cleo, today(), LOG);
    for (const hold of ['before', 'after'] as const) {
      world.model.reset();
      world.model.fail({ hold });
      expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'network' });
      await world.model.whenDisconnected();
      expect(await world.kept(world.cleo)).toMatchObject({ analyses: 0, uses: 0, claims: 0 });
    }
    await world.close();
  });
});
