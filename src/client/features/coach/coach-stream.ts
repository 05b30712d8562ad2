/** Requests an analysis from the coach and reads its event stream. */
import {
  AI_MESSAGES,
  ANALYSIS_PROBLEMS,
  isScore,
  type AnalysisProblem,
  type CoachEvent,
  type CoachRefusal,
  type ReviewProgress,
} from '#domain/coach/coach.ts';
import { eventStreamOf, readEvents } from '#client/lib/api/event-stream.ts';
import { fetchAsUser, type Supabase } from '#client/lib/api/supabase.ts';

/** A connection without bytes for this time is dead: the server sends a heartbeat every ten seconds. */
const IDLE_TIMEOUT_MS = 30_000;

export type CoachFailure = {
  /** `refused`: the server has not started the analysis. */
  kind: 'refused' | 'problem';
  reason: CoachRefusal | AnalysisProblem | 'unsaved' | 'signed_out';
  message: string;
  /** Retry no earlier than this time, in milliseconds since 1970. */
  retryAt: number | null;
};

export type CoachAnswer<Result> = { kind: 'done'; result: Result } | { kind: 'failed'; failure: CoachFailure };

type CoachRequest<Result> = {
  name: 'ai-feedback' | 'trend-analysis';
  /** The owner of the logs on the screen. With the token of another user, the request is not sent. */
  userId: string;
  body: object;
  signal: AbortSignal;
  onScore?: (score: number) => void;
  onText: (delta: string) => void;
  onProgress?: (progress: ReviewProgress) => void;
  /** Validates the final event; anything else is a malformed answer. */
  isResult: (data: unknown) => data is Result;
};

/**
 * Rejects only when `request.signal` aborts, with an AbortError. An abort also ends the server's request to the AI
 * service.
 */
export async function askCoach<Result>(
  supabase: Supabase,
  request: CoachRequest<Result>,
): Promise<CoachAnswer<Result>> {
  const idle = new AbortController();
  const signal = AbortSignal.any([request.signal, idle.signal]);
  let timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
  try {
    const response = await supabase.ask(`/functions/v1/${request.name}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream, application/json' },
      body: request.body,
      signal,
      base: fetchAsUser(request.userId, fetch),
    });
    const stream = eventStreamOf(response);
    if (!stream) return failedAnswer(await refusalOf(response, request.name));

    const restartTimer = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
    };
    for await (const { event, data } of readEvents(stream, restartTimer)) {
      const answer = handleEvent(request, { event, data: JSON.parse(data) } as CoachEvent<Result>);
      if (answer) return answer;
    }
    return problemAnswer('network');
  } catch (error) {
    request.signal.throwIfAborted();
    return problemAnswer(error instanceof SyntaxError ? 'format' : 'network');
  } finally {
    clearTimeout(timer);
    // Close the connection, however the loop has ended.
    idle.abort();
  }
}

/** Returns the outcome for a final event, otherwise null. */
function handleEvent<Result>(request: CoachRequest<Result>, event: CoachEvent<Result>): CoachAnswer<Result> | null {
  switch (event.event) {
    case 'score':
      if (isScore(event.data.score)) request.onScore?.(event.data.score);
      return null;
    case 'text':
      if (typeof event.data.delta === 'string') request.onText(event.data.delta);
      return null;
    case 'progress':
      request.onProgress?.(event.data);
      return null;
    case 'refused': {
      const { code: reason, message, retryAfterSeconds: seconds } = event.data;
      const retryAt = seconds === null ? null : Date.now() + seconds * 1000;
      return failedAnswer({ kind: 'refused', reason, message, retryAt });
    }
    case 'done':
      return request.isResult(event.data) ? { kind: 'done', result: event.data } : problemAnswer('format');
    case 'problem': {
      const { class: reason, message, retryAt } = event.data;
      return failedAnswer({ kind: 'problem', reason, message, retryAt: retryAt === null ? null : Date.parse(retryAt) });
    }
    default:
      // Ignore event types of a newer server.
      return null;
  }
}

const failedAnswer = (failure: CoachFailure) => ({ kind: 'failed', failure }) as const;

const problemAnswer = (reason: AnalysisProblem) =>
  failedAnswer({ kind: 'problem', reason, message: ANALYSIS_PROBLEMS[reason], retryAt: null });

/** The failure for a response without a message of its own (docs/specification/messages.md 7). */
function unreadableFailure(reason: 'network' | 'general', name: CoachRequest<unknown>['name']): CoachFailure {
  const message = name === 'trend-analysis' ? AI_MESSAGES.reviewFailed : ANALYSIS_PROBLEMS[reason];
  return { kind: 'problem', reason, message, retryAt: null };
}

/** Parses a response that is not a stream: `{ success: false, code, error }`, or a body that cannot be read. */
async function refusalOf(response: Response, name: CoachRequest<unknown>['name']): Promise<CoachFailure> {
  // `ask` has already ended the session, or tried to renew it.
  if (response.status === 401) {
    return { kind: 'refused', reason: 'signed_out', message: AI_MESSAGES.signedOut, retryAt: null };
  }
  const body = (await response.json().catch(() => null)) as { code?: unknown; error?: unknown } | null;
  // The body is not JSON, such as the error page of a proxy: a connection problem, unrelated to the log.
  if (body === null) return unreadableFailure('network', name);
  const { code, error } = body;
  if (typeof code !== 'string' || typeof error !== 'string') {
    return unreadableFailure('general', name);
  }
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  const retryAt = Number.isFinite(seconds) ? Date.now() + seconds * 1000 : null;
  return { kind: 'refused', reason: code as CoachRefusal, message: error || AI_MESSAGES.badRequest, retryAt };
}
