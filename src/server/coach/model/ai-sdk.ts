/**
 * Adapter for the AI SDK (https://ai-sdk.dev), imported lazily by `create-model.ts`. No other file may import the SDK.
 *
 * Traps of the SDK:
 * - A model given by name is called through the vendor's hosted gateway. The types here allow only instances.
 * - The SDK's errors contain the request, and so the journal. By default the SDK prints them to the console.
 * - The SDK's retries ignore the delay that Google asks for.
 * - The SDK reports neither a blocked answer nor every truncated answer as an error.
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
  type FinishReason as SdkFinishReason,
  type JSONSchema7,
  type LanguageModel,
} from 'ai';
import { stripInvisible } from '#domain/strip-invisible.ts';
import {
  classifyFailure,
  headerDelayMs,
  isCode,
  PARAMETER_REPLACEMENTS,
  readErrorBody,
  rejectedParameter,
  type Failure,
} from './classify-failure.ts';
import { ModelError, type FinishReason, type ModelPart, type ModelRequest } from './model.ts';
import { dropUnknownAnthropicEvent, repairOpenAiEvent, repairStream, type RepairEvent } from './repair-stream.ts';
import type { CoachSettings } from '../../config/provider-settings.ts';
import { parseJson } from '../../parse-json.ts';

/** Excludes model names, because the SDK would call such a model through its vendor's gateway. */
type ModelInstance = Exclude<LanguageModel, string>;

/**
 * At most one retry of a failed call, because a user is waiting. Sending a request again with a rejected parameter
 * replaced or left out does not count.
 */
const MAX_ATTEMPTS = 2;
const RETRY_AFTER_MS = 250;
/** A call is not retried if the provider asks for a longer delay. */
const MAX_RETRY_DELAY_MS = 5_000;
const MAX_REPORTED_DELAY_MS = 24 * 60 * 60 * 1000;

// Suppresses the console warnings of the SDK, for example about schema features that a provider ignores.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** `rejectedParameters`: those of `PARAMETER_REPLACEMENTS` that the endpoint has rejected. `streamReply` adds to them. */
export async function openModel(
  { provider, model, baseUrl, apiKey, structuredBy }: CoachSettings,
  rejectedParameters: ReadonlySet<string> = new Set(),
) {
  const key = apiKey?.reveal();
  switch (provider) {
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ baseURL: baseUrl, apiKey: key!, fetch: createGuardedFetch(null) })(
        model,
      ) satisfies ModelInstance;
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const fetchRepaired = createGuardedFetch(dropUnknownAnthropicEvent);
      return createAnthropic({ baseURL: baseUrl, apiKey: key!, fetch: fetchRepaired })(model) satisfies ModelInstance;
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: 'endpoint',
        baseURL: baseUrl,
        fetch: createGuardedFetch(repairOpenAiEvent),
        ...(key !== undefined && { apiKey: key }),
        includeUsage: true,
        supportsStructuredOutputs: structuredBy !== 'json',
        transformRequestBody: (body) => replaceParameters(body, rejectedParameters),
      })(model) satisfies ModelInstance;
    }
  }
}

function replaceParameters(body: Record<string, unknown>, rejected: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const sentAs = rejected.has(name) ? PARAMETER_REPLACEMENTS.get(name) : name;
      return sentAs == null ? [] : [[sentAs, value]];
    }),
  );
}

