/**
 * One analysis, from the claim to the committed result: the same for a day's feedback and for a period's trend.
 *
 * Whatever ends it early (the reader leaves, the time runs out, the provider fails, the reply is none) stores nothing,
 * and what was there before stays. A process that is killed leaves a claim, which ends with its lease.
 */
import { randomUUID } from 'node:crypto';
import { ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import type { AnalysisProblem, CoachEvent } from '#domain/coach/coach.ts';
import type { Clock } from '../clock.ts';
import type { Identity } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { ClaimLostError } from './coach-store.ts';
import type { Claim, CoachStore, Kind, ReadLog, ReadPeriod, Tries, Written } from './coach-store.ts';
import { inputHash } from './input-hash.ts';
import { ModelError } from './model/model.ts';
import type { CoachModel, FinishReason, ModelPart } from './model/model.ts';
import { fenced, PROMPT_VERSION } from './prompts.ts';
import type { Prompt } from './prompts.ts';
import { LONGEST_REPLY } from './reply/parse-response.ts';
import type { Reply, ReplyReader, SoFar } from './reply/parse-response.ts';

export type RunDeps = {
  store: CoachStore;
  model: CoachModel;
  log: Logger;
  clock: Clock;
  limits: { readonly timeoutMs: number; readonly dailyLimit: number };
};

/** What differs between the kinds. */
export type Job<Result> = {
  userId: string;
  identity: Identity;
  kind: Kind;
  /** The day, or the period with its last day: one analysis of each at a time. */
  key: string;
  about: ReadLog | ReadPeriod;
  prompt: Prompt;
  schema: object | null;
  maxOutputTokens: number;
  reader: ReplyReader;
  result(reply: Reply, stored: Stored): Result;
};

/** `at`: when the analysis was made; `written`: what became of the day's entry. */
export type Stored = { written: Written | null; at: Date; reused: boolean };

export type Refused = { refused: 'running' } | { refused: 'daily_limit'; retryAfterSeconds: number; limit: number };
/**
 * Must be read to its end, or the claim is held until its lease runs out. The first signal says that nobody reads any
 * more, the second one that the server stops and its reader is to be told.
 */
export type Events<Result> = (left: AbortSignal, stopped: AbortSignal) => AsyncGenerator<CoachEvent<Result>>;

/** Longer than any analysis may take, so that only the claim of a process that died is taken over. */
const LEASE_RESERVE_MS = 30_000;
/**
 * A reply is read as a whole each time, and a model may send it letter by letter: so it is read again once it has grown
 * by so much. The first words are told as they come, the thousandth letter with fifteen others.
 */
const READ_AFTER_GROWTH = 1 + 1 / 64;
/** Of one user, on all their screens: nobody uses up the provider's requests per minute for everybody else. */
const AT_ONCE = 5;

/** Why one user may have no more analyses now, by their tries with the one in question among them. */
export function noRoom({ tries, underWay, resetInSeconds }: Tries, dailyLimit: number): Refused | null {
  if (underWay > AT_ONCE) return { refused: 'running' };
  return tries > dailyLimit ? { refused: 'daily_limit', retryAfterSeconds: resetInSeconds, limit: dailyLimit } : null;
}

export async function beginAnalysis<Result>(
  deps: RunDeps,
  job: Job<Result>,
  force: boolean,
): Promise<Refused | { events: Events<Result> }> {
  const { store, model, limits } = deps;
  const { userId, kind, key } = job;
  const claim: Claim = { userId, kind, key, run: randomUUID() };
  if (!(await store.claim(claim, limits.timeoutMs + LEASE_RESERVE_MS))) return { refused: 'running' };
  try {
    // Looked for under the claim: whoever held it a moment ago may have been given this very answer. Counted under it:
    // of two that arrive together at the limit none can overlook the other.
    const [known, tries] = await Promise.all([
      force ? null : store.findByInput(userId, kind, inputHash(model, job.prompt)),
      store.countTries(userId),
    ]);
    if (known) return { events: () => tellAgain(deps, job, claim, known) };
    const full = noRoom(tries, limits.dailyLimit);
    if (!full) return { events: (left, stopped) => analyse(deps, job, claim, { left, stopped }) };
    await store.giveBack(claim, false, false);
    return full;
  } catch (error) {
    await store.giveBack(claim, false, false);
    throw error;
  }
}

/** What was said about the same words before, without asking anybody. */
async function* tellAgain<Result>(
  { store, log }: RunDeps,
  { about, result }: Job<Result>,
  claim: Claim,
  known: Reply & { createdAt: Date },
): AsyncGenerator<CoachEvent<Result>> {
  try {
    const written = 'date' in about ? await store.showAgain(claim, known, about) : null;
    if ('date' in about && !written) return yield problemEvent('general');
    yield* reveal(known);
    yield { event: 'done', data: result(known, { written, at: known.createdAt, reused: true }) };
  } catch (error) {
    log.error({ err: error, userId: claim.userId }, 'an earlier analysis could not be told again');
    yield problemEvent('general');
  } finally {
    await giveBack(store, log, claim, { counted: false, used: false });
  }
}

async function* analyse<Result>(
  { store, model, log, clock, limits }: RunDeps,
  job: Job<Result>,
  claim: Claim,
  { left, stopped }: { left: AbortSignal; stopped: AbortSignal },
): AsyncGenerator<CoachEvent<Result>> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([left, stopped, timeout]);
  const { provider, model: modelName } = model.describe();
  const startedAt = performance.now();
  const told: SoFar = { score: null, text: '' };
  let end: End | null = null;
  let outcome = 'done';
  let details: object = {};
  // Until the model is asked, whoever leaves has cost nothing.
  let counted = false;
  let used = false;
  const wasTold = (): boolean => told.score !== null || told.text !== '';
  const mayGoOn = async (): Promise<void> => {
    if (!(await store.mayGoOn(job.identity))) throw new WithdrawnError();
  };
  try {
    left.throwIfAborted();
    const { data, ...instructions } = job.prompt;
    const { schema, maxOutputTokens, reader } = job;
    const request = { ...instructions, schema, prompt: fenced(data), maxOutputTokens, beforeRetry: mayGoOn };
    let text = '';
    let readFrom = 0;
    for await (const part of model.stream(request, signal)) {
      counted = true;
      if (part.type === 'asked') continue;
      if (part.type === 'end') {
        end = part;
        continue;
      }
      ({ text } = part);
      // A model that does not find an end, such as one that repeats itself.
      if (text.length > LONGEST_REPLY * 2) throw new ReplyError('format');
      if (text.length < readFrom) continue;
      readFrom = text.length * READ_AFTER_GROWTH;
      yield* tell(told, reader.soFar(text));
    }
    signal.throwIfAborted();
    const unfinished = end && UNFINISHED[end.finish];
    if (!end || unfinished) throw new ReplyError(unfinished ?? 'network');
    const reply = reader.whole(text);
    if (!reply || (told.score !== null && told.score !== reply.score)) throw new ReplyError('format');
    yield* tell(told, reply);
    await mayGoOn();
    signal.throwIfAborted();
    const { finish, modelVersion, inputTokens, outputTokens } = end;
    const analysis = {
      ...reply,
      ...{ provider, model: modelName, modelVersion, finish, inputTokens, outputTokens },
      inputHash: inputHash(model, job.prompt),
      promptVersion: PROMPT_VERSION,
      durationMs: Math.round(performance.now() - startedAt),
    };
    const stored = await store.finish(claim, analysis, job.about);
    yield { event: 'done', data: job.result(reply, { ...stored, reused: false }) };
  } catch (error) {
    if (left.aborted) {
      outcome = 'left';
      used = wasTold();
      return;
    }
    const ended = stopped.aborted ? 'stopped' : timeout.aborted ? 'time-out' : null;
    const lost = error instanceof ClaimLostError ? 'lost' : error instanceof WithdrawnError ? 'withdrawn' : null;
    const { problem, retryAfterMs = null } = ended ? { problem: 'network' as const } : problemOf(error);
    outcome = ended ?? lost ?? problem;
    if (error instanceof ModelError) {
      details = error.details;
      // Whoever failed before the first word is not paid.
      counted = wasTold();
    } else if (error instanceof ReplyError || lost || ended) {
      // What was read is a use, unless the provider, the network or we broke it off. Otherwise who deletes the day with
      // the last word, or has the model end in nonsense, reads for nothing.
      used = wasTold() && !ended && (lost !== null || problem === 'format');
    } else {
      log.error({ err: error, userId: claim.userId }, 'an analysis failed unexpectedly');
    }
    yield problemEvent(problem, retryAfterMs === null ? null : new Date(clock.now().getTime() + retryAfterMs));
  } finally {
    if (outcome !== 'done') await giveBack(store, log, claim, { counted, used });
    const { inputTokens = null, outputTokens = null, rawFinish = null } = end ?? {};
    const ms = Math.round(performance.now() - startedAt);
    log.info(
      {
        userId: claim.userId,
        kind: job.kind,
        provider,
        model: modelName,
        outcome,
        ms,
        inputTokens,
        outputTokens,
        rawFinish,
        ...details,
      },
      'analysis',
    );
  }
}

