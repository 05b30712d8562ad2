/** OpenAI's chat completions, which Ollama, vLLM and llama.cpp speak as well. */
import { readBody, Refused, sse, textOf } from './wire.ts';
import type { Finish, Json, Refusal, Spoken, Wire } from './wire.ts';

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
const TYPES: Readonly<Record<number, string>> = { 429: 'requests', 500: 'server_error', 503: 'server_error' };
const FINISHES: Readonly<Record<Finish, string>> = { stop: 'stop', length: 'length', safety: 'content_filter' };
/** When the simulator was born, so that answers are the same in every run. */
const CREATED = 1_764_000_000;

export const openai: Wire = {
  name: 'openai',
  fits: (path) => path === '/v1/chat/completions',
  keyOf: (headers) => /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? null,
  wrongKey: { status: 401, message: 'Incorrect API key provided.' },
  read({ body }) {
    const asked = readBody(body);
    if (typeof asked.model !== 'string' || asked.model === '')
      throw new Refused({ status: 400, message: 'you must provide a model parameter' });
    if (asked.model.startsWith('unknown-'))
      throw new Refused({ status: 404, message: `The model '${asked.model}' does not exist` });
    if (!Array.isArray(asked.messages) || asked.messages.length === 0)
      throw new Refused({ status: 400, message: "Invalid 'messages': empty array." });
    const format = asked.response_format?.type ?? 'text';
    const said = (wanted: (role: string) => boolean): string =>
      asked.messages.map(({ role, content }: Json) => (wanted(role) ? textOf(content) : '')).join('\n');
    const isSystem = (role: string): boolean => role === 'system' || role === 'developer';
    return {
      model: asked.model,
      streams: asked.stream === true,
      system: said(isSystem),
      prompt: said((role) => !isSystem(role) && role !== 'assistant'),
      shape:
        format === 'text'
          ? { kind: 'text' }
          : { kind: 'json', schema: asked.response_format.json_schema?.schema ?? null },
      maxTokens: asked.max_completion_tokens ?? asked.max_tokens ?? null,
      shows: 'answer',
      tool: null,
      counts: asked.stream_options?.include_usage === true,
    };
  },
  refusal,
  refusalFrame: (told) => sse(refusal(told)),
  frames(spoken) {
    const { asked, finish, thoughts } = spoken;
    const delta = (fields: Json, finishReason: string | null = null): string =>
      sse({ ...completion(spoken, true), choices: [{ index: 0, delta: fields, finish_reason: finishReason }] });
    return {
      opening: [
        delta({ role: 'assistant', content: '' }),
        ...(thoughts === null ? [] : [delta({ reasoning_content: thoughts })]),
      ],
      chunk: (text) => delta({ content: text }),
      closing: [
        delta({}, FINISHES[finish]),
        ...(asked.counts ? [sse({ ...completion(spoken, true), choices: [], usage: usage(spoken) })] : []),
        'data: [DONE]\n\n',
      ],
    };
  },
  whole: (spoken, text) => ({
    ...completion(spoken, false),
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: FINISHES[spoken.finish] }],
    usage: usage(spoken),
  }),
  blocked(spoken) {
    const refused: Spoken = { ...spoken, finish: 'safety', outputTokens: 0 };
    const { opening, closing } = openai.frames(refused);
    return { frames: [...opening, ...closing], whole: openai.whole(refused, '') };
  },
};

const completion = ({ id, modelVersion }: Spoken, streamed: boolean): Json => ({
  id: `chatcmpl-${id}`,
  object: streamed ? 'chat.completion.chunk' : 'chat.completion',
  created: CREATED,
  model: modelVersion,
});

const usage = ({ inputTokens, outputTokens }: Spoken): Json => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

/** `insufficient_quota` is the name of an account without money, with the same 429 as a rate. */
function refusal({ status, name, message }: Refusal): Json {
  return {
    error: {
      message: message ?? 'The request failed.',
      type: name ?? TYPES[status] ?? 'invalid_request_error',
      param: null,
      code: name ?? CODES[status] ?? null,
    },
  };
}
