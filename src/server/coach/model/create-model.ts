/**
 * Creates the coach's model. The AI SDK behind it is imported with the first analysis, because it takes 30 MB of
 * memory.
 */
import type { CoachSettings, StructuredBy } from '../../config/provider-settings.ts';
import { ModelError, type CoachModel, type ModelPart, type ModelRequest, type ReplyForm } from './model.ts';
import { endsUntaggedThought } from '../strip-thoughts.ts';

const REPLY_FORMS: Readonly<Record<StructuredBy, ReplyForm>> = {
  schema: 'object',
  json: 'object',
  text: 'text',
  auto: 'either',
};

export function createCoachModel(settings: CoachSettings): CoachModel {
  const { provider, model, structuredBy } = settings;
  /**
   * Set when the endpoint rejects the schema but answers the text fallback: later requests of this process that have a
   * fallback skip the schema.
   */
  let isSchemaUnsupported = false;
  const rejectedParameters = new Set<string>();
  /**
   * False: the model's thoughts lack their opening marker. Null: unknown, until an OpenAI-compatible endpoint has given
   * a complete answer.
   */
  let opensThoughts: boolean | null = provider === 'openai-compatible' ? null : true;

  /**
   * Some chat templates put `<think>` into the prompt. The answer then begins with a thought whose only marker is the
   * closing `</think>`. Holds back an answer until such a thought has ended or is ruled out, so that the user does not
   * see it.
   */
  async function* holdBackThoughts(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart> {
    let held: ModelPart | null = null;
    let text = '';
    let mayShow = opensThoughts === true;
    for await (const part of parts) {
      if (part.type === 'reply') {
        const mayEnd = /[>\]▷]/.test(part.text.slice(text.length));
        ({ text } = part);
        mayShow ||= startsAsAsked(text) || (mayEnd && endsUntaggedThought(text));
        held = mayShow ? null : part;
        if (held) continue;
      } else if (part.type === 'end') {
        if (text.trim() !== '') opensThoughts = provider !== 'openai-compatible' || !endsUntaggedThought(text);
        if (held) yield held;
      }
      yield part;
    }
  }

  return {
    async *stream(request, signal) {
      const { openModel, streamReply } = await import('./ai-sdk.ts');
      const opened = await openModel(settings, rejectedParameters);
      const send = (sent: ModelRequest) =>
        holdBackThoughts(streamReply(opened, settings, sent, signal, rejectedParameters));
      signal.throwIfAborted();
      yield { type: 'request' };
      const { textInstructions } = request;
      if (textInstructions === null || !isSchemaUnsupported) {
        let hasAnswered = false;
        try {
          for await (const part of send(request)) {
            hasAnswered = true;
            yield part;
          }
          return;
        } catch (error) {
          if (textInstructions === null || hasAnswered || !isFormatRejection(error)) throw error;
          await request.beforeRetry?.();
        }
      }
      for await (const part of send({ ...request, schema: null, instructions: textInstructions })) {
        isSchemaUnsupported = true;
        yield part;
      }
    },
    describe: () => ({ provider, model, replies: REPLY_FORMS[structuredBy] }),
  };
}

/**
 * The start of an object or list, of a fence, tag, heading or bold name, or of a score line. An untagged thought is
 * expected to start with plain words.
 */
const startsAsAsked = (text: string): boolean => /^\s*(?:[{[<`*#◁]|hustle)/i.test(text);

/**
 * Endpoints answer an unsupported reply format with one of these statuses. Other errors have these statuses too; then
 * the text fallback fails with the same error. `general` means that the content was rejected or is too long, so a retry
 * as text would fail too.
 */
const isFormatRejection = (error: unknown): boolean =>
  error instanceof ModelError &&
  error.problem !== 'general' &&
  [400, 415, 422, 501].includes(Number(error.details['status']));
