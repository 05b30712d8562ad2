/** OpenAI's Chat Completions API, which Ollama, vLLM and llama.cpp also implement. */
import {
  readBody,
  RefusedError,
  sse,
  readText,
  type Finish,
  type Json,
  type Refusal,
  type ModelReply,
  type Protocol,
} from './protocol.ts';

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
const TYPES: Readonly<Record<number, string>> = { 429: 'requests', 500: 'server_error', 503: 'server_error' };
const FINISHES: Readonly<Record<Finish, string>> = { stop: 'stop', length: 'length', safety: 'content_filter' };
/** Reasoning models reject the parameters of earlier models. */
const REASONING_MODEL = /^(?:o\d|gpt-5)/;
/** A fixed timestamp, so that answers are reproducible. */
const CREATED = 1_764_000_000;

export const openai: Protocol = {
  name: 'openai',
  matches: (path) => path === '/v1/chat/completions',
  readApiKey: (headers) => /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? null,
  invalidKey: { status: 401, message: 'Incorrect API key provided.' },
  read({ body }) {
    const json = readBody(body);
    if (typeof json.model !== 'string' || json.model === '')
      throw new RefusedError({ status: 400, message: 'you must provide a model parameter' });
    if (json.model.startsWith('unknown-'))
      throw new RefusedError({ status: 404, message: `The model '${json.model}' does not exist` });
    if (!Array.isArray(json.messages) || json.messages.length === 0)
      throw new RefusedError({ status: 400, message: "Invalid 'messages': empty array." });
    if (REASONING_MODEL.test(json.model)) rejectOldParameters(json);
    const format = json.response_format?.type ?? 'text';
    const readTextOfRoles = (matches: (role: string) => boolean): string =>
      json.messages.map(({ role, content }: Json) => (matches(role) ? readText(content) : '')).join('\n');
    const isSystem = (role: string): boolean => role === 'system' || role === 'developer';
    return {
      model: json.model,
      streams: json.stream === true,
      system: readTextOfRoles(isSystem),
      prompt: readTextOfRoles((role) => !isSystem(role) && role !== 'assistant'),
      shape:
        format === 'text'
          ? { kind: 'text' }
          : { kind: 'json', schema: json.response_format.json_schema?.schema ?? null },
      maxTokens: json.max_completion_tokens ?? json.max_tokens ?? null,
      includesThoughts: false,
      tool: null,
      streamsUsage: json.stream_options?.include_usage === true,
    };
  },
  refusal,
  refusalFrame: (details) => sse(refusal(details)),
  frames(reply) {
    const { question, thoughts, refusal: declined } = reply;
    const delta = (fields: Json, finishReason: string | null = null): string =>
      sse({ ...completion(reply, true), choices: [{ index: 0, delta: fields, finish_reason: finishReason }] });
    return {
      opening: [
        delta({ role: 'assistant', content: thoughts === null && declined === null ? '' : null }),
        ...(thoughts === null ? [] : [delta({ content: null, reasoning_content: thoughts })]),
        ...(declined === null ? [] : [delta({ content: null, refusal: declined })]),
      ],
      chunk: (text) => delta({ content: text }),
      closing: [
        delta({}, finishOf(reply)),
        ...(question.streamsUsage ? [sse({ ...completion(reply, true), choices: [], usage: usage(reply) })] : []),
        'data: [DONE]\n\n',
      ],
    };
  },
  whole: (reply, text) => ({
    ...completion(reply, false),
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finishOf(reply) }],
    usage: usage(reply),
  }),
  blocked(reply) {
    const refused: ModelReply = { ...reply, finish: 'safety', outputTokens: 0 };
    const { opening, closing } = openai.frames(refused);
    return { frames: [...opening, ...closing], whole: openai.whole(refused, '') };
  },
};

const finishOf = ({ finish, finishName }: ModelReply): string => finishName ?? FINISHES[finish];

function rejectOldParameters(json: Json): void {
  if (json.max_tokens !== undefined)
    throw new RefusedError({
      status: 400,
      name: 'unsupported_parameter',
      param: 'max_tokens',
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    });
  if (json.temperature !== undefined && json.temperature !== 1)
    throw new RefusedError({
      status: 400,
      name: 'unsupported_value',
      param: 'temperature',
      message: `Unsupported value: 'temperature' does not support ${json.temperature} with this model.`,
    });
}

const completion = ({ id, modelVersion }: ModelReply, streamed: boolean): Json => ({
  id: `chatcmpl-${id}`,
  object: streamed ? 'chat.completion.chunk' : 'chat.completion',
  created: CREATED,
  model: modelVersion,
});

const usage = ({ inputTokens, outputTokens }: ModelReply): Json => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

/** `insufficient_quota` means an account without credit. It has status 429, like a rate limit. */
function refusal({ status, name, param, message }: Refusal): Json {
  return {
    error: {
      message: message ?? 'The request failed.',
      type: (param === undefined ? name : undefined) ?? TYPES[status] ?? 'invalid_request_error',
      param: param ?? null,
      code: name ?? CODES[status] ?? null,
    },
  };
}