type End = Extract<ModelPart, { type: 'end' }>;

/** Plan, agreement or session have ended since the analysis began. */
class WithdrawnError extends Error {}

/** The model answered, and it is no answer. */
class ReplyError extends Error {
  readonly problem: AnalysisProblem;

  constructor(problem: AnalysisProblem) {
    super(`no reply: ${problem}`);
    this.name = 'ReplyError';
    this.problem = problem;
  }
}

/** A blocked answer must not look like an empty one, nor half a one like a whole. */
const UNFINISHED: Readonly<Record<FinishReason, AnalysisProblem | null>> = {
  stop: null,
  length: 'format',
  blocked: 'general',
  interrupted: 'network',
  other: 'general',
};

function problemOf(error: unknown): { problem: AnalysisProblem; retryAfterMs?: number | null } {
  return error instanceof ModelError || error instanceof ReplyError ? error : { problem: 'general' };
}

/** What has been learnt since the last time. Throws where something that was told already is not so any more. */
function* tell(told: SoFar, { score, text }: SoFar): Generator<CoachEvent<never>> {
  if (score !== null && told.score === null) yield { event: 'score', data: { score } };
  told.score ??= score;
  if (!text.startsWith(told.text)) throw new ReplyError('format');
  const delta = text.slice(told.text.length);
  told.text = text;
  if (delta !== '') yield { event: 'text', data: { delta } };
}

const reveal = (reply: Reply) => tell({ score: null, text: '' }, reply);

const problemEvent = (problem: AnalysisProblem, retryAt: Date | null = null): CoachEvent<never> => ({
  event: 'problem',
  data: { class: problem, message: ANALYSIS_PROBLEMS[problem], retryAt: retryAt?.toISOString() ?? null },
});

type Spent = { counted: boolean; used: boolean };

async function giveBack(store: CoachStore, log: Logger, claim: Claim, { counted, used }: Spent): Promise<void> {
  // Without it nobody is wrong: the claim ends with its lease.
  await store
    .giveBack(claim, counted, used)
    .catch((error: unknown) => log.warn({ err: error }, 'a claim was not given back'));
}
