/** Streams that differ from the protocol of their provider are read or get the right class of failure (coach.md 8). */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readConfig } from '#server/config/config.ts';
import { openModel, streamReply } from './ai-sdk.ts';
import { ModelError } from './model.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const SETTINGS = {
  openai: { AI_PROVIDER: 'openai-compatible', AI_BASE_URL: 'http://127.0.0.1:1/v1', AI_MODEL: 'llama' },
  anthropic: { AI_PROVIDER: 'anthropic', AI_API_KEY: 'key', AI_MODEL: 'claude' },
};

/** Sends the body in pieces of `bytes`. Returns the text and how it ended, or the class of the failure. */
async function read(
  body: string,
  { provider = 'openai', type = 'text/event-stream', bytes = 1_000, status = 200 }: Partial<Options> = {},
): Promise<string> {
  const sent = Buffer.from(body);
  vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= sent.length) controller.close();
        else controller.enqueue(sent.subarray(at, (at += bytes)));
      },
    });
    return Promise.resolve(new Response(stream, { status, headers: { 'content-type': type } }));
  });
  const settings = readConfig(SETTINGS[provider]).coach!;
  const request = {
    schema: null,
    textInstructions: null,
    instructions: 'Judge.',
    prompt: 'A day.',
    maxOutputTokens: 9,
  };
  let text = '';
  try {
    for await (const part of streamReply(await openModel(settings), settings, request, AbortSignal.timeout(5_000))) {
      if (part.type === 'reply') ({ text } = part);
      if (part.type === 'end') return `${text} ${part.finish}`;
    }
  } catch (error) {
    if (error instanceof ModelError) return error.problem;
    throw error;
  }
  return 'no end';
}

type Options = { provider: keyof typeof SETTINGS; type: string; bytes: number; status: number };

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object | null, finish: string | null = null): string =>
  event({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });
const DONE = 'data: [DONE]\n\n';
const WORDS = chunk({ content: 'Grüße ' }) + chunk({ content: '👍' });
const REPLY = WORDS + chunk({}, 'stop') + DONE;

describe('an OpenAI-compatible stream is read', () => {
  test.each([
    ['with comments', `: OPENROUTER PROCESSING\n\n${REPLY}`],
    ['with names of events', REPLY.replaceAll('data:', 'event: message\nid: 1\ndata:')],
    ['without spaces', REPLY.replaceAll('data: ', 'data:')],
    ['with CRLF', REPLY.replaceAll('\n', '\r\n')],
    ['with CR', REPLY.replaceAll('\n', '\r')],
    ['with a byte order mark', `\ufeff${REPLY}`],
    ['with keep-alives', `data:\n\ndata: ping\n\ndata: {}\n\n${REPLY}`],
    ['with events without choices', event({ choices: null }) + event({ usage: null }) + REPLY],
    ['without its end marker', WORDS + chunk({}, 'stop')],
    ['without a finish reason before its end marker', WORDS + DONE],
    ['with an empty finish reason', WORDS + chunk({}, '') + DONE],
    ['with a finish reason in capitals', WORDS + chunk({}, 'STOP') + DONE],
    ['without a last line end', REPLY.trimEnd()],
  ])('%s', async (_how, body) => {
    for (const bytes of [1, 3, 1_000]) expect(await read(body, { bytes })).toBe('Grüße 👍 stop');
  });

  test.each([
    REPLY,
    JSON.stringify({ choices: [{ message: { content: 'Grüße 👍' }, finish_reason: 'stop' }] }, null, 2),
  ])('as JSON: %#', async (body) => expect(await read(body, { type: 'application/json' })).toBe('Grüße 👍 stop'));
});

test.each([
  ['a stream that breaks', WORDS, 'network'],
  ['a stream that breaks within an event', WORDS.slice(0, -12), 'network'],
  ['an event that is no JSON', `${WORDS}data: {"choices":[{"del\n\n${DONE}`, 'format'],
  ['an error as a text', event({ error: 'the model crashed' }), 'network'],
  [
    'an error of vLLM',
    event({ object: 'error', message: 'too long', type: 'BadRequestError', code: 400 }),
    'configuration',
  ],
  [
    'an error of llama.cpp',
    'error: {"code":401,"message":"no key","type":"authentication_error"}\n\n',
    'configuration',
  ],
  ['an answer of Groq that is no JSON', WORDS + event({ error: { code: 'json_validate_failed' } }), 'format'],
])('%s is told by its class', async (_what, body, problem) => {
  expect(await read(body)).toBe(problem);
});

test.each([
  ['an error with status 200', 200, { error: { message: 'no key', code: 401 } }, 'configuration'],
  ['a model that Ollama does not have', 404, { error: { message: 'not found', type: 'api_error' } }, 'configuration'],
  ['a text that OpenRouter refuses', 403, { error: { code: 403, metadata: { flagged_input: 'x' } } }, 'general'],
])('%s is told by its class', async (_what, status, body, problem) => {
  expect(await read(JSON.stringify(body), { type: 'application/json', status })).toBe(problem);
});

test('an unknown event of Anthropic is left out', async () => {
  const send = (type: string, fields: object): string => `event: ${type}\n${event({ type, ...fields })}`;
  const usage = { input_tokens: 5, output_tokens: 1 };
  const body = [
    send('message_start', { message: { id: 'm', role: 'assistant', model: 'claude', content: [], usage } }),
    send('new_kind_of_event', { x: 1 }),
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
    send('content_block_stop', { index: 0 }),
    send('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    send('message_stop', {}),
  ].join('');
  expect(await read(body, { provider: 'anthropic' })).toBe('Grüße stop');
});