export async function* streamReply(
  model: ModelInstance,
  settings: CoachSettings,
  request: ModelRequest,
  signal: AbortSignal,
  rejectedParameters: Set<string> = new Set(),
): AsyncGenerator<ModelPart> {
  const added: string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    let hasAnswered = false;
    try {
      for await (const part of streamOnce(model, settings, request, signal)) {
        hasAnswered = true;
        yield part;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = toFailure(error);
      if (!failure) throw redactError(error);
      const rejected = APICallError.isInstance(error) ? findRejectedParameter(error) : null;
      if (rejected !== null && settings.provider === 'openai-compatible' && !rejectedParameters.has(rejected)) {
        rejectedParameters.add(rejected);
        added.push(rejected);
        attempt -= 1;
        await request.beforeRetry?.();
        continue;
      }
      const { problem, mayRetry } = classifyFailure(failure);
      const delayMs = failure.delayMs ?? RETRY_AFTER_MS * (1 + Math.random());
      // Rate-limited without a stated delay: a retry within a second would only add load.
      const isDelayUnknown = failure.status === 429 && failure.delayMs === null;
      if (!mayRetry || isDelayUnknown || hasAnswered || attempt === MAX_ATTEMPTS || delayMs > MAX_RETRY_DELAY_MS) {
        // The call failed all the same, so the parameter may not have been the cause.
        for (const name of added) rejectedParameters.delete(name);
        throw new ModelError(problem, retryAfterMs(failure), failureDetails(failure));
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
  const structured =
    structuredBy === 'json' ? Output.json() : Output.object({ schema: jsonSchema(schema as JSONSchema7) });
  // Requests the format from the endpoint but lets the SDK treat the answer as text: the SDK's JSON output parses the
  // whole answer again with every chunk and throws on deep nesting.
  const output = { ...Output.text(), responseFormat: structured.responseFormat };
  const { stream } = streamText({
    model,
    instructions,
    prompt,
    maxOutputTokens,
    // `streamReply` retries. The SDK would also retry when a daily quota is used up.
    maxRetries: 0,
    abortSignal: signal,
    ...(schema !== null && { output }),
    // Gemini thinks by default; thinking tokens are billed and count as output.
    ...(provider === 'google' && { reasoning: 'low' as const }),
    // For Google's `modelVersion`, which the SDK does not expose.
    include: { rawChunks: provider === 'google' },
    onError: () => undefined,
  });

  let text = '';
  let modelVersion: string | null = null;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw signal.reason;
    if (part.type === 'raw') modelVersion ??= readString(part.rawValue, 'modelVersion');
    if (part.type === 'text-delta') {
      text += part.text;
      yield { type: 'reply', text };
    }
    if (part.type === 'finish-step') {
      const finish = toFinishReason(part.finishReason, part.rawFinishReason);
      if (finish === 'interrupted' && text === '') break;
      const { inputTokens, outputTokens } = part.usage;
      yield {
        type: 'end',
        finish,
        rawFinish: isCode(part.rawFinishReason) ? part.rawFinishReason : null,
        modelVersion: toModelName(modelVersion ?? (provider === 'google' ? null : part.response.modelId)),
        inputTokens: toTokenCount(inputTokens),
        outputTokens: toTokenCount(outputTokens),
      };
      return;
    }
  }
  throw new InterruptedError();
}

class InterruptedError extends Error {}

const findRejectedParameter = ({ statusCode, responseBody = '' }: APICallError): string | null =>
  rejectedParameter(statusCode ?? null, parseJson(responseBody));

/**
 * Reduces an unexpected error to its name and stack frames for the server's log. Threat: such an error can quote the
 * request, for example an invalid header with the API key.
 */
function redactError(error: unknown): Error {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const redacted = new Error(`the AI SDK failed with ${isCode(name) ? name : 'an error'}`);
  const frames = stack.split('\n').filter((line) => /^ {4}at .*(?:file:\/\/|node:)\S+:\d+\)?$/.test(line));
  redacted.stack = [`Error: ${redacted.message}`, ...frames].join('\n');
  return redacted;
}

const FINISH_REASONS: Readonly<Record<SdkFinishReason, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'blocked',
  interrupted: 'interrupted',
  'tool-calls': 'other',
  error: 'other',
  other: 'other',
};

/** Raw finish reasons, in lower case, of endpoints whose names for them the SDK does not know. */
const OTHER_FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ...['stop', 'eos', 'eos_token', 'end_turn', 'end_of_turn', 'stop_sequence', 'complete'].map(
    (raw) => [raw, 'stop'] as const,
  ),
  ...['length', 'max_tokens', 'max_length', 'model_length', 'token_limit'].map((raw) => [raw, 'length'] as const),
  ...['content_filter', 'safety', 'sensitive', 'refusal', 'recitation'].map((raw) => [raw, 'blocked'] as const),
  ...['error', 'abort', 'network_error', 'insufficient_system_resource'].map((raw) => [raw, 'interrupted'] as const),
]);

function toFinishReason(finish: SdkFinishReason, raw: string | undefined): FinishReason {
  const known = FINISH_REASONS[finish];
  return known === 'other' ? (OTHER_FINISHES.get(raw?.toLowerCase() ?? '') ?? 'other') : known;
}

function readString(value: unknown, name: string): string | null {
  const property: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof property === 'string' ? property : null;
}

// Metadata of the endpoint is untrusted: a value that the database rejects would lose a valid answer.
const toModelName = (reported: string | null | undefined): string | null =>
  stripInvisible((reported ?? '').slice(0, 200)).trim() || null;
const toTokenCount = (reported: number | undefined): number | null =>
  reported !== undefined && Number.isInteger(reported) && reported >= 0 && reported < 2 ** 31 ? reported : null;

