/**
 * Creates the coach's model. The AI SDK behind it is imported with the first analysis, because it takes 30 MB of memory.
 */
import type { CoachSettings, StructuredBy } from '../coach-settings.ts';
import { ModelError } from './model.ts';
import type { CoachModel, ReplyForm } from './model.ts';

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
