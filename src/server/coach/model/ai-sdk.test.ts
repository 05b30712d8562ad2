/** Tests that only one, lazily imported file uses the AI SDK, and that the SDK never calls its vendor's gateway. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '#server/config/config.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { openModel, streamReply } from './ai-sdk.ts';

const SOURCES = join(import.meta.dirname, '..', '..', '..');

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('only ai-sdk.ts imports the AI SDK, and no file imports ai-sdk.ts statically', async () => {
  const importers: string[] = [];
  const staticImporters: string[] = [];
  for (const name of await readdir(SOURCES, { recursive: true })) {
    if (!/\.tsx?$/.test(name) || name.includes('.test.')) continue;
    const text = await readFile(join(SOURCES, name), 'utf8');
    if (/(?:from|import\() ?'(?:ai|@ai-sdk\/[\w-]+)'/.test(text)) importers.push(name);
    if (/from '[^']*\/ai-sdk\.ts'/.test(text)) staticImporters.push(name);
  }
  expect(importers).toEqual([join('server', 'coach', 'model', 'ai-sdk.ts')]);
  expect(staticImporters).toEqual([]);
});

test.each([
  [{ AI_PROVIDER: 'google', AI_API_KEY: 'key' }, 'google'],
  [{ AI_PROVIDER: 'anthropic', AI_API_KEY: 'key', AI_MODEL: 'claude' }, 'anthropic'],
  [{ AI_PROVIDER: 'openai-compatible', AI_BASE_URL: 'http://127.0.0.1:1/v1', AI_MODEL: 'llama' }, 'endpoint'],
])('%j opens a model instance of the provider', async (settings, provider) => {
  const model = await openModel(readConfig(settings).coach!);
  expect(model).toMatchObject({ specificationVersion: 'v4', provider: expect.stringContaining(provider) });
});

test("ignores API keys in the SDK's own environment variables", async () => {
  vi.stubEnv('AI_GATEWAY_API_KEY', 'theirs');
  vi.stubEnv('OPENAI_API_KEY', 'theirs');
  const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('', { status: 401 }));
  const settings = { AI_PROVIDER: 'openai-compatible', AI_BASE_URL: 'http://127.0.0.1:1/v1', AI_MODEL: 'llama' };
  const model = await openModel(readConfig(settings).coach!);
  await Promise.resolve(model.doStream({ prompt: [] })).catch(() => undefined);
  const [url, request] = sent.mock.calls[0]!;
  expect(url).toBe('http://127.0.0.1:1/v1/chat/completions');
  expect(JSON.stringify(request?.headers)).not.toContain('theirs');
});

const chunkOf = (delta: object, end: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;

/** Streams `text` from an endpoint character by character and returns what `streamReply` yields. */
function streamByCharacter(text: string): Promise<string> {
  const characters = Array.from(text, (content) => chunkOf({ content })).join('');
  return receive(`${characters}${chunkOf({}, 'stop')}data: [DONE]\n\n`);
}

/** Returns what `streamReply` yields while an endpoint answers with `body`. */
async function receive(body: string | ReadableStream): Promise<string> {
  vi.spyOn(globalThis, 'fetch').mockResolvedValue(
    new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  );
  return streamAnswer();
}

async function streamAnswer(): Promise<string> {
  const settings = readConfig({
    AI_PROVIDER: 'openai-compatible',
    AI_BASE_URL: 'http://127.0.0.1:1/v1',
    AI_MODEL: 'llama',
  }).coach!;
  const request = { schema: {}, textInstructions: null, instructions: 'Judge.', prompt: 'A day.', maxOutputTokens: 9 };
  let received = '';
  for await (const part of streamReply(await openModel(settings), settings, request, new AbortController().signal)) {
    if (part.type === 'reply') received = part.text;
  }
  return received;
}

test.each([
  { AI_PROVIDER: 'google', AI_API_KEY: 'key' },
  { AI_PROVIDER: 'anthropic', AI_API_KEY: 'key', AI_MODEL: 'claude' },
  { AI_PROVIDER: 'openai-compatible', AI_API_KEY: 'key', AI_BASE_URL: 'http://127.0.0.1:1/v1', AI_MODEL: 'llama' },
])('an unexpected error contains neither the API key nor the journal: %j', async (env) => {
  const settings = { ...readConfig(env).coach!, apiKey: new Secret('sk-hush-hush\nhush-hush') };
  const request = {
    schema: {},
    instructions: 'Judge.',
    textInstructions: null,
    prompt: 'A zyxgate day.',
    maxOutputTokens: 9,
  };
  const parts = streamReply(await openModel(settings), settings, request, new AbortController().signal);
  const error = await parts.next().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  const { message, stack, cause } = error as Error;
  expect(cause).toBeUndefined();
  expect(stack).toMatch(/\n +at /);
  expect(`${message} ${stack} ${inspect(error)}`).not.toMatch(/hush|zyxgate/);
});

const errorWith = (code: string): Error => Object.assign(new TypeError('failed'), { code });

test.each([
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_BODY_TIMEOUT',
])('%s in mid-stream is a problem of the network', async (code) => {
  const chunks = [chunkOf({ content: '{' })];
  const body = new ReadableStream({
    pull(stream) {
      const chunk = chunks.shift();
      if (chunk === undefined) stream.error(errorWith(code));
      else stream.enqueue(new TextEncoder().encode(chunk));
    },
  });
  await expect(receive(body)).rejects.toMatchObject({ name: 'ModelError', problem: 'network' });
});

test.each(['ERR_INVALID_STATE', 'ERR_INVALID_ARG_TYPE', 'ENOENT', 'UND_ERR_INVALID_ARG'])(
  '%s is an unexpected error, no problem of the network',
  async (code) => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(errorWith(code));
    await expect(streamAnswer()).rejects.toThrow('the AI SDK failed with TypeError');
  },
);

test('does not parse a growing JSON reply with every chunk', async () => {
  const text = JSON.stringify({ score: 7, feedback: 'x'.repeat(1_000) });
  const parse = vi.spyOn(JSON, 'parse');
  expect(await streamByCharacter(text)).toBe(text);
  expect(parse.mock.calls.filter(([input]) => input.startsWith('{"score"')).length).toBeLessThan(10);
});

test('passes deeply nested JSON on as text', async () => {
  const text = `{"feedback":${'['.repeat(8_000)}`;
  expect(await streamByCharacter(text)).toBe(text);
});
