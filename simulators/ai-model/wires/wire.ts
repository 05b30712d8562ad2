/** What the three protocols have in common: a question is read, and an answer or a refusal is put into their words. */

import type { ApiRequest } from '../../api-request.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a JSON schema, or a request that is about to be looked at
export type Json = any;

/** A question to the model, whichever protocol it came by. */
export type Asked = {
  readonly model: string;
  readonly streams: boolean;
  /** The fixed instruction. */
  readonly system: string;
  /** What the user's turns say. */
  readonly prompt: string;
  /** `schema` is null where any JSON will do. */
  readonly shape: { readonly kind: 'text' } | { readonly kind: 'json'; readonly schema: Json };
  readonly maxTokens: number | null;
  /** Whether thoughts are to be sent along. */
  readonly shows: 'thoughts' | 'answer';
  /** The tool whose input is the answer, where the protocol is made to answer in JSON that way. */
  readonly tool: string | null;
  /** Whether a stream is to end with a count of tokens (OpenAI). */
  readonly counts: boolean;
};

export type Finish = 'stop' | 'length' | 'safety';

export type Spoken = {
  readonly id: string;
  readonly asked: Asked;
  /** What answered, where `model` is an alias. */
  readonly modelVersion: string;
  readonly thoughts: string | null;
  readonly finish: Finish;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** A stream in parts, so that faults can come between them. */
export type Frames = {
  readonly opening: readonly string[];
  chunk(text: string): string;
  readonly closing: readonly string[];
};

/** Why a question is not answered. `name` is the protocol's own word for it, where one status has several. */
export type Refusal = {
  readonly status: number;
  readonly name?: string;
  readonly message?: string;
  /** Seconds; in the body where the protocol has a place for it. */
  readonly retryDelay?: number;
};

export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message ?? `refused with ${refusal.status}`);
    this.refusal = refusal;
  }
}

export type Wire = {
  readonly name: 'gemini' | 'anthropic' | 'openai';
  /** The protocol's paths. */
  fits(path: string): boolean;
  /** The key that the request brings, wherever the protocol puts it. */
  keyOf(headers: ApiRequest['headers']): string | null;
  /** What a wrong key is told. */
  readonly wrongKey: Refusal;
  read(request: ApiRequest): Asked;
  refusal(refusal: Refusal): Json;
  /** The same in the middle of a stream. */
  refusalFrame(refusal: Refusal): string;
  frames(spoken: Spoken): Frames;
  whole(spoken: Spoken, text: string): Json;
  /** The prompt itself is refused, with a status of 200 where the protocol does so. */
  blocked(spoken: Spoken): { frames: readonly string[]; whole: Json };
};

export const sse = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

export function readBody(body: string): Json {
  try {
    const read: unknown = JSON.parse(body);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read;
  } catch {
    // What is no JSON is refused like what is no object.
  }
  throw new Refused({ status: 400, message: 'The body is not a JSON object.' });
}

/** Text that is given as a string or as a list of parts; parts of other kinds say nothing here. */
export function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: Json) => (typeof part === 'string' ? part : typeof part?.text === 'string' ? part.text : ''))
    .join('');
}
