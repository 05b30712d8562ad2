/**
 * A language model in one process: three protocols over one rule for judging a log. Without a network, and determined by
 * what it is asked; `server.ts` puts it on a port.
 */
import { createHash } from 'node:crypto';
import { feedbackOn, reviewOf } from './coach/answer.ts';
import { daysIn } from './coach/read-log.ts';
import { anyFeedback, anyReview, fitSchema } from './coach/fit-schema.ts';
import type { ApiRequest } from '../api-request.ts';
import { FaultQueue } from '../fault-queue.ts';
import { HeldRequests } from '../held-requests.ts';
import type { Fault } from './faults.ts';
import { anthropic } from './wires/anthropic.ts';
import { gemini } from './wires/gemini.ts';
import { openai } from './wires/openai.ts';
import { Refused } from './wires/wire.ts';
import type { Asked, Refusal, Spoken, Wire } from './wires/wire.ts';

export const SANDBOX_KEY = 'sandbox-key';
const WIRES: readonly Wire[] = [gemini, anthropic, openai];
/** As a model's own pieces: never half a letter, often half a word, and in JSON half of what a backslash begins. */
const PIECE_SIGNS = 24;
const SIGNS_OF_TOKEN = 4;
const KEPT_REQUESTS = 1000;
const THOUGHTS = 'Counting the items. Looking for what was finished.';

export type SimulatorOptions = {
  /** How a delay is waited for; by default it is over at once. */
  wait?: (ms: number) => Promise<void>;
};

export type ModelAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<string>;
};

export class ConnectionBroken extends Error {}

export type ModelRequest = {
  readonly wire: Wire['name'];
  readonly path: string;
  readonly body: string;
  /** What the user's turns say; null while nobody has read it. */
  prompt: string | null;
  /** What the model says, all of it; null while it has said nothing. */
  said: string | null;
  /** null: the connection broke. */
  status: number | null;
  /** How it went on: `left` by the one who asked, before its end. */
  end: 'underway' | 'whole' | 'cut' | 'left';
};

export type ModelControl = {
  /** Puts a fault in line. */
  fail(fault: Fault): void;
  /** Those that have met nothing yet. */
  faults(): readonly Fault[];
  /** Lets the questions go on that a fault holds; answers how many there were. */
  release(): number;
  /** Resolves once so many questions are held. */
  whenHeld(count?: number): Promise<void>;
  /** Resolves once somebody has left before the end of an answer. */
  whenLeft(): Promise<void>;
  /** The time between two pieces of a stream; none, until it is set. */
  pace(ms: number): void;
  /** Oldest first; the key is not among it. */
  requests(): readonly ModelRequest[];
  /** No faults, nothing held, no requests, no pace. */
  reset(): void;
};

export type ModelSimulator = {
  readonly control: ModelControl;
  /**
   * null: no such path. A connection that breaks is a `ConnectionBroken`, here or in the body.
   *
   * @param left tells that the one who asked has gone
   */
  answer(request: ApiRequest, left?: AbortSignal): Promise<ModelAnswer | null>;
};

