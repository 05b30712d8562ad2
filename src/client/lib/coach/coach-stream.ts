/** Asks the coach, and follows the answer while it is written. */
import { AI_MESSAGES, ANALYSIS_PROBLEMS, isScore } from '#domain/coach/coach.ts';
import type { AnalysisProblem, CoachEvent, CoachRefusal } from '#domain/coach/coach.ts';
import { createEventParser } from '../api/event-stream.ts';
import { fetchAsUser } from '../api/fetch-as-user.ts';
import type { Supabase } from '../api/supabase.ts';

/** The server sends a sign of life every ten seconds: after this long without one, nobody is there. */
const SILENCE_MS = 30_000;

export type CoachFailure = {
  /** `refused`: nothing was begun. */
  kind: 'refused' | 'problem';
  reason: CoachRefusal | AnalysisProblem | 'unsaved' | 'signed_out';
  message: string;
  /** Milliseconds since 1970 before which another try is of no use. */
  retryAt: number | null;
};

export type CoachAnswer<Result> = { kind: 'done'; result: Result } | { kind: 'failed'; failure: CoachFailure };

type Question<Result> = {
  name: 'ai-feedback' | 'trend-analysis';
  /** Whose logs are on the screen. */
  userId: string;
  body: object;
  signal: AbortSignal;
  onScore?: (score: number) => void;
  onText: (delta: string) => void;
  /** Says whether what came is a result; anything else is a malformed answer. */
  isResult: (data: unknown) => data is Result;
};

/** Rejects with an AbortError when `signal` aborts, which also ends the request to the AI service; never otherwise. */
export async function askCoach<Result>(supabase: Supabase, question: Question<Result>): Promise<CoachAnswer<Result>> {
  const silence = new AbortController();
  const signal = AbortSignal.any([question.signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const send = supabase.withSession(fetchAsUser(question.userId, fetch));
    const response = await send(`${supabase.apiUrl}/functions/v1/${question.name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
      body: JSON.stringify(question.body),
      signal,
    });
    const streams = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!response.ok || !streams || !response.body) return failed(await refusalOf(response, question.name));

    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parse = createEventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return problem('network');
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      for (const { event, data } of parse(decoder.decode(value, { stream: true }))) {
        const answer = take(question, { event, data: JSON.parse(data) } as CoachEvent<Result>);
        if (answer) return answer;
      }
    }
  } catch (error) {
    question.signal.throwIfAborted();
    return problem(error instanceof SyntaxError ? 'format' : 'network');
  } finally {
    clearTimeout(timer);
    // Whatever ended it here, nothing more is wanted of this answer.
    silence.abort();
  }
}

/** Null while more is to come. */
function take<Result>(question: Question<Result>, event: CoachEvent<Result>): CoachAnswer<Result> | null {
  switch (event.event) {
    case 'score':
      if (isScore(event.data.score)) question.onScore?.(event.data.score);
      return null;
    case 'text':
      if (typeof event.data.delta === 'string') question.onText(event.data.delta);
      return null;
    case 'done':
      return question.isResult(event.data) ? { kind: 'done', result: event.data } : problem('format');
    case 'problem': {
      const { class: reason, message, retryAt } = event.data;
      return failed({ kind: 'problem', reason, message, retryAt: retryAt === null ? null : Date.parse(retryAt) });
    }
    default:
      // A newer server may say more.
      return null;
  }
}

const failed = (failure: CoachFailure) => ({ kind: 'failed', failure }) as const;

const problem = (reason: AnalysisProblem) =>
  failed({ kind: 'problem', reason, message: ANALYSIS_PROBLEMS[reason], retryAt: null });

/** What is said of an answer that says nothing itself (docs/specification/messages.md 7). */
function unreadable(reason: 'network' | 'general', name: Question<unknown>['name']): CoachFailure {
  const message = name === 'trend-analysis' ? AI_MESSAGES.trendFailed : ANALYSIS_PROBLEMS[reason];
  return { kind: 'problem', reason, message, retryAt: null };
}

/** What an answer without a stream says: `{ success: false, code, error }`, or nothing that can be read. */
async function refusalOf(response: Response, name: Question<unknown>['name']): Promise<CoachFailure> {
  // The connection hears of it as well: it renews the session, or ends it and the page asks to sign in.
  if (response.status === 401) {
    return { kind: 'refused', reason: 'signed_out', message: AI_MESSAGES.signedOut, retryAt: null };
  }
  const said = (await response.json().catch(() => null)) as { code?: unknown; error?: unknown } | null;
  // A page of a proxy before our server, say: it knows nothing of what was written, and asks for no other words.
  if (said === null) return unreadable('network', name);
  const { code, error } = said;
  if (typeof code !== 'string' || typeof error !== 'string') {
    return unreadable('general', name);
  }
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  const retryAt = Number.isFinite(seconds) ? Date.now() + seconds * 1000 : null;
  return { kind: 'refused', reason: code as CoachRefusal, message: error || AI_MESSAGES.badRequest, retryAt };
}
