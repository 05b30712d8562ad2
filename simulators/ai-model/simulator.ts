/** A deterministic simulator of a language model behind three protocols. Uses no network; `server.ts` adds HTTP. */
import { createHash } from 'node:crypto';
import { composeFeedback, composeReview } from './coach/compose-answer.ts';
import { parseDays } from './coach/parse-log.ts';
import { freeFormFeedback, freeFormReview, fitSchema } from './coach/fit-schema.ts';
import type { ApiRequest } from '../host.ts';
import { FaultQueue, HeldRequests } from '../faults.ts';
import type { Fault } from './faults.ts';
import { anthropic } from './protocols/anthropic.ts';
import { OBJECT_MANNERS, REPLY_MANNERS } from './manners.ts';
import { gemini } from './protocols/gemini.ts';
import { openai } from './protocols/openai.ts';
import {
  RefusedError,
  type ModelQuestion,
  type Refusal,
  type ModelReply,
  type Protocol,
} from './protocols/protocol.ts';

export const SANDBOX_KEY = 'sandbox-key';
const PROTOCOLS: readonly Protocol[] = [gemini, anthropic, openai];
/** Like a model's chunks, these never split a character, but may split a word or a JSON escape sequence. */
const CHUNK_CHARS = 24;
const CHARS_PER_TOKEN = 4;
const MAX_KEPT_REQUESTS = 1000;
/** Contains what a parser must not take for the answer. */
const THOUGHTS = 'Counting the items. Looking for what was finished.\nHustleScore: 1/10\n';

export type SimulatorOptions = {
  /** Waits for a delay. Default: does not wait. */
  wait?: (ms: number) => Promise<void>;
};

export type ModelAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<string>;
};

export class ConnectionBroken extends Error {}

export type ModelRequest = {
  readonly protocol: Protocol['name'];
  readonly path: string;
  readonly body: string;
  /** The text of the user's turns; null until the request is parsed. */
  prompt: string | null;
  /** The complete answer; null until it is composed. */
  answer: string | null;
  /** null: no response yet, or the connection broke before it. */
  status: number | null;
  /** `left`: the client disconnected before the end. */
  end: 'underway' | 'whole' | 'cut' | 'left';
};

export type ModelControl = {
  /** Queues a fault. */
  fail(fault: Fault): void;
  /** The queued faults. */
  faults(): readonly Fault[];
  /** Releases the held requests and returns their number. */
  release(): number;
  /** Resolves once `count` requests are held. */
  whenHeld(count?: number): Promise<void>;
  /** Resolves once a client has disconnected before the end of an answer. */
  whenDisconnected(): Promise<void>;
  /** Sets the delay between two chunks of a stream. Default: 0. */
  pace(ms: number): void;
  /** Oldest first, without API keys. */
  requests(): readonly ModelRequest[];
  /** Clears faults, recorded requests and the delay between chunks, and releases held requests. */
  reset(): void;
};

export type ModelSimulator = {
  readonly control: ModelControl;
  /**
   * Returns null for an unknown path, and for a method other than POST. Throws `ConnectionBroken`, here or while the
   * body is read, for a broken connection.
   *
   * @param signal aborts when the client disconnects
   */
  answer(request: ApiRequest, signal?: AbortSignal): Promise<ModelAnswer | null>;
};