const PROTOCOL_ERRORS = [JSONParseError, TypeValidationError, EmptyResponseBodyError];
/** The SDK throws them when a stream ends without the provider's end marker, and seldom for other faults. */
const TRUNCATED_STREAM_ERRORS = [NoOutputGeneratedError, InvalidResponseDataError];

/** Returns null for an unexpected error. */
function toFailure(error: unknown): Failure | null {
  const noDetails = { status: null, codes: [], delayMs: null, perDay: false, malformed: false };
  if (isAnswerTooLong(error)) return { ...noDetails, malformed: true };
  // Checked before APICallError: a connection that breaks in mid-stream is wrapped in one with status 200.
  const isConnectionLost = error instanceof InterruptedError || isNetworkError(error);
  if (isConnectionLost || TRUNCATED_STREAM_ERRORS.some((kind) => kind.isInstance(error))) return noDetails;
  if (APICallError.isInstance(error)) {
    const { statusCode, responseHeaders, responseBody } = error;
    // The SDK also throws this error for an unreadable response with status 200.
    const malformed = statusCode !== undefined && statusCode < 300;
    const body = readErrorBody(parseJson(responseBody ?? ''));
    const status = statusCode ?? null;
    return { ...body, status, delayMs: body.delayMs ?? headerDelayMs(responseHeaders, status), malformed };
  }
  if (PROTOCOL_ERRORS.some((kind) => kind.isInstance(error))) return { ...noDetails, malformed: true };
  if (LoadAPIKeyError.isInstance(error)) return { ...noDetails, status: 401 };
  // An error event within the provider's stream.
  if (typeof error === 'object' && error !== null && 'data' in error) {
    const { statusCode, type, code } = error as { statusCode?: unknown; type?: unknown; code?: unknown };
    const body = readErrorBody(error.data);
    const outerCodes = readErrorBody({ type, code }).codes;
    return { ...body, codes: [...body.codes, ...outerCodes], status: Number(statusCode) || 500, malformed: false };
  }
  return null;
}

/**
 * The codes of sockets, DNS and TLS, and those of undici for a lost or silent connection. Others with the same
 * beginning, such as `ERR_INVALID_STATE` and `UND_ERR_INVALID_ARG`, are faults of a program.
 */
const NETWORK_CODE =
  /^(?:E(?:CONN|HOST|NET|AI_)[A-Z]+|ENOTFOUND|EPIPE|EPROTO|ETIMEDOUT|ERR_SSL_\w+|UND_ERR_(?:SOCKET|\w+_TIMEOUT|RES_\w+))$/;

/** Checks the error codes of Node and undici, also those of the causes. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return (typeof code === 'string' && NETWORK_CODE.test(code)) || isNetworkError(error.cause);
}

const isAnswerTooLong = (error: unknown): boolean =>
  error instanceof Error && (error instanceof AnswerTooLongError || isAnswerTooLong(error.cause));

/** Null for a daily quota: the delay that Google sends with it is not the time of its reset. */
const retryAfterMs = ({ delayMs, perDay }: Failure): number | null =>
  delayMs === null || perDay ? null : Math.min(delayMs, MAX_REPORTED_DELAY_MS);

const failureDetails = ({ status, codes, perDay, delayMs }: Failure): ModelError['details'] => ({
  status,
  codes: codes.join(' '),
  ...(perDay && { quota: 'per day' }),
  ...(delayMs !== null && { delayMs }),
});

/*
 * `fetch` for requests to an AI provider. Threat: a compromised endpoint or proxy redirects the request to another
 * host. `fetch` strips `Authorization` on such a redirect, but not other key headers or the journal in the body. Or the
 * endpoint sends an endless answer, which the SDK would buffer in memory. So redirects are not followed and the
 * answer's size is limited.
 */

/** The longest answer, 6,144 tokens, takes about 3 MB when each token comes in a chunk with the protocol's overhead. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

class AnswerTooLongError extends Error {
  constructor() {
    super('the answer exceeds the size limit');
    this.name = 'AnswerTooLongError';
  }
}

const createGuardedFetch =
  (repair: RepairEvent | null): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    const limited = body.pipeThrough(limitBytes(MAX_ANSWER_BYTES));
    const isWhole = (headers.get('content-type') ?? '').includes('json');
    const repaired = repair && status === 200 ? limited.pipeThrough(repairStream(repair, isWhole)) : limited;
    return new Response(repaired, { status, statusText, headers });
  };

/** Counts decompressed bytes. Threat: a decompression bomb. */
function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, stream) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) stream.error(new AnswerTooLongError());
      else stream.enqueue(chunk);
    },
  });
}
