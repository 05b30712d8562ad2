/** Anthropic's Messages API. Its SDK requests JSON in two ways: as an output format, or as the input of a tool. */
import {
  readBody,
  RefusedError,
  readText,
  type Finish,
  type Json,
  type Refusal,
  type ModelReply,
  type Protocol,
} from './protocol.ts';

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

export const anthropic: Protocol = {
  name: 'anthropic',
  matches: (path) => path === '/v1/messages',
  readApiKey: (headers) => headers['x-api-key'] ?? null,
  invalidKey: { status: 401, message: 'invalid x-api-key' },
  read({ headers, body }) {
    if (headers['anthropic-version'] === undefined)
      throw new RefusedError({ status: 400, message: 'anthropic-version: header is required' });
    const json = readBody(body);
    if (typeof json.model !== 'string' || !json.model.startsWith('claude-'))
      throw new RefusedError({ status: 404, message: `model: ${String(json.model)}` });
    if (typeof json.max_tokens !== 'number')
      throw new RefusedError({ status: 400, message: 'max_tokens: Field required' });
    if (!Array.isArray(json.messages) || json.messages.length === 0)
      throw new RefusedError({ status: 400, message: 'messages: at least one message is required' });
    const format = json.output_config?.format ?? json.output_format;
    const tool = (json.tools ?? []).find(
      ({ name }: Json) => json.tool_choice?.type === 'any' || name === json.tool_choice?.name,
    );
    const schema = tool?.input_schema ?? (format?.type === 'json_schema' ? format.schema : null);
    return {
      model: json.model,
      streams: json.stream === true,
      system: readText(json.system),
      prompt: json.messages
        .map(({ role, content }: Json) => (role === 'assistant' ? '' : readText(content)))
        .join('\n'),
      shape: schema === null ? { kind: 'text' } : { kind: 'json', schema },
      maxTokens: json.max_tokens,
      includesThoughts: ['enabled', 'adaptive'].includes(json.thinking?.type),
      tool: tool?.name ?? null,
      streamsUsage: true,
    };
  },
  refusal,
  refusalFrame: (details) => event(refusal(details)),
  frames(reply) {
    const { question, inputTokens, outputTokens, thoughts } = reply;
    const index = thoughts === null ? 0 : 1;
    const start = { ...message(reply), content: [], stop_reason: null, stop_sequence: null };
    const block = question.tool === null ? { type: 'text', text: '' } : toolUse(reply, {});
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
          delta:
            question.tool === null ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text },
        }),
      closing: [
        event({ type: 'content_block_stop', index }),
        event({
          type: 'message_delta',
          delta: { stop_reason: stopReason(reply), stop_sequence: null },
          usage: { output_tokens: outputTokens },
        }),
        event({ type: 'message_stop' }),
      ],
    };
  },
  whole(reply, text) {
    const { question, inputTokens, outputTokens } = reply;
    // Truncated tool input is parsed as an object without fields.
    const answered = question.tool === null ? { type: 'text', text } : toolUse(reply, parseObject(text));
    return {
      ...message(reply),
      content: [answered],
      stop_reason: stopReason(reply),
      stop_sequence: null,
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
    };
  },
  /** The protocol has no rejected prompt: the answer ends with a refusal before any text. */
  blocked(reply) {
    const refused: ModelReply = { ...reply, finish: 'safety', outputTokens: 0 };
    const { opening, closing } = anthropic.frames(refused);
    return { frames: [...opening, ...closing], whole: anthropic.whole(refused, '') };
  },
};

const event = (data: { type: string; [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const message = ({ id, modelVersion }: ModelReply): Json => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model: modelVersion,
});

const toolUse = ({ id, question }: ModelReply, input: Json): Json => ({
  type: 'tool_use',
  id: `toolu_${id}`,
  name: question.tool,
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

const stopReason = ({ question, finish, finishName }: ModelReply): string =>
  finishName ?? (question.tool !== null && finish === 'stop' ? 'tool_use' : STOPS[finish]);

function parseObject(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function refusal({ status, name, message: text }: Refusal): { type: string; error: Json } {
  const type = name ?? NAMES[status] ?? 'api_error';
  return { type: 'error', error: { type, message: text ?? (type === 'overloaded_error' ? 'Overloaded' : type) } };
}
