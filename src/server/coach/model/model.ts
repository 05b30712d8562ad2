/**
 * Provider-independent interface to the model. The AI SDK behind it is imported with the first analysis, because it
 * takes 30 MB of memory.
 */
import type { AnalysisProblem } from '#domain/coach/coach.ts';
import type { CoachSettings, StructuredBy } from '../coach-settings.ts';

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

/** `length`: the token limit. `blocked`: the provider's safety filter. `interrupted`: the connection. */
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
      /** The resolved version if the model's name is an alias; null if the provider does not report it. */
      modelVersion: string | null;
      inputTokens: number | null;
      outputTokens: number | null;
    };

/** A failed call. Contains no text of the provider, which could quote the journal. */
export class ModelError extends Error {
  readonly problem: AnalysisProblem;
  /** The delay that the provider asks for; null if unknown. */
  readonly retryAfterMs: number | null;
  /** For the server's log: status and codes only. */
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
  /** The last part is `end`. Throws a ModelError, the signal's reason after an abort, or the error of `beforeRetry`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  describe(): { provider: string; model: string; replies: ReplyForm };
}

const REPLY_FORMS: Readonly<Record<StructuredBy, ReplyForm>> = {
  schema: 'object',
  json: 'object',
  text: 'text',
  auto: 'either',
};

export function createCoachModel(settings: CoachSettings): CoachModel {
  const { provider, model, structuredBy } = settings;
  /** Set when the endpoint answers a text fallback: later requests of this process skip the schema. */
  let isSchemaUnsupported = false;
  return {
    async *stream(request, signal) {
      const { openModel, streamReply } = await import('./ai-sdk.ts');
      const opened = await openModel(settings);
      signal.throwIfAborted();
      yield { type: 'request' };
      const { textInstructions } = request;
      if (textInstructions === null || !isSchemaUnsupported) {
        let hasAnswered = false;
        try {
          for await (const part of streamReply(opened, settings, request, signal)) {
            hasAnswered = true;
            yield part;
          }
          return;
        } catch (error) {
          if (textInstructions === null || hasAnswered || !isFormatRejection(error)) throw error;
          await request.beforeRetry?.();
        }
      }
      const asText = { ...request, schema: null, instructions: textInstructions };
      for await (const part of streamReply(opened, settings, asText, signal)) {
        isSchemaUnsupported = true;
        yield part;
      }
    },
    describe: () => ({ provider, model, replies: REPLY_FORMS[structuredBy] }),
  };
}

/**
 * Endpoints answer an unsupported reply format with one of these statuses. Other errors have these statuses too; then
 * the text fallback fails with the same error. `general` means that the content was rejected, so a retry as text would
 * fail too.
 */
const isFormatRejection = (error: unknown): boolean =>
  error instanceof ModelError &&
  error.problem !== 'general' &&
  [400, 415, 422, 501].includes(Number(error.details['status']));
