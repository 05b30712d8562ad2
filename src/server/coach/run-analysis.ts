/**
 * Runs one analysis (a feedback, a review or the summary of a month) from the claim to the committed result.
 *
 * If the run fails (client disconnect, timeout, provider failure, invalid reply), it stores no analysis and earlier
 * results stay. A killed process leaves a claim, which expires with its lease.
 */
import { randomUUID, createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ANALYSIS_PROBLEMS, type AnalysisProblem, type CoachEvent } from '#domain/coach/coach.ts';
import type { Clock } from '../clock.ts';
import {
  ClaimLostError,
  type Claim,
  type CoachStore,
  type Kind,
  type ReadLog,
  type ReadPeriod,
  type Tries,
  type WrittenFeedback,
} from './coach-store.ts';
import { ModelError, type CoachModel, type FinishReason, type ModelPart } from './model/model.ts';
import { fenceData, PROMPT_VERSION, type Prompt } from './prompts.ts';
import { MAX_REPLY_CHARS, type PartialReply, type Reply, type ReplyParser } from './parse-response.ts';
import type { Identity } from '../database/database.ts';
import type { Logger } from '../log.ts';
import type { EventCounters } from '../metrics/events.ts';

export type RunDeps = {
  store: CoachStore;
  model: CoachModel;
  log: Logger;
  clock: Clock;
  events: Pick<EventCounters, 'analysis'>;
  limits: { readonly timeoutMs: number; readonly dailyLimit: number };
};

/** The part of an analysis that depends on its kind. */
export type Job<Result> = {
  userId: string;
  identity: Identity;
  kind: Kind;
  /** The day, or the period and one of its days. One analysis per user, kind and key runs at a time. */
  key: string;
  target: ReadLog | ReadPeriod;
  prompt: Prompt;
  schema: object | null;
  maxOutputTokens: number;
  parser: ReplyParser;
  toResult(reply: Reply, stored: StoredAnalysis): Result;
};

/** `at`: when the analysis was made. `written`: null for a review, which writes no entry. */
type StoredAnalysis = { written: WrittenFeedback | null; at: Date; reused: boolean };

export type LimitRefusal =
  | { refused: 'running' }
  | { refused: 'daily_limit'; retryAfterSeconds: number; limit: number };
/**
 * Must be iterated, or the claim is held until its lease expires. `disconnected` aborts when the client closes the
 * connection. `stopped` aborts when the server shuts down; the client then gets a problem event.
 */
export type Events<Result> = (disconnected: AbortSignal, stopped: AbortSignal) => AsyncGenerator<CoachEvent<Result>>;

/** The lease outlasts the timeout by this, so that an analysis can store its result before its claim expires. */
const LEASE_RESERVE_MS = 30_000;
/** A user who cancels an analysis and starts it again at once meets the claim that the cancelled run is releasing. */
const CLAIM_RETRY_DELAYS_MS = [50, 150, 300];
/**
 * Every parse reads the whole reply, and a model may stream it character by character. Parsing again only after this
 * relative growth keeps the total cost linear: the first characters are sent one by one, later ones in batches.
 */
const PARSE_AFTER_GROWTH = 1 + 1 / 64;
/** Per user, over all devices. Threat: one user exhausts the provider's rate limit for all others. */
const MAX_CONCURRENT_ANALYSES = 5;

/** `tries` and `running` include the analysis that is about to start. Returns null if it is within the limits. */
export function checkLimits({ tries, running, resetInSeconds }: Tries, dailyLimit: number): LimitRefusal | null {
  if (running > MAX_CONCURRENT_ANALYSES) return { refused: 'running' };
  return tries > dailyLimit ? { refused: 'daily_limit', retryAfterSeconds: resetInSeconds, limit: dailyLimit } : null;
}

export async function beginAnalysis<Result>(
  deps: RunDeps,
  job: Job<Result>,
  force: boolean,
): Promise<LimitRefusal | { events: Events<Result> }> {
  const { store, model, limits } = deps;
  const { userId, kind, key } = job;
  const claim: Claim = { userId, kind, key, run: randomUUID() };
  if (!(await acquireClaim(store, claim, limits.timeoutMs + LEASE_RESERVE_MS))) return { refused: 'running' };
  try {
    // Both queries run after the claim is acquired, for two reasons: its previous holder may just have stored this
    // answer, and a claim counts as a try, so that concurrent requests see each other's tries at the daily limit.
    const [storedAnalysis, tries] = await Promise.all([
      force ? null : store.findByInput(userId, kind, inputHash(model, job.prompt)),
      store.purgeAndReadTries(userId),
    ]);
    if (storedAnalysis) return { events: () => replayAnalysis(deps, job, claim, storedAnalysis) };
    const limitRefusal = checkLimits(tries, limits.dailyLimit);
    if (!limitRefusal) {
      return { events: (disconnected, stopped) => analyse(deps, job, claim, { disconnected, stopped }) };
    }
    await store.releaseClaim(claim, false, false);
    return limitRefusal;
  } catch (error) {
    await store.releaseClaim(claim, false, false);
    throw error;
  }
}

