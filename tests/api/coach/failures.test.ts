/**
 * Provider failures over each provider's own protocol: the problem class, the number of requests, that nothing is
 * stored or lost, and that nothing private is logged.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ANALYSIS_PROBLEMS, type AnalysisProblem } from '#domain/coach/coach.ts';
import type { Fault } from '../../../simulators/ai-model/faults.ts';
import { SANDBOX_KEY } from '../../../simulators/ai-model/simulator.ts';
import { PROVIDERS, startCoachWorld, type CoachWorld, type StoredEntry } from './fixture.ts';
import { today } from '../data/fixture.ts';

/** A word that appears only in the log. */
const MARKER = 'zyxgate';
const LOG = [`Shipped the ${MARKER} importer to 40 customers`, 'Fixed 12 bugs of the editor'];
const AGAIN = { date: today(), force: true };

type Row = [what: string, fault: Fault, problem: AnalysisProblem, requests: number];

const EVERYWHERE: Row[] = [
  ['a wrong key', { status: 401 }, 'configuration', 1],
  ['a key without permission', { status: 403 }, 'configuration', 1],
  ['an unknown model', { status: 404 }, 'configuration', 1],
  ['too many requests', { status: 429, retryDelay: 37 }, 'rate', 1],
  ['too many requests with a Retry-After header', { status: 429, retryAfter: 37 }, 'rate', 1],
  ['an internal error', { status: 500, times: 2 }, 'network', 2],
  ['an error page of a proxy', { status: 502, body: 'html', times: 2 }, 'network', 2],
  ['a connection that breaks', { drop: true, times: 2 }, 'network', 2],
  ['an answer of another protocol', { body: 'html', times: 2 }, 'network', 2],
  ['a stream that breaks before its first text', { cut: 'connection', after: 0, times: 2 }, 'network', 2],
  ['an empty answer', { reply: 'nothing' }, 'format', 1],
  ['an answer with unclosed JSON', { reply: 'broken' }, 'format', 1],
  ['an answer over the token limit', { reply: 'length' }, 'format', 1],
  ['an answer blocked by the safety filter', { reply: 'safety' }, 'general', 1],
  ['a stream that breaks', { cut: 'connection', after: 3 }, 'network', 1],
  ['a stream without an end marker', { cut: 'stream', after: 3 }, 'network', 1],
  ['an error in mid-stream', { status: 500, after: 3 }, 'network', 1],
  ['text in no known format', { text: 'I would rather not.' }, 'format', 1],
  ['a score out of range', { text: answer({ score: 11 }) }, 'format', 1],
  ['a missing score', { text: answer({ score: null }) }, 'format', 1],
  ['feedback that is too short', { text: answer({ feedback: 'Good.' }) }, 'format', 1],
  ['feedback that is too long', { text: answer({ feedback: 'x'.repeat(40_000) }) }, 'format', 1],
  ['deeply nested JSON', { text: `{"score": 9, "feedback": ${'['.repeat(12_000)}` }, 'format', 1],
  ['two score fields', { text: `{"score": 10, "feedback": "A very fine day.", "score": 2}` }, 'format', 1],
  ['two feedback fields', { text: `{"score": 9, "feedback": "A very fine day.", "feedback": "No."}` }, 'format', 1],
];

const BY_PROVIDER: Record<string, Row[]> = {
  google: [
    ['a rejected request', { status: 400 }, 'configuration', 1],
    ['an invalid key', { status: 400, name: 'API_KEY_INVALID' }, 'configuration', 1],
    ['a daily quota', { status: 429, name: 'PerDay', retryDelay: 1 }, 'rate', 1],
    ['an overload', { status: 503, times: 2 }, 'network', 2],
    ['a blocked prompt', { reply: 'blocked' }, 'general', 1],
  ],
  anthropic: [
    ['a rejected request', { status: 400 }, 'configuration', 1],
    ['an overload', { status: 529, name: 'overloaded_error', times: 2 }, 'network', 2],
  ],
  'openai-compatible': [
    // The second request is the text fallback.
    ['a rejected request', { status: 400, times: 2 }, 'configuration', 2],
    ['an unpaid bill', { status: 429, name: 'insufficient_quota' }, 'configuration', 1],
    ['an overload', { status: 503, times: 2 }, 'network', 2],
  ],
};

