/**
 * The coach's limits, requests, results and messages (docs/specification/coach.md 2 and docs/specification/messages.md
 * 7). The database and `src/server/coach` enforce the limits.
 */
import type { Citation } from './citations.ts';
import type { Day } from '../day/day.ts';
import { PREMIUM_PRICE } from '../plan/plan.ts';
import { MESSAGES } from '../messages.ts';
import { matchQuickEntry } from '../log/quick-entries.ts';
import type { ReviewPeriod } from '../plan/review-period.ts';

/** Logs with a shorter text get no feedback. */
const MIN_FEEDBACK_CHARS = 10;
/** The latest earlier logs sent as context; those shorter than `MIN_CONTEXT_CHARS` are left out. */
export const CONTEXT_DAYS = 3;
export const MIN_CONTEXT_CHARS = 11;
/** A review needs at least one log of this length. */
export const MIN_REVIEW_ENTRY_CHARS = 11;
/** A shorter reply of the model is invalid: the first minimum is for feedback, the second for a review. */
export const MIN_REPLY_CHARS = 10;
export const MIN_REVIEW_REPLY_CHARS = 50;
export const SCORE_RANGE = { min: 1, max: 10 } as const;
/** `limit`: the server's setting, which may differ from `FAIR_USE_ANALYSES`. */
export const dailyLimitText = (limit: number): string =>
  `You have reached the fair-use limit of ${limit} ${limit === 1 ? 'analysis' : 'analyses'} a day. Please come back tomorrow.`;
/** After more failed retries, `failureMessage` says that the service may be unavailable. */
const MAX_RETRIES_WITH_CAUSE = 2;

/** Why a started analysis failed. */
export type AnalysisProblem = 'configuration' | 'rate' | 'network' | 'format' | 'general';

export const ANALYSIS_PROBLEMS: Readonly<Record<AnalysisProblem, string>> = {
  configuration: 'The AI service is not set up correctly. Please contact support.',
  rate: 'The AI service has reached its limit. Please wait a few minutes and try again.',
  network: 'The AI service could not be reached. Please check your connection and try again.',
  format: 'The AI service sent a malformed answer. Please try again.',
  general: 'The AI service could not analyze this. Try refreshing or writing more detailed content.',
};

export const AI_MESSAGES = {
  premium: 'AI feedback is a premium feature. Upgrade to Closer to access intelligent insights.',
  noEntry: 'No entry found for this date. Write something first to get AI feedback.',
  tooShort: 'Entry is too short for meaningful feedback. Add more details about what you accomplished.',
  canned:
    'This appears to be an empty day entry. Add specific details about your activities to get meaningful AI feedback.',
  reviewsPremium: 'Hustle Reviews are a premium feature. Upgrade to Closer to access trend analysis.',
  reviewsPrice: `${PREMIUM_PRICE.label} • Unlimited logs • AI feedback • Trend analysis • Priority support`,
  emptyPeriod: MESSAGES.emptyPeriod,
  reviewTooShort: 'The entries of this period are too short to analyze. Write a few more words first.',
  reviewFailed: 'Failed to generate analysis',
  noConsent: 'The coach is off for your account: it needs your agreement before it may read your logs.',
  signedOut: 'Not analyzed – sign in and try again.',
  running: 'An analysis is already running. Please wait for it to finish.',
  cancelled: 'Cancelled. Nothing was saved.',
  cancelledBetweenMonths: 'Cancelled. No review was saved. The months that were read are kept for the next try.',
  notConfigured: 'AI analysis is not set up on this server.',
  badRequest: 'The request could not be understood. Please reload the page and try again.',
  unavailableNote: 'The AI service may be temporarily unavailable. Please try again later.',
} as const;

/** Why an analysis was not started: the `code` of a refused request. */
export type CoachRefusal =
  | 'premium'
  | 'not_configured'
  | 'ai_consent'
  | 'no_entry'
  | 'too_short'
  | 'canned'
  | 'running'
  | 'daily_limit'
  | 'bad_request';

/** The request bodies of the functions `ai-feedback` and `trend-analysis`. Days are in the user's time zone. */
export type FeedbackRequest = { date: Day; force?: boolean };
export type ReviewRequest = { period: ReviewPeriod; from: Day; to: Day; force?: boolean };

export type FeedbackResult = {
  score: number;
  feedback: string;
  /** The lines of the log that the feedback cites; each exists. */
  cited: Citation[];
  /** The one fact that would have made the log clearer; null if none is missing. */
  missingFact: string | null;
  /** ISO time at which the analysed text was read; earlier than the log's `updated_at` if `upToDate` is false. */
  analyzedAt: string;
  /** False if the log changed during the analysis. */
  upToDate: boolean;
  /** True if a stored result for the identical text was returned without calling the AI service. */
  reused: boolean;
};

export type ReviewResult = {
  period: ReviewPeriod;
  analysis: string;
  entryCount: number;
  dateRange: { from: Day; to: Day };
  /** ISO time. */
  generatedAt: string;
  /** The days of the period that have a HustleScore, oldest first. */
  scores: { date: Day; score: number }[];
  reused: boolean;
};

/**
 * Step `step` of `of`. A long review has a step for each month that has a log, and a last one for the review itself.
 * `month`: the first day of the month that the coach reads; null for the review. `analyses`: the steps that call the
 * model; the other months have a stored summary of the same text.
 */
export type ReviewProgress = { step: number; of: number; month: Day | null; analyses: number };

/**
 * The server-sent events of an analysis. A stream ends with `done` (sent after the result is stored), `problem`,
 * `refused`, or without any of them if it is interrupted.
 */
export type CoachEvent<Result = FeedbackResult | ReviewResult> =
  | { event: 'score'; data: { score: number } }
  /** Precedes each month that the coach reads for a long review, and the review itself. */
  | { event: 'progress'; data: ReviewProgress }
  /** The rest of a long review was not started. The months that were read are kept, so the next try continues. */
  | { event: 'refused'; data: { code: CoachRefusal; message: string; retryAfterSeconds: number | null } }
  /** Appended to the previous deltas; never retracted during the stream. */
  | { event: 'text'; data: { delta: string } }
  | { event: 'done'; data: Result }
  /** `retryAt`: ISO time before which a retry cannot succeed. */
  | { event: 'problem'; data: { class: AnalysisProblem; message: string; retryAt: string | null } };

/** Why a log gets no feedback, or null. `text` is its plain text. */
export function feedbackRefusal(text: string): 'too_short' | 'canned' | null {
  const trimmed = text.trim();
  if (matchQuickEntry(trimmed) !== null) return 'canned';
  return trimmed.length < MIN_FEEDBACK_CHARS ? 'too_short' : null;
}

/**
 * The message after `failures` consecutive failures (the first attempt and its retries). After several failures it
 * names the service instead of the last cause, except for a configuration error, which waiting does not fix.
 */
export function failureMessage(reason: string, message: string, failures: number): string {
  return failures - 1 > MAX_RETRIES_WITH_CAUSE && reason !== 'configuration' ? AI_MESSAGES.unavailableNote : message;
}

export const isScore = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= SCORE_RANGE.min && value <= SCORE_RANGE.max;
