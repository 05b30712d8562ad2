/**
 * The model by way of the AI SDK (https://ai-sdk.dev). Imported when it is first needed (`model.ts`), and the only file
 * that knows the library.
 *
 * Its traps: a model named by a text would be asked at the maker's own hosted gateway, so what is passed is always an
 * instance, which the types here insist on. Its errors carry the request, and so somebody's journal, and its own way of
 * telling about them is to print them. Its retries know nothing of how long Google asks to wait. A blocked answer is no
 * error to it, and an answer cut off in the middle may look like a whole one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  jsonSchema,
  JSONParseError,
  LoadAPIKeyError,
  NoOutputGeneratedError,
  Output,
  streamText,
  TypeValidationError,
} from 'ai';
import type { FinishReason as SdkFinishReason, JSONSchema7, LanguageModel } from 'ai';
import { parseJson } from '#server/parse-json.ts';
import { classifyFailure, headerDelayMs, isCode, readErrorBody } from './classify-failure.ts';
import type { Failure } from './classify-failure.ts';
import type { CoachSettings } from '../coach-settings.ts';
import { AnswerTooLongError, guardedFetch } from './guarded-fetch.ts';
import { ModelError } from './model.ts';
import type { FinishReason, ModelPart, ModelRequest } from './model.ts';
import { stripInvisible } from '#domain/coach/strip-invisible.ts';

/** A text would be one too, for the SDK. */
type ModelInstance = Exclude<LanguageModel, string>;

/** One more try, and only while nothing has been answered: whoever waits is a person. */
const TRIES = 2;
const RETRY_AFTER_MS = 250;
/** Who is asked to wait for longer than this is told so, instead of kept waiting. */
const LONGEST_WAIT_MS = 5_000;
const LONGEST_DELAY_MS = 24 * 60 * 60 * 1000;

// It warns on the console of what a provider leaves out, such as limits in a schema.
globalThis.AI_SDK_LOG_WARNINGS = false;

export async function openModel({ provider, model, baseUrl, apiKey, structuredBy }: CoachSettings) {
  const key = apiKey?.reveal();
  switch (provider) {
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ baseURL: baseUrl, apiKey: key!, fetch: guardedFetch })(model) satisfies ModelInstance;
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: baseUrl, apiKey: key!, fetch: guardedFetch })(model) satisfies ModelInstance;
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: 'endpoint',
        baseURL: baseUrl,
        fetch: guardedFetch,
        ...(key !== undefined && { apiKey: key }),
        includeUsage: true,
        supportsStructuredOutputs: structuredBy !== 'json',
      })(model) satisfies ModelInstance;
    }
  }
}

export async function* streamReply(
  model: ModelInstance,
  settings: CoachSettings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  for (let tried = 1; ; tried += 1) {
    let answered = false;
    try {
      for await (const part of streamOnce(model, settings, request, signal)) {
        answered = true;
        yield part;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      if (!failure) throw withoutWords(error);
      const { problem, mayRetry } = classifyFailure(failure);
      const delayMs = failure.delayMs ?? RETRY_AFTER_MS * (1 + Math.random());
      // Asked too often, and nobody says for how long: another request would only be one more.
      const isBlind = failure.status === 429 && failure.delayMs === null;
      if (!mayRetry || isBlind || answered || tried === TRIES || delayMs > LONGEST_WAIT_MS) {
        throw new ModelError(problem, retryAfterMs(failure), detailsOf(failure));
      }
      await wait(delayMs, undefined, { signal });
      await request.beforeRetry?.();
    }
  }
}

async function* streamOnce(
  model: ModelInstance,
  { provider, structuredBy }: CoachSettings,
  { schema, instructions, prompt, maxOutputTokens }: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const byShape =
    structuredBy === 'json' ? Output.json() : Output.object({ schema: jsonSchema(schema as JSONSchema7) });
  // The endpoint is asked for the shape, and the library reads text: it would read all of the answer anew with every
  // piece of it, and throw where it is nested too deep.
  const output = { ...Output.text(), responseFormat: byShape.responseFormat };
  const { stream } = streamText({
    model,
    instructions,
    prompt,
    maxOutputTokens,
    // Ours are above. With its own, a quota for the day would be asked for again at once.
    maxRetries: 0,
    abortSignal: signal,
    ...(schema !== null && { output }),
    // Gemini thinks by default, and its thoughts are paid for and counted as output.
    ...(provider === 'google' && { reasoning: 'low' as const }),
    // For Google's `modelVersion`, which the SDK leaves out.
    include: { rawChunks: provider === 'google' },
    onError: () => undefined,
  });

  let text = '';
  let modelVersion: string | null = null;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw signal.reason;
    if (part.type === 'raw') modelVersion ??= textIn(part.rawValue, 'modelVersion');
    if (part.type === 'text-delta') {
      text += part.text;
      yield { type: 'reply', text };
    }
    if (part.type === 'finish-step') {
      if (part.finishReason === 'interrupted' && text === '') break;
      const { inputTokens, outputTokens } = part.usage;
      yield {
        type: 'end',
        finish: FINISH[part.finishReason],
        rawFinish: isCode(part.rawFinishReason) ? part.rawFinishReason : null,
        modelVersion: modelName(modelVersion ?? (provider === 'google' ? null : part.response.modelId)),
        inputTokens: tokenCount(inputTokens),
        outputTokens: tokenCount(outputTokens),
      };
      return;
    }
  }
  throw new InterruptedError();
}

