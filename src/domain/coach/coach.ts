/**
 * The coach: what it may be asked, what it answers, and in which words it says that it cannot (docs/specification/coach.md 2 and docs/specification/messages.md 7).
 * The database and `src/server/coach` hold the rules; the screens repeat them for comfort.
 */
import type { Citation } from './citations.ts';
import type { Day } from '../day/day.ts';
import { PREMIUM_PRICE } from '../plan/plan.ts';
import { MESSAGES } from '../messages.ts';
import { quickEntryIn } from '../log/quick-entries.ts';
import type { ReviewPeriod } from '../plan/review-period.ts';

/** A log shorter than this says too little to be judged. */
const MIN_FEEDBACK_CHARS = 10;
/** How many earlier days the coach reads beside the one it is asked about; those with fewer characters are left out. */
export const CONTEXT_DAYS = 3;
export const MIN_CONTEXT_CHARS = 11;
/** A review needs one log with at least so many characters. */
export const MIN_TREND_ENTRY_CHARS = 11;
/** Shorter replies are broken ones. */
export const MIN_REPLY = 10;
export const MIN_TREND_REPLY = 50;
export const SCORES = { least: 1, most: 10 } as const;
/** "Unlimited" means so many analyses a day, feedback and reviews together: it is said wherever the plan is sold. */
export const FAIR_USE_ANALYSES = 100;
export const FAIR_USE_NOTE = `Fair use: ${FAIR_USE_ANALYSES} analyses a day.`;
/** `limit`: the server's own, which may be another. */
export const dailyLimitText = (limit: number): string =>
  `You have reached the fair-use limit of ${limit} ${limit === 1 ? 'analysis' : 'analyses'} a day. Please come back tomorrow.`;
/** After more failed tries than this the panel says that the service may be unavailable. */
const TRIES_BEFORE_NOTE = 2;

/** Why an analysis did not come to be, after it was begun. The texts are `ANALYSIS_PROBLEMS`. */
export type AnalysisProblem = 'configuration' | 'rate' | 'network' | 'format' | 'general';

export const ANALYSIS_PROBLEMS: Readonly<Record<AnalysisProblem, string>> = {
  configuration: 'The AI service is not set up correctly. Please contact support.',
  rate: 'The AI service has reached its limit. Please wait a few minutes and try again.',
  network: 'The AI service could not be reached. Please check your connection and try again.',
  format: 'The AI service sent a malformed answer. Please try again.',
  general: 'The AI service could not analyze this. Try refreshing or writing more detailed content.',
};

/** Everything else the panel and the reviews say. */
export const AI_MESSAGES = {
  premium: 'AI feedback is a premium feature. Upgrade to Closer to access intelligent insights.',
  noEntry: 'No entry found for this date. Write something first to get AI feedback.',
  tooShort: 'Entry is too short for meaningful feedback. Add more details about what you accomplished.',
  canned:
    'This appears to be an empty day entry. Add specific details about your activities to get meaningful AI feedback.',
  reviewsPremium: 'Hustle Reviews are a premium feature. Upgrade to Closer to access trend analysis.',
  reviewsPrice: `${PREMIUM_PRICE.label} • Unlimited logs • AI feedback • Trend analysis • Priority support`,
  emptyPeriod: MESSAGES.emptyPeriod,
  trendTooShort: 'The entries of this period are too short to analyze. Write a few more words first.',
  trendFailed: 'Failed to generate analysis',
  noConsent: 'The coach is off for your account: it needs your agreement before it may read your logs.',
  signedOut: 'Not analyzed – sign in and try again.',
  running: 'An analysis is already running. Please wait for it to finish.',
  notConfigured: 'AI analysis is not set up on this server.',
  badRequest: 'The request could not be understood. Please reload the page and try again.',
  unavailableNote: 'The AI service may be temporarily unavailable. Please try again later.',
} as const;

/** Why nothing was begun: the `code` beside the `error` of a refused request. */
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

export type CoachRefusalAnswer = { success: false; code: CoachRefusal; error: string };

/** What the functions take. Days are the user's own. */
export type FeedbackRequest = { date: Day; force?: boolean };
export type TrendRequest = { period: ReviewPeriod; from: Day; to: Day; force?: boolean };

export type FeedbackResult = {
  score: number;
  feedback: string;
  /** The lines that the feedback speaks of, by the names that it has for them; each exists. */
  cited: Citation[];
  /** The one fact that would have made the day clearer; null when nothing was missing. */
  missingFact: string | null;
  /** ISO time at which the analysed words were read. */
  analyzedAt: string;
  /** False when the log was changed while it was analysed. */
  upToDate: boolean;
  /** True when nothing was sent to the AI service, because these very words had been analysed before. */
  reused: boolean;
};

export type TrendResult = {
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

/** The server-sent events of an analysis, by their names. `done` comes after the result is stored; or `problem`, or neither. */
export type CoachEvent<Result = FeedbackResult | TrendResult> =
  | { event: 'score'; data: { score: number } }
  /** To be put after what came before; it is never taken back while the stream lasts. */
  | { event: 'text'; data: { delta: string } }
  | { event: 'done'; data: Result }
  /** `retryAt`: ISO time before which another try is of no use. */
  | { event: 'problem'; data: { class: AnalysisProblem; message: string; retryAt: string | null } };

/** Why a log cannot be given feedback on, or null. `text` is its plain text. */
export function feedbackRefusal(text: string): 'too_short' | 'canned' | null {
  const trimmed = text.trim();
  if (quickEntryIn(trimmed) !== null) return 'canned';
  return trimmed.length < MIN_FEEDBACK_CHARS ? 'too_short' : null;
}

/**
 * What is said after `failures` failed tries in a row, the first of which was no retry. One sentence: after several of
 * them the state of the service says more than the last cause, unless the cause is one that waiting does not end.
 */
export function failureText(reason: string, message: string, failures: number): string {
  return failures - 1 > TRIES_BEFORE_NOTE && reason !== 'configuration' ? AI_MESSAGES.unavailableNote : message;
}

export const isScore = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= SCORES.least && value <= SCORES.most;
