/** Anthropic's messages, in the two ways in which its library asks for JSON: a format of the output, or a tool's input. */
import { readBody, Refused, textOf } from './wire.ts';
import type { Finish, Json, Refusal, Spoken, Wire } from './wire.ts';

const NAMES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const STOPS: Readonly<Record<Finish, string>> = { stop: 'end_turn', length: 'max_tokens', safety: 'refusal' };

export const anthropic: Wire = {
  name: 'anthropic',
  fits: (path) => path === '/v1/messages',
  keyOf: (headers) => headers['x-api-key'] ?? null,
  wrongKey: { status: 401, message: 'invalid x-api-key' },
  read({ headers, body }) {
    if (headers['anthropic-version'] === undefined)
      throw new Refused({ status: 400, message: 'anthropic-version: header is required' });
    const asked = readBody(body);
    if (typeof asked.model !== 'string' || !asked.model.startsWith('claude-'))
      throw new Refused({ status: 404, message: `model: ${String(asked.model)}` });
    if (typeof asked.max_tokens !== 'number') throw new Refused({ status: 400, message: 'max_tokens: Field required' });
    if (!Array.isArray(asked.messages) || asked.messages.length === 0)
      throw new Refused({ status: 400, message: 'messages: at least one message is required' });
    const format = asked.output_config?.format ?? asked.output_format;
    const tool = (asked.tools ?? []).find(
      ({ name }: Json) => asked.tool_choice?.type === 'any' || name === asked.tool_choice?.name,
    );
    const schema = tool?.input_schema ?? (format?.type === 'json_schema' ? format.schema : null);
    return {
      model: asked.model,
      streams: asked.stream === true,
      system: textOf(asked.system),
      prompt: asked.messages.map(({ role, content }: Json) => (role === 'assistant' ? '' : textOf(content))).join('\n'),
      shape: schema === null ? { kind: 'text' } : { kind: 'json', schema },
      maxTokens: asked.max_tokens,
      shows: ['enabled', 'adaptive'].includes(asked.thinking?.type) ? 'thoughts' : 'answer',
      tool: tool?.name ?? null,
      counts: true,
    };
  },
  refusal,
  refusalFrame: (told) => event(refusal(told)),
  frames(spoken) {
    const { asked, inputTokens, outputTokens, thoughts } = spoken;
    const index = thoughts === null ? 0 : 1;
    const start = { ...message(spoken), content: [], stop_reason: null, stop_sequence: null };
    const block = asked.tool === null ? { type: 'text', text: '' } : toolUse(spoken, {});
    return {
      opening: [
        event({ type: 'message_start', message: { ...start, usage: { input_tokens: inputTokens, output_tokens: 1 } } }),
        ...thinking(thoughts),
        event({ type: 'content_block_start', index, content_block: block }),
        event({ type: 'ping' }),
      ],
      chunk: (text) =>
        event({
          type: 'content_block_delta',
          index,
          delta: asked.tool === null ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text },
        }),
      closing: [
        event({ type: 'content_block_stop', index }),
        event({
          type: 'message_delta',
          delta: { stop_reason: stopOf(spoken), stop_sequence: null },
          usage: { output_tokens: outputTokens },
        }),
        event({ type: 'message_stop' }),
      ],
    };
  },
  whole(spoken, text) {
    const { asked, inputTokens, outputTokens } = spoken;
    // A tool's input that was cut off arrives here as an object without fields.
    const answered = asked.tool === null ? { type: 'text', text } : toolUse(spoken, objectOf(text));
    return {
      ...message(spoken),
      content: [answered],
      stop_reason: stopOf(spoken),
      stop_sequence: null,
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    };
  },
  /** There is no refused prompt of its own: the answer stops before it begins. */
  blocked(spoken) {
    const refused: Spoken = { ...spoken, finish: 'safety', outputTokens: 0 };
    const { opening, closing } = anthropic.frames(refused);
    return { frames: [...opening, ...closing], whole: anthropic.whole(refused, '') };
  },
};

const event = (data: { type: string; [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const message = ({ id, modelVersion }: Spoken): Json => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model: modelVersion,
});

const toolUse = ({ id, asked }: Spoken, input: Json): Json => ({
  type: 'tool_use',
  id: `toolu_${id}`,
  name: asked.tool,
  input,
});

function thinking(thoughts: string | null): string[] {
  if (thoughts === null) return [];
  return [
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thoughts } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2FuZGJveA==' } }),
    event({ type: 'content_block_stop', index: 0 }),
  ];
}

const stopOf = ({ asked, finish }: Spoken): string =>
  asked.tool !== null && finish === 'stop' ? 'tool_use' : STOPS[finish];

function objectOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function refusal({ status, name, message: told }: Refusal): { type: string; error: Json } {
  const type = name ?? NAMES[status] ?? 'api_error';
  return { type: 'error', error: { type, message: told ?? (type === 'overloaded_error' ? 'Overloaded' : type) } };
}
