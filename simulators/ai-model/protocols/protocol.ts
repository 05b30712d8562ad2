import type { ApiRequest } from '../../host.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a JSON schema, or an unvalidated request
export type Json = any;

/** A request to the model, independent of its protocol. */
export type ModelQuestion = {
  readonly model: string;
  readonly streams: boolean;
  /** The system instruction. */
  readonly system: string;
  /** The text of the user's turns. */
  readonly prompt: string;
  /** `schema` is null if any JSON is valid. */
  readonly shape: { readonly kind: 'text' } | { readonly kind: 'json'; readonly schema: Json };
  readonly maxTokens: number | null;
  readonly includesThoughts: boolean;
  /** The tool whose input is the answer, if JSON is requested through a tool. */
  readonly tool: string | null;
  /** Whether a stream ends with the token usage (optional for OpenAI). */
  readonly streamsUsage: boolean;
};

export type Finish = 'stop' | 'length' | 'safety';

export type ModelReply = {
  readonly id: string;
  readonly question: ModelQuestion;
  /** The concrete model behind an alias in `model`. */
  readonly modelVersion: string;
  readonly thoughts: string | null;
  /** Declines the request instead of an answer (OpenAI). */
  readonly refusal: string | null;
  readonly finish: Finish;
  /** Replaces the protocol's name of `finish`. */
  readonly finishName: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** A stream in parts, so that faults can be injected between them. */
export type Frames = {
  readonly opening: readonly string[];
  chunk(text: string): string;
  readonly closing: readonly string[];
};

/** The rejection of a request. `name` is the error's name in protocols that have several errors for one status. */
export type Refusal = {
  readonly status: number;
  readonly name?: string;
  /** The parameter that is wrong (OpenAI). */
  readonly param?: string;
  readonly message?: string;
  /** Seconds, sent in the body if the protocol supports it. */
  readonly retryDelay?: number;
};

export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message ?? `refused with ${refusal.status}`);
    this.refusal = refusal;
  }
}

export type Protocol = {
  readonly name: 'gemini' | 'anthropic' | 'openai';
  /** Whether the path belongs to the protocol. */
  matches(path: string): boolean;
  /** Returns the API key of the request, or null if it has none. */
  readApiKey(headers: ApiRequest['headers']): string | null;
  /** The response to an invalid key. */
  readonly invalidKey: Refusal;
  read(request: ApiRequest): ModelQuestion;
  refusal(refusal: Refusal): Json;
  /** The refusal as an event within a stream. */
  refusalFrame(refusal: Refusal): string;
  frames(reply: ModelReply): Frames;
  whole(reply: ModelReply, text: string): Json;
  /** The response to a rejected prompt. Its status is 200. */
  blocked(reply: ModelReply): { frames: readonly string[]; whole: Json };
};

export const sse = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

export function readBody(body: string): Json {
  try {
    const read: unknown = JSON.parse(body);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read;
  } catch {
    // Invalid JSON is rejected like a JSON value that is not an object.
  }
  throw new RefusedError({ status: 400, message: 'The body is not a JSON object.' });
}

/** Reads text from a string or a list of parts. Ignores parts that are not text. */
export function readText(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: Json) => (typeof part === 'string' ? part : typeof part?.text === 'string' ? part.text : ''))
    .join('');
}
