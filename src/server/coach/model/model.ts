/**
 * The model that answers, whoever runs it. The rest of the coach knows this interface alone; the library behind it is
 * loaded with the first analysis, because it takes 30 MB that most servers need seldom.
 */
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import type { CoachSettings, StructuredBy } from '../coach-settings.ts';

/** `either`: an object, or a text where the endpoint takes no schema or minds none. */
export type ReplyForm = 'object' | 'text' | 'either';

export type ModelRequest = {
  /** An object by this schema is wanted, as far as the endpoint can be held to one; null: a text. */
  schema: object | null;
  instructions: string;
  /** What is said instead to an endpoint that turns out to take no schema; null: such a one has failed. */
  textInstructions: string | null;
  prompt: string;
  maxOutputTokens: number;
  /** Asked before the same is sent a second time; what it throws ends the stream. */
  beforeRetry?: () => Promise<void>;
};

/** Why a model stopped: by itself, at the limit of its length, held back by its provider, cut off, or else. */
export type FinishReason = 'stop' | 'length' | 'blocked' | 'interrupted' | 'other';

export type ModelPart =
  /** The question goes out now. Comes first. */
  | { type: 'asked' }
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
  describe(): { provider: string; model: string; replies: ReplyForm };
}

const REPLIES: Readonly<Record<StructuredBy, ReplyForm>> = {
  schema: 'object',
  json: 'object',
  text: 'text',
  auto: 'either',
};

export function createCoachModel(settings: CoachSettings): CoachModel {
  const { provider, model, structuredBy } = settings;
  /** Found out by the first question, and true for as long as the process lives. */
  let takesNoSchema = false;
  return {
    async *stream(request, signal) {
      const { openModel, streamReply } = await import('./ai-sdk.ts');
      const opened = await openModel(settings);
      signal.throwIfAborted();
      yield { type: 'asked' };
      const { textInstructions } = request;
      if (textInstructions === null || !takesNoSchema) {
        let answered = false;
        try {
          for await (const part of streamReply(opened, settings, request, signal)) {
            answered = true;
            yield part;
          }
          return;
        } catch (error) {
          if (textInstructions === null || answered || !isRefusedQuestion(error)) throw error;
          await request.beforeRetry?.();
        }
      }
      const asText = { ...request, schema: null, instructions: textInstructions };
      for await (const part of streamReply(opened, settings, asText, signal)) {
        takesNoSchema = true;
        yield part;
      }
    },
    describe: () => ({ provider, model, replies: REPLIES[structuredBy] }),
  };
}

/**
 * What endpoints answer to a form of reply that they do not know; also to much else, which the next try tells. `general`
 * is what they say of the words themselves.
 */
const isRefusedQuestion = (error: unknown): boolean =>
  error instanceof ModelError &&
  error.problem !== 'general' &&
  [400, 415, 422, 501].includes(Number(error.details['status']));