export function createModelSimulator({ wait = () => Promise.resolve() }: SimulatorOptions = {}): ModelSimulator {
  const faults = new FaultQueue<Fault>();
  const requests: ModelRequest[] = [];
  const held = new HeldRequests();
  const disconnectListeners = new Set<() => void>();
  let paceMs = 0;

  const hold = (signal: AbortSignal): Promise<void> =>
    held.hold(signal).catch(() => {
      throw new ConnectionBroken();
    });

  function recordEnd(record: ModelRequest, end: ModelRequest['end']): void {
    if (record.end !== 'underway') return;
    record.end = end;
    if (end !== 'left') return;
    for (const notify of disconnectListeners) notify();
    disconnectListeners.clear();
  }

  async function* streamBody(
    { protocol, record, signal }: Call,
    composed: ComposedReply,
    fault: Fault,
  ): AsyncGenerator<string> {
    const frames = protocol.frames(composed.reply);
    const breaksAfter =
      fault.cut || fault.hold === 'after' || fault.after !== undefined ? (fault.after ?? 1) : Infinity;
    let at = 0;
    try {
      yield* frames.opening;
      for (const chunk of [...composed.chunks, null]) {
        if (at === breaksAfter || (chunk === null && at < breaksAfter && breaksAfter !== Infinity)) {
          if (fault.hold === 'after') await hold(signal);
          if (fault.cut === 'connection') throw new ConnectionBroken();
          if (fault.status !== undefined) yield protocol.refusalFrame(toRefusal(fault));
          if (fault.cut === 'stream' || fault.status !== undefined) return recordEnd(record, 'cut');
        }
        if (chunk === null) break;
        if (at > 0 && paceMs > 0) await wait(paceMs);
        yield frames.chunk(chunk);
        at += 1;
      }
      yield* frames.closing;
      recordEnd(record, 'whole');
    } catch (error) {
      recordEnd(record, 'cut');
      throw error;
    }
  }

  async function* singleChunkBody(text: string, record: ModelRequest): AsyncGenerator<string> {
    yield text;
    recordEnd(record, 'whole');
  }

  async function respond(call: Call, request: ApiRequest): Promise<ModelAnswer> {
    const { protocol, record } = call;
    const fault = faults.take(request) ?? {};
    if (fault.hold === 'before') await hold(call.signal);
    if (fault.delayMs !== undefined) await wait(fault.delayMs);
    if (fault.drop) throw new ConnectionBroken();
    const json = (status: number, body: unknown): ModelAnswer => {
      const { type, text } = corruptBody(JSON.stringify(body), fault.body);
      const retry: Record<string, string> = {
        ...(fault.retryAfter !== undefined && { 'retry-after': String(fault.retryAfter) }),
        ...fault.headers,
      };
      record.status = status;
      return { status, headers: { 'content-type': type, ...retry }, body: singleChunkBody(text, record) };
    };
    try {
      if (protocol.readApiKey(request.headers) !== SANDBOX_KEY) throw new RefusedError(protocol.invalidKey);
      const question = protocol.read(request);
      record.prompt = question.prompt;
      if (fault.status !== undefined && fault.after === undefined) throw new RefusedError(toRefusal(fault));
      const composed = composeReply(question, fault, request.body);
      record.answer = composed.chunks.join('');
      if (fault.reply === 'blocked') {
        const blocked = protocol.blocked(composed.reply);
        if (!question.streams) return json(200, blocked.whole);
        record.status = 200;
        return { status: 200, headers: STREAM, body: singleChunkBody(blocked.frames.join(''), record) };
      }
      if (!question.streams || fault.body !== undefined)
        return json(200, protocol.whole(composed.reply, composed.chunks.join('')));
      record.status = 200;
      return { status: 200, headers: STREAM, body: streamBody(call, composed, fault) };
    } catch (error) {
      if (error instanceof RefusedError) return json(error.refusal.status, protocol.refusal(error.refusal));
      throw error;
    }
  }

  return {
    async answer(request, signal = new AbortController().signal) {
      const protocol = request.method === 'POST' ? PROTOCOLS.find(({ matches }) => matches(request.path)) : undefined;
      if (!protocol) return null;
      const { path, body } = request;
      const record: ModelRequest = {
        protocol: protocol.name,
        path,
        body,
        prompt: null,
        answer: null,
        status: null,
        end: 'underway',
      };
      requests.push(record);
      if (requests.length > MAX_KEPT_REQUESTS) requests.shift();
      signal.addEventListener('abort', () => recordEnd(record, 'left'));
      return respond({ protocol, record, signal }, request).catch((error: unknown) => {
        recordEnd(record, 'cut');
        throw error;
      });
    },
    control: {
      fail: (fault) => faults.add(fault),
      faults: () => faults.pending,
      release: () => held.release(),
      whenHeld: (count) => held.whenHeld(count),
      whenDisconnected: () =>
        requests.some(({ end }) => end === 'left')
          ? Promise.resolve()
          : new Promise((resolve) => void disconnectListeners.add(resolve)),
      pace: (ms) => void (paceMs = ms),
      requests: () => requests,
      reset() {
        faults.clear();
        requests.length = 0;
        paceMs = 0;
        held.release();
      },
    },
  };
}