async function acquireClaim(store: CoachStore, claim: Claim, leaseMs: number): Promise<boolean> {
  for (const delayMs of CLAIM_RETRY_DELAYS_MS) {
    if (await store.claim(claim, leaseMs)) return true;
    await delay(delayMs);
  }
  return store.claim(claim, leaseMs);
}

/** Sends a stored analysis of the same input without calling the provider. */
async function* replayAnalysis<Result>(
  { store, log }: RunDeps,
  { target, toResult }: Job<Result>,
  claim: Claim,
  analysis: Reply & { id: string; createdAt: Date },
): AsyncGenerator<CoachEvent<Result>> {
  try {
    const written = 'date' in target ? await store.restoreFeedback(claim, analysis, target) : null;
    if ('from' in target) await store.keepReview(claim.userId, analysis, target);
    if ('date' in target && !written) return yield problemEvent('general');
    yield* emitNew({ score: null, text: '' }, analysis);
    yield { event: 'done', data: toResult(analysis, { written, at: analysis.createdAt, reused: true }) };
  } catch (error) {
    log.error({ err: error, userId: claim.userId }, 'replaying a stored analysis failed');
    yield problemEvent('general');
  } finally {
    await tryReleaseClaim(store, log, claim, { countTry: false, recordUse: false });
  }
}