function answer(changed: object): string {
  return JSON.stringify({ score: 7, feedback: 'You shipped the importer.', cited: [1], missingFact: '', ...changed });
}

describe.each(PROVIDERS)('%s', (provider) => {
  let world: CoachWorld;
  let before: StoredEntry | null;
  const printed = (['error', 'warn', 'log'] as const).map((way) => vi.spyOn(console, way));
  beforeAll(async () => {
    world = await startCoachWorld({}, provider);
    await world.writeLog(world.cleo, today(), LOG);
    await world.feedback(world.cleo, { date: today() });
    before = await world.entry(world.cleo);
  });
  beforeEach(() => world.model.reset());
  afterAll(async () => {
    // By default the AI SDK prints errors to the console, with the request.
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
      // A broken connection discards data in transit. Sending slowly lets some of it arrive.
      if (fault.cut && fault.after) world.model.pace(20);
      world.model.fail(fault);
      const { uses } = await world.countRows(world.cleo);
      const received = await world.feedback(world.cleo, AGAIN);
      // Output of an invalid answer counts as a use; output that the provider or the network broke off does not.
      const used = problem === 'format' && (received.score !== null || received.text !== '') ? 1 : 0;
      expect(received.problem).toMatchObject({ class: problem, message: ANALYSIS_PROBLEMS[problem] });
      expect(received.done).toBeNull();
      expect(world.model.requests()).toHaveLength(requests);
      expect(await world.entry(world.cleo)).toEqual(before);
      expect(await world.countRows(world.cleo)).toMatchObject({ analyses: 1, uses: uses + used, claims: 0 });
    },
  );

  test.each([
    ['an internal error', { status: 500 }],
    ['a connection that breaks', { drop: true }],
    ['a short Retry-After', { status: 429, retryAfter: 0 }],
  ] as const)('retries once after %s', async (_what, fault) => {
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

  test('reports the delay that the provider asks for', async () => {
    world.model.fail({ status: 429, retryDelay: 37, retryAfter: 37 });
    const { problem } = await world.feedback(world.cleo, AGAIN);
    const waitMs = Date.parse(problem!.retryAt!) - Date.now();
    expect(waitMs).toBeGreaterThan(30_000);
    expect(waitMs).toBeLessThanOrEqual(37_000);
  });
});

describe('with any provider', () => {
  test('reports no retry time for a daily quota', async () => {
    const world = await startCoachWorld();
    await world.writeLog(world.cleo, today(), LOG);
    world.model.fail({ status: 429, name: 'PerDay', retryDelay: 3 });
    expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'rate', retryAt: null });
    await world.close();
  });

  test('reports an unreachable address as a network problem', async () => {
    const world = await startCoachWorld({ AI_BASE_URL: 'http://127.0.0.1:9/v1beta' });
    await world.writeLog(world.cleo, today(), LOG);
    expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'network' });
    expect(await world.countRows(world.cleo)).toEqual({ analyses: 0, uses: 0, claims: 0, tries: 0 });
    await world.close();
  });

  test('aborts at the timeout and releases the claim', async () => {
    const world = await startCoachWorld({ AI_TIMEOUT_MS: '1000' });
    await world.writeLog(world.cleo, today(), LOG);
    for (const hold of ['before', 'after'] as const) {
      world.model.reset();
      world.model.fail({ hold });
      expect((await world.feedback(world.cleo, AGAIN)).problem).toMatchObject({ class: 'network' });
      await world.model.whenDisconnected();
      expect(await world.countRows(world.cleo)).toMatchObject({ analyses: 0, uses: 0, claims: 0 });
    }
    await world.close();
  });
});