export function createModelSimulator({ wait = () => Promise.resolve() }: SimulatorOptions = {}): ModelSimulator {
  const faults = new FaultQueue<Fault>();
  const requests: ModelRequest[] = [];
  const held = new HeldRequests();
  const leftListeners = new Set<() => void>();
  let paceMs = 0;

  const hold = (left: AbortSignal): Promise<void> =>
    held.hold(left).catch(() => {
      throw new ConnectionBroken();
    });

  function ended(noted: ModelRequest, end: ModelRequest['end']): void {
    if (noted.end !== 'underway') return;
    noted.end = end;
    if (end !== 'left') return;
    for (const tell of leftListeners) tell();
    leftListeners.clear();
  }

  async function* streamed({ wire, noted, left }: Call, said: Said, fault: Fault): AsyncGenerator<string> {
    const frames = wire.frames(said.spoken);
    const breaksAfter =
      fault.cut || fault.hold === 'after' || fault.after !== undefined ? (fault.after ?? 1) : Infinity;
    let at = 0;
    try {
      yield* frames.opening;
      for (const piece of [...said.pieces, null]) {
        if (at === breaksAfter || (piece === null && at < breaksAfter && breaksAfter !== Infinity)) {
          if (fault.hold === 'after') await hold(left);
          if (fault.cut === 'connection') throw new ConnectionBroken();
          if (fault.status !== undefined) yield wire.refusalFrame(refusalIn(fault));
          if (fault.cut === 'stream' || fault.status !== undefined) return ended(noted, 'cut');
        }
        if (piece === null) break;
        if (at > 0 && paceMs > 0) await wait(paceMs);
        yield frames.chunk(piece);
        at += 1;
      }
      yield* frames.closing;
      ended(noted, 'whole');
    } catch (error) {
      ended(noted, 'cut');
      throw error;
    }
  }

  async function* once(text: string, noted: ModelRequest): AsyncGenerator<string> {
    yield text;
    ended(noted, 'whole');
  }

  async function work(call: Call, request: ApiRequest): Promise<ModelAnswer> {
    const { wire, noted } = call;
    const fault = faults.take(request) ?? {};
    if (fault.hold === 'before') await hold(call.left);
    if (fault.delayMs !== undefined) await wait(fault.delayMs);
    if (fault.drop) throw new ConnectionBroken();
    const json = (status: number, body: unknown): ModelAnswer => {
      const { type, text } = spoilt(JSON.stringify(body), fault.body);
      const retry: Record<string, string> =
        fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      noted.status = status;
      return { status, headers: { 'content-type': type, ...retry }, body: once(text, noted) };
    };
    try {
      if (wire.keyOf(request.headers) !== SANDBOX_KEY) throw new Refused(wire.wrongKey);
      const asked = wire.read(request);
      noted.prompt = asked.prompt;
      if (fault.status !== undefined && fault.after === undefined) throw new Refused(refusalIn(fault));
      const said = say(asked, fault, request.body);
      noted.said = said.pieces.join('');
      if (fault.reply === 'blocked') {
        const blocked = wire.blocked(said.spoken);
        if (!asked.streams) return json(200, blocked.whole);
        noted.status = 200;
        return { status: 200, headers: STREAM, body: once(blocked.frames.join(''), noted) };
      }
      if (!asked.streams || fault.body !== undefined) return json(200, wire.whole(said.spoken, said.pieces.join('')));
      noted.status = 200;
      return { status: 200, headers: STREAM, body: streamed(call, said, fault) };
    } catch (error) {
      if (error instanceof Refused) return json(error.refusal.status, wire.refusal(error.refusal));
      throw error;
    }
  }

  return {
    async answer(request, left = new AbortController().signal) {
      const wire = request.method === 'POST' ? WIRES.find(({ fits }) => fits(request.path)) : undefined;
      if (!wire) return null;
      const { path, body } = request;
      const noted: ModelRequest = {
        wire: wire.name,
        path,
        body,
        prompt: null,
        said: null,
        status: null,
        end: 'underway',
      };
      requests.push(noted);
      if (requests.length > KEPT_REQUESTS) requests.shift();
      left.addEventListener('abort', () => ended(noted, 'left'));
      return work({ wire, noted, left }, request).catch((error: unknown) => {
        ended(noted, 'cut');
        throw error;
      });
    },
    control: {
      fail: (fault) => faults.add(fault),
      faults: () => faults.waiting,
      release: () => held.release(),
      whenHeld: (count) => held.whenHeld(count),
      whenLeft: () =>
        requests.some(({ end }) => end === 'left')
          ? Promise.resolve()
          : new Promise((tell) => void leftListeners.add(tell)),
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

type Call = { wire: Wire; noted: ModelRequest; left: AbortSignal };
type Said = { spoken: Spoken; pieces: readonly string[] };

function say(asked: Asked, fault: Fault, body: string): Said {
  const whole = fault.text ?? answerTo(asked, fault.echo === true);
  const most = fault.reply === 'length' ? Math.ceil(tokensIn(whole) / 2) : (asked.maxTokens ?? Infinity);
  const isCut = tokensIn(whole) > most;
  let text = isCut
    ? Array.from(whole)
        .slice(0, most * SIGNS_OF_TOKEN)
        .join('')
    : whole;
  if (fault.reply === 'nothing' || fault.reply === 'safety') text = '';
  if (fault.reply === 'broken') text = text.slice(0, -Math.ceil(text.length / 3));
  const finish = fault.reply === 'safety' ? 'safety' : isCut ? 'length' : 'stop';
  return {
    pieces: piecesOf(text),
    spoken: {
      // The same question gets the same id, so that a run can be compared with another.
      id: createHash('sha256').update(body).digest('hex').slice(0, 24),
      asked,
      modelVersion: `${asked.model}-sandbox`,
      thoughts: asked.shows === 'thoughts' || fault.reply === 'thoughts' ? THOUGHTS : null,
      finish,
      inputTokens: tokensIn(asked.system) + tokensIn(asked.prompt),
      outputTokens: tokensIn(text),
    },
  };
}

/** Whether a day is to be judged or a period looked back on is the instruction's to say, never the journal's. */
function answerTo({ system, prompt, shape }: Asked, echoes: boolean): string {
  const wantsScore =
    shape.kind === 'json' && shape.schema !== null
      ? /"[^"]*score"/i.test(JSON.stringify(shape.schema))
      : /hustle\s*score|"score"/i.test(system);
  const answer = wantsScore ? feedbackOn(prompt) : reviewOf(prompt);
  if (shape.kind === 'text') {
    const fact = answer.missingFact === null ? '' : `\n\nMissingFact: ${answer.missingFact}`;
    const told = wantsScore ? `HustleScore: ${answer.score}/10\n\n${answer.text}${fact}` : answer.text;
    return echoes ? `${told}\n\n${wordsOf(prompt)}` : told;
  }
  if (shape.schema !== null) return JSON.stringify(fitSchema(shape.schema, answer));
  return JSON.stringify(wantsScore ? anyFeedback(answer) : anyReview(answer));
}

/** The log's lines, each on a line of its own. */
const wordsOf = (prompt: string): string =>
  daysIn(prompt)
    .flatMap(({ items }) => items.map(({ text }) => text))
    .join('\n');

function piecesOf(text: string): string[] {
  const signs = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < signs.length; at += PIECE_SIGNS) pieces.push(signs.slice(at, at + PIECE_SIGNS).join(''));
  return pieces;
}

const tokensIn = (text: string): number => Math.ceil(text.length / SIGNS_OF_TOKEN);

const refusalIn = ({ status = 500, name, message, retryDelay }: Fault): Refusal => ({
  status,
  ...(name !== undefined && { name }),
  ...(message !== undefined && { message }),
  ...(retryDelay !== undefined && { retryDelay }),
});

function spoilt(text: string, way: Fault['body']): { type: string; text: string } {
  const type = 'application/json';
  if (way === 'html') return { type: 'text/html', text: '<html><body><h1>Bad Gateway</h1></body></html>' };
  if (way === 'empty') return { type, text: '' };
  return { type, text: way === 'truncated' ? text.slice(0, Math.floor(text.length / 2)) : text };
}