async function* analyse<Result>(
  { store, model, log, clock, events, limits }: RunDeps,
  job: Job<Result>,
  claim: Claim,
  { disconnected, stopped }: { disconnected: AbortSignal; stopped: AbortSignal },
): AsyncGenerator<CoachEvent<Result>> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([disconnected, stopped, timeout]);
  const { provider, model: modelName } = model.describe();
  const startedAt = performance.now();
  const sent: PartialReply = { score: null, text: '' };
  let end: ModelEnd | null = null;
  // The outcome is logged. docs/operations.md explains its values.
  let outcome = 'done';
  let details: object = {};
  // A client that disconnects before the provider is called uses up no try.
  let countTry = false;
  let recordUse = false;
  const hasSentAnything = (): boolean => sent.score !== null || sent.text !== '';
  const checkAccess = async (): Promise<void> => {
    if (!(await store.isStillAllowed(job))) throw new AccessRevokedError();
  };
  try {
    disconnected.throwIfAborted();
    const { data, ...instructions } = job.prompt;
    const { schema, maxOutputTokens, parser } = job;
    const request = { ...instructions, schema, prompt: fenceData(data), maxOutputTokens, beforeRetry: checkAccess };
    let text = '';
    let parseFromLength = 0;
    for await (const part of model.stream(request, signal)) {
      countTry = true;
      if (part.type === 'request') continue;
      if (part.type === 'end') {
        end = part;
        continue;
      }
      ({ text } = part);
      // Stops a model that loops.
      if (text.length > MAX_REPLY_CHARS * 2) throw new InvalidReplyError('format');
      if (text.length < parseFromLength) continue;
      parseFromLength = text.length * PARSE_AFTER_GROWTH;
      yield* emitNew(sent, parser.parsePartial(text));
    }
    signal.throwIfAborted();
    const finishProblem = end && PROBLEM_BY_FINISH[end.finish];
    if (!end || finishProblem) throw new InvalidReplyError(finishProblem ?? 'network');
    const reply = parser.parseFinal(text);
    if (!reply || (sent.score !== null && sent.score !== reply.score)) throw new InvalidReplyError('format');
    yield* emitNew(sent, reply);
    await checkAccess();
    signal.throwIfAborted();
    const { finish, modelVersion, inputTokens, outputTokens } = end;
    const analysis = {
      ...reply,
      ...{ provider, model: modelName, modelVersion, finish, inputTokens, outputTokens },
      inputHash: inputHash(model, job.prompt),
      promptVersion: PROMPT_VERSION,
      durationMs: Math.round(performance.now() - startedAt),
    };
    const stored = await store.storeAnalysis(claim, analysis, job.target);
    yield { event: 'done', data: job.toResult(reply, { ...stored, reused: false }) };
  } catch (error) {
    if (disconnected.aborted) {
      outcome = 'left';
      recordUse = hasSentAnything();
      return;
    }
    const cancelled = stopped.aborted ? 'stopped' : timeout.aborted ? 'time-out' : null;
    const revoked = error instanceof ClaimLostError ? 'lost' : error instanceof AccessRevokedError ? 'withdrawn' : null;
    const { problem, retryAfterMs = null } = cancelled ? { problem: 'network' as const } : toProblem(error);
    outcome = cancelled ?? revoked ?? problem;
    if (error instanceof ModelError) {
      details = error.details;
      // A provider failure before any output uses up no try.
      countTry = hasSentAnything();
    } else if (error instanceof InvalidReplyError || revoked || cancelled) {
      // Output that was sent counts as a use of the plan unless the provider, the network or the server ended the run.
      // Threat: a user reads an answer and still gets a refund, by deleting the day at the end or by making the model
      // end in invalid output.
      recordUse = hasSentAnything() && !cancelled && (revoked !== null || problem === 'format');
    } else {
      log.error({ err: error, userId: claim.userId }, 'an analysis failed unexpectedly');
    }
    yield problemEvent(problem, retryAfterMs === null ? null : new Date(clock.now().getTime() + retryAfterMs));
  } finally {
    if (outcome !== 'done') await tryReleaseClaim(store, log, claim, { countTry, recordUse });
    const { inputTokens = null, outputTokens = null, rawFinish = null } = end ?? {};
    const ms = Math.round(performance.now() - startedAt);
    events.analysis({ kind: job.kind, outcome, ms });
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

type ModelEnd = Extract<ModelPart, { type: 'end' }>;

/** The user's plan, consent or session ended while the analysis ran. */
class AccessRevokedError extends Error {}

class InvalidReplyError extends Error {
  readonly problem: AnalysisProblem;

  constructor(problem: AnalysisProblem) {
    super(`invalid reply: ${problem}`);
    this.name = 'InvalidReplyError';
    this.problem = problem;
  }
}

/** The problem that the provider's finish reason means, whatever text arrived. Null: the text is parsed as a reply. */
const PROBLEM_BY_FINISH: Readonly<Record<FinishReason, AnalysisProblem | null>> = {
  stop: null,
  length: 'format',
  blocked: 'general',
  interrupted: 'network',
  other: 'general',
};

function toProblem(error: unknown): { problem: AnalysisProblem; retryAfterMs?: number | null } {
  return error instanceof ModelError || error instanceof InvalidReplyError ? error : { problem: 'general' };
}

/** Emits what `sent` lacks and updates `sent`. Throws if the new text does not extend the text that was sent. */
function* emitNew(sent: PartialReply, { score, text }: PartialReply): Generator<CoachEvent<never>> {
  if (score !== null && sent.score === null) yield { event: 'score', data: { score } };
  sent.score ??= score;
  if (!text.startsWith(sent.text)) throw new InvalidReplyError('format');
  const delta = text.slice(sent.text.length);
  sent.text = text;
  if (delta !== '') yield { event: 'text', data: { delta } };
}

export const problemEvent = (problem: AnalysisProblem, retryAt: Date | null = null): CoachEvent<never> => ({
  event: 'problem',
  data: { class: problem, message: ANALYSIS_PROBLEMS[problem], retryAt: retryAt?.toISOString() ?? null },
});

type ClaimCost = { countTry: boolean; recordUse: boolean };

async function tryReleaseClaim(store: CoachStore, log: Logger, claim: Claim, cost: ClaimCost): Promise<void> {
  // Best effort: an unreleased claim expires with its lease.
  await store
    .releaseClaim(claim, cost.countTry, cost.recordUse)
    .catch((error: unknown) => log.warn({ err: error }, 'releasing an analysis claim failed'));
}

// The key under which a stored analysis is found again: provider, model, form of the reply, prompt version and data.

/** `PROMPT_VERSION` stands for the instructions: rewording them invalidates stored analyses only when it is raised. */
export function inputHash(model: CoachModel, { data }: Prompt): string {
  const { provider, model: name, replies } = model.describe();
  return createHash('sha256')
    .update(JSON.stringify([PROMPT_VERSION, provider, name, replies, data]))
    .digest('base64url');
}
