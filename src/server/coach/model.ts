/**
 * The model that answers, whoever runs it. The rest of the coach knows this interface alone; the library behind it is
 * loaded with the first analysis, because it takes 30 MB that most servers need seldom.
 */
import type { AnalysisProblem } from '#domain/coach.ts';
import type { CoachSettings } from './coach-settings.ts';

export type ModelRequest = {
  /** An object by this schema is wanted, as far as the endpoint can be held to one; null: a text. */
  schema: object | null;
  instructions: string;
  prompt: string;
  maxOutputTokens: number;
  /** Asked before the same is sent a second time; what it throws ends the stream. */
  beforeRetry?: () => Promise<void>;
};

/** Why a model stopped: by itself, at the limit of its length, held back by its provider, cut off, or else. */
export type FinishReason = 'stop' | 'length' | 'blocked' | 'interrupted' | 'other';

export type ModelPart =
  /** All of the answer so far. */
  | { type: 'reply'; text: string }
  | {
      type: 'end';
      finish: FinishReason;
      /** The provider's own word for it. */
      rawFinish: string | null;
      /** What has really answered where the model's name is an alias; null when the provider does not say. */
      modelVersion: string | null;
      inputTokens: number | null;
      outputTokens: number | null;
    };

/** A call that failed. The message is ours; nothing of it was said by the provider. */
export class ModelError extends Error {
  readonly problem: AnalysisProblem;
  /** For so long another try is of no use; null when nobody knows. */
  readonly retryAfterMs: number | null;
  /** For the log: status and codes, never words. */
  readonly details: Readonly<Record<string, string | number | null>>;

  constructor(problem: AnalysisProblem, retryAfterMs: number | null, details: ModelError['details']) {
    super(`the model failed: ${problem}`);
    this.name = 'ModelError';
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
  }
}

export interface CoachModel {
  /** Ends after a part `end`. Throws a ModelError, or the signal's reason once it is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  describe(): { provider: string; model: string; replies: 'object' | 'text' };
}

export function createCoachModel(settings: CoachSettings): CoachModel {
  const { provider, model, structuredBy } = settings;
  return {
    async *stream(request, signal) {
      const { openModel, streamReply } = await import('./ai-sdk.ts');
      yield* streamReply(await openModel(settings), settings, request, signal);
    },
    describe: () => ({ provider, model, replies: structuredBy === 'text' ? 'text' : 'object' }),
  };
}
