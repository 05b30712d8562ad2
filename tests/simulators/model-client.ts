/** Calls the model simulator with the product's AI SDK, in all three protocols. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { jsonSchema, Output, streamText, type LanguageModel } from 'ai';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startModelServer, type ModelProvider, type ModelServer } from '../../simulators/ai-model/server.ts';

export const PROVIDERS: readonly ModelProvider[] = ['google', 'anthropic', 'openai-compatible'];

export type Feedback = { score: number; feedback: string; cited: number[]; missingFact: string };

const FEEDBACK_SCHEMA = {
  type: 'object',
  properties: {
    score: { type: 'integer' },
    feedback: { type: 'string' },
    cited: { type: 'array', items: { type: 'integer' } },
    missingFact: { type: 'string' },
  },
  required: ['score', 'feedback', 'cited', 'missingFact'],
  additionalProperties: false,
} as const;

export function createModel(
  server: ModelServer,
  provider: ModelProvider,
  changed: Record<string, string> = {},
): LanguageModel {
  const { AI_BASE_URL, AI_API_KEY, AI_MODEL } = { ...server.settingsFor(provider), ...changed };
  const settings = { baseURL: AI_BASE_URL, apiKey: AI_API_KEY };
  if (provider === 'google') return createGoogle(settings)(AI_MODEL);
  if (provider === 'anthropic') return createAnthropic(settings)(AI_MODEL);
  return createOpenAICompatible({ ...settings, name: 'sandbox', includeUsage: true, supportsStructuredOutputs: true })(
    AI_MODEL,
  );
}

/** A prompt in a format that the simulator does not know in advance. */
export const createPrompt = (items: readonly string[], date = '2026-11-20'): string =>
  `Here is the journal.\n${JSON.stringify({ newest: { date, items: items.map((text, at) => ({ number: at + 1, text })) } })}`;

export type StreamResult = {
  chunks: string[];
  text: string;
  finishReason: string | null;
  rawFinishReason: string | undefined;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  thoughts: string;
  errors: unknown[];
};

type Question = {
  prompt?: string;
  system?: string;
  signal?: AbortSignal;
  maxOutputTokens?: number;
  json?: boolean;
  onChunk?: (count: number) => void;
  providerOptions?: Record<
    string,
    Record<string, never> | { [option: string]: string | boolean | { [inner: string]: boolean } }
  >;
};

/** Reads a stream to its end without retries. Collects errors instead of throwing them. */
export async function runStream(
  model: LanguageModel,
  { prompt = createPrompt(GOOD_DAY), system = SCORING_INSTRUCTION, signal, json, onChunk, ...rest }: Question = {},
): Promise<StreamResult> {
  const heard: StreamResult = {
    chunks: [],
    text: '',
    finishReason: null,
    rawFinishReason: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    thoughts: '',
    errors: [],
  };
  const result = streamText({
    model,
    instructions: system,
    prompt,
    maxRetries: 0,
    ...(signal && { abortSignal: signal }),
    ...(json && { output: Output.object({ schema: jsonSchema<Feedback>(FEEDBACK_SCHEMA) }) }),
    onError: () => undefined,
    ...rest,
  });
  try {
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') {
        heard.chunks.push(part.text);
        onChunk?.(heard.chunks.length);
      }
      if (part.type === 'reasoning-delta') heard.thoughts += part.text;
      if (part.type === 'error') heard.errors.push(part.error);
      if (part.type === 'abort') heard.errors.push('aborted');
      if (part.type !== 'finish') continue;
      heard.finishReason = part.finishReason;
      heard.rawFinishReason = part.rawFinishReason;
      heard.inputTokens = part.totalUsage.inputTokens;
      heard.outputTokens = part.totalUsage.outputTokens;
    }
  } catch (error) {
    heard.errors.push(error);
  }
  heard.text = heard.chunks.join('');
  return heard;
}

export const SCORING_INSTRUCTION = 'You are a coach. The first line is exactly "HustleScore: N/10".';

export const GOOD_DAY = [
  'Replaced the fuel pump of the blue van and drove it 40 km without a fault',
  'Wrote the quote for the Weber kitchen, 11,400 euros, and sent it before noon',
  'Called three of the five late payers; two paid at once',
];
export const LAZY_DAY = ['Some stuff', 'Did various things'];

/** Starts one server per test file and resets it before each test. */
export function useModelServer(): () => ModelServer {
  let server: ModelServer;
  beforeAll(async () => {
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    server = await startModelServer();
  });
  beforeEach(() => server.control.reset());
  afterAll(() => server.close());
  return () => server;
}
