/** The provider-independent interface to the model. */
import type { AnalysisProblem } from '#domain/coach/coach.ts';

/** `either`: an object, or text if the endpoint rejects or ignores the schema. */
export type ReplyForm = 'object' | 'text' | 'either';

export type ModelRequest = {
  /** JSON schema of the reply, for endpoints that support one. Null requests text. */
  schema: object | null;
  instructions: string;
  /** Instructions for the text fallback when the endpoint rejects the schema. Null disables the fallback. */
  textInstructions: string | null;
  prompt: string;
  maxOutputTokens: number;
  /** Runs before a retry. If it throws, the stream ends with that error. */
  beforeRetry?: () => Promise<void>;
};

/**
 * `length`: the token limit. `blocked`: the provider's safety filter. `interrupted`: the connection or the provider
 * failed.
 */
export type FinishReason = 'stop' | 'length' | 'blocked' | 'interrupted' | 'other';

export type ModelPart =
  /** The first part: the request is being sent. */
  | { type: 'request' }
  /** The whole answer so far. */
  | { type: 'reply'; text: string }
  | {
      type: 'end';
      finish: FinishReason;
      /** The provider's own name of the finish reason. */
      rawFinish: string | null;
      /** The model that the provider reports, such as the version behind an alias; null if it reports none. */
      modelVersion: string | null;
      inputTokens: number | null;
      outputTokens: number | null;
    };

/** A failed call. Contains no message of the provider, which could quote the journal. */
export class ModelError extends Error {
  readonly problem: AnalysisProblem;
  /** The delay that the provider asks for; null if unknown. */
  readonly retryAfterMs: number | null;
  /** For the server's log: status, codes, daily quota and delay. */
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
  /**
   * The last part is `end`. Throws a ModelError, the signal's reason after an abort, the error of `beforeRetry`, or an
   * unexpected error, redacted.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  describe(): { provider: string; model: string; replies: ReplyForm };
}