class InterruptedError extends Error {}

/**
 * What nobody foresaw, for the log: where it happened and nothing that was said. Threat: these errors quote what was to
 * be sent, a header that cannot be made with the key in it.
 */
function withoutWords(error: unknown): Error {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const told = new Error(`the library failed with ${isCode(name) ? name : 'an error'}`);
  const frames = stack.split('\n').filter((line) => /^ {4}at .*(?:file:\/\/|node:)\S+:\d+\)?$/.test(line));
  told.stack = [`Error: ${told.message}`, ...frames].join('\n');
  return told;
}

const FINISH: Readonly<Record<SdkFinishReason, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'blocked',
  interrupted: 'interrupted',
  'tool-calls': 'other',
  error: 'other',
  other: 'other',
};

function textIn(value: unknown, name: string): string | null {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof found === 'string' ? found : null;
}

/** What an endpoint says of itself must be what the database can hold, or a good answer would be lost with it. */
const modelName = (said: string | null | undefined): string | null =>
  stripInvisible((said ?? '').slice(0, 200)).trim() || null;
const tokenCount = (said: number | undefined): number | null =>
  said !== undefined && Number.isInteger(said) && said >= 0 && said < 2 ** 31 ? said : null;

const PROTOCOL_ERRORS = [JSONParseError, TypeValidationError, EmptyResponseBodyError];
/** How the SDK puts it that a stream came to its end without the provider having said so. */
const ENDED_EARLY = [NoOutputGeneratedError, InvalidResponseDataError];

/** null: nothing that a provider or the network does. */
function failureOf(error: unknown): Failure | null {
  const nothing = { status: null, codes: [], delayMs: null, perDay: false, malformed: false };
  if (isTooLong(error)) return { ...nothing, malformed: true };
  // Looked at first: a connection that breaks in the middle is wrapped in an answer of 200.
  const broke = error instanceof InterruptedError || isOfNetwork(error);
  if (broke || ENDED_EARLY.some((kind) => kind.isInstance(error))) return nothing;
  if (APICallError.isInstance(error)) {
    const { statusCode, responseHeaders, responseBody } = error;
    // An answer of 200 that could not be read ends up here as well.
    const malformed = statusCode !== undefined && statusCode < 300;
    const body = readErrorBody(parseJson(responseBody ?? ''));
    const delayMs = body.delayMs ?? headerDelayMs(responseHeaders);
    return { ...body, status: statusCode ?? null, delayMs, malformed };
  }
  if (PROTOCOL_ERRORS.some((kind) => kind.isInstance(error))) return { ...nothing, malformed: true };
  if (LoadAPIKeyError.isInstance(error)) return { ...nothing, status: 401 };
  // An error that a provider sent in the middle of its stream.
  if (typeof error === 'object' && error !== null && 'data' in error) {
    const { statusCode, type, code } = error as { statusCode?: unknown; type?: unknown; code?: unknown };
    const body = readErrorBody(error.data);
    const own = readErrorBody({ type, code }).codes;
    return { ...body, codes: [...body.codes, ...own], status: Number(statusCode) || 500, malformed: false };
  }
  return null;
}

/** Node's and undici's errors have codes; the one that tells is often the cause of the one that is thrown. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return (typeof code === 'string' && /^(?:E[A-Z_]+|UND_ERR_\w+)$/.test(code)) || isOfNetwork(error.cause);
}

const isTooLong = (error: unknown): boolean =>
  error instanceof Error && (error instanceof AnswerTooLongError || isTooLong(error.cause));

/** A quota for the day comes back at an hour that nobody tells; what is told with it is no time to wait. */
const retryAfterMs = ({ delayMs, perDay }: Failure): number | null =>
  delayMs === null || perDay ? null : Math.min(delayMs, LONGEST_DELAY_MS);

const detailsOf = ({ status, codes, perDay, delayMs }: Failure): ModelError['details'] => ({
  status,
  codes: codes.join(' '),
  ...(perDay && { quota: 'per day' }),
  ...(delayMs !== null && { delayMs }),
});