const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

const NO_TEXT: ReadonlySet<Fault['reply']> = new Set<Fault['reply']>(['nothing', 'safety', 'thoughts only', 'refusal']);

type Call = { protocol: Protocol; record: ModelRequest; signal: AbortSignal };
type ComposedReply = { reply: ModelReply; chunks: readonly string[] };

function composeReply(question: ModelQuestion, fault: Fault, body: string): ComposedReply {
  const plain = fault.text ?? composeText(question, fault.echo === true);
  const whole = REPLY_MANNERS[fault.manner ?? 'plain']!(
    plain.startsWith('{') ? OBJECT_MANNERS[fault.objectManner ?? 'plain']!(plain) : plain,
  );
  const maxTokens = fault.reply === 'length' ? Math.ceil(countTokens(whole) / 2) : (question.maxTokens ?? Infinity);
  const isCut = countTokens(whole) > maxTokens;
  let text = isCut
    ? Array.from(whole)
        .slice(0, maxTokens * CHARS_PER_TOKEN)
        .join('')
    : whole;
  if (fault.reply !== undefined && NO_TEXT.has(fault.reply)) text = '';
  if (fault.reply === 'broken') text = text.slice(0, -Math.ceil(text.length / 3));
  const finish = fault.reply === 'safety' ? 'safety' : isCut ? 'length' : 'stop';
  return {
    chunks: splitIntoChunks(text),
    reply: {
      // Derived from the request, so that runs are reproducible.
      id: createHash('sha256').update(body).digest('hex').slice(0, 24),
      question,
      modelVersion: `${question.model}-sandbox`,
      thoughts: question.includesThoughts || fault.reply?.startsWith('thoughts') ? THOUGHTS : null,
      refusal: fault.reply === 'refusal' ? 'I’m sorry, but I can’t help with that.' : null,
      finish,
      finishName: fault.finish ?? null,
      inputTokens: countTokens(question.system) + countTokens(question.prompt),
      outputTokens: countTokens(text),
    },
  };
}

/** The system instruction or the schema selects feedback or review, never the text of the logs. */
function composeText({ system, prompt, shape }: ModelQuestion, echoes: boolean): string {
  const wantsScore =
    shape.kind === 'json' && shape.schema !== null
      ? /"[^"]*score"/i.test(JSON.stringify(shape.schema))
      : /hustle\s*score|"score"/i.test(system);
  const answer = wantsScore ? composeFeedback(prompt) : composeReview(prompt);
  if (shape.kind === 'text') {
    const fact = answer.missingFact === null ? '' : `\n\nMissingFact: ${answer.missingFact}`;
    const text = wantsScore ? `HustleScore: ${answer.score}/10\n\n${answer.text}${fact}` : answer.text;
    return echoes ? `${text}\n\n${extractLogText(prompt)}` : text;
  }
  if (shape.schema !== null) return JSON.stringify(fitSchema(shape.schema, answer));
  return JSON.stringify(wantsScore ? freeFormFeedback(answer) : freeFormReview(answer));
}

const extractLogText = (prompt: string): string =>
  parseDays(prompt)
    .flatMap(({ items }) => items.map(({ text }) => text))
    .join('\n');

function splitIntoChunks(text: string): string[] {
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let at = 0; at < characters.length; at += CHUNK_CHARS)
    chunks.push(characters.slice(at, at + CHUNK_CHARS).join(''));
  return chunks;
}

const countTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);

const toRefusal = ({ status = 500, name, message, retryDelay }: Fault): Refusal => ({
  status,
  ...(name !== undefined && { name }),
  ...(message !== undefined && { message }),
  ...(retryDelay !== undefined && { retryDelay }),
});

function corruptBody(text: string, way: Fault['body']): { type: string; text: string } {
  const type = 'application/json';
  if (way === 'html') return { type: 'text/html', text: '<html><body><h1>Bad Gateway</h1></body></html>' };
  if (way === 'empty') return { type, text: '' };
  return { type, text: way === 'truncated' ? text.slice(0, Math.floor(text.length / 2)) : text };
}
