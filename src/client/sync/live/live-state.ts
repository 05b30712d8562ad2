/**
 * The connection of a browser to the stream of changes as a pure state machine (docs/specification/live.md 5). No clock,
 * network, lock or page: `live-sync.ts` drives all of them.
 */
import type { DayChange, LiveEvent } from '#domain/live/live-event.ts';

/** A proxy that delivers nothing within this time buffers the stream, so the page polls. */
const FIRST_BYTE_MS = 6_000;
/** A stream without bytes for this time is dead: the server sends a heartbeat every ten seconds. */
const SILENCE_MS = 25_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** After this many consecutive failures the page polls, and tries the stream again with each poll. */
const MAX_FAILURES = 3;
const POLL_MS = 30_000;
/** While polling behind a proxy that buffers, the stream is tried again after this time. */
const STREAM_RETRY_MS = 300_000;

export type LiveState = Readonly<{
  isVisible: boolean;
  /** This tab holds the browser's lock, so it has the browser's only connection. Only a visible tab asks for it. */
  isLeader: boolean;
  /**
   * `connecting`: no byte has arrived yet. `waiting`: for the next attempt. `polling`: the stream does not work, so the
   * page reads everything again at intervals. `refused`: the server does not accept the session.
   */
  phase: 'idle' | 'connecting' | 'open' | 'waiting' | 'polling' | 'refused';
  timerAt: number | null;
  /** Consecutive attempts that ended without an event. */
  failures: number;
  /** While polling: when to try the stream again. Null if the server has no stream, or ended this one as `too_many`. */
  streamRetryAt: number | null;
  /** The last event that this tab has handled; sent as `Last-Event-ID`. */
  lastEventId: string | null;
}>;

export const initialLiveState: LiveState = {
  isVisible: false,
  isLeader: false,
  phase: 'idle',
  timerAt: null,
  failures: 0,
  streamRetryAt: null,
  lastEventId: null,
};

export type IdentifiedEvent = { event: LiveEvent; id: string | null };

export type LiveInput =
  | { type: 'pageShown' }
  | { type: 'pageHidden' }
  | { type: 'lockAcquired' }
  /** Another tab of this browser has the lock. The request for the lock stays queued. */
  | { type: 'lockBusy' }
  /** Any bytes of the stream, also a heartbeat. */
  | { type: 'bytesReceived' }
  | ({ type: 'eventReceived' } & IdentifiedEvent)
  /** The tab with the connection has received this event. */
  | ({ type: 'eventShared' } & IdentifiedEvent)
  | { type: 'streamClosed' }
  | { type: 'streamRefused'; status: number; retryAfterMs: number }
  | { type: 'timerElapsed' }
  | { type: 'networkReturned' };

export type LiveEffect =
  | { type: 'requestLock' }
  /** Also withdraws a queued request for the lock. */
  | { type: 'releaseLock' }
  | { type: 'connect'; lastEventId: string | null }
  | { type: 'disconnect' }
  | { type: 'setTimer'; at: number | null }
  /** Read every open day and the dates again. */
  | { type: 'catchUp' }
  | { type: 'applyChange'; change: DayChange }
  | ({ type: 'share' } & IdentifiedEvent);

/** `random`: in [0, 1), for the jitter. */
export type LiveContext = { now: number; random: number };
type Step = LiveContext & { state: LiveState; effects: LiveEffect[] };

/** A total function: an input that the state does not expect changes nothing. */
export function reduceLive(
  state: LiveState,
  input: LiveInput,
  context: LiveContext,
): { state: LiveState; effects: readonly LiveEffect[] } {
  const step: Step = { ...context, state, effects: [] };
  apply(step, input);
  const { timerAt } = step.state;
  if (timerAt !== state.timerAt) step.effects.push({ type: 'setTimer', at: timerAt });
  return step;
}

const set = (step: Step, changes: Partial<LiveState>): void => void (step.state = { ...step.state, ...changes });
const isConnected = ({ phase }: LiveState): boolean => phase === 'connecting' || phase === 'open';

function apply(step: Step, input: LiveInput): void {
  const { state, now } = step;
  switch (input.type) {
    case 'pageShown':
      if (state.isVisible) return;
      set(step, { isVisible: true });
      step.effects.push({ type: 'requestLock' });
      return;
    case 'pageHidden':
      if (!state.isVisible) return;
      disconnect(step);
      step.effects.push({ type: 'releaseLock' });
      return set(step, { isVisible: false, isLeader: false, phase: 'idle', timerAt: null, failures: 0 });
    case 'lockAcquired':
      if (!state.isVisible || state.isLeader) return;
      set(step, { isLeader: true });
      return connect(step);
    case 'lockBusy':
      // The other tab shares only what it receives from now on, so this tab reads what it has missed.
      if (state.isVisible && !state.isLeader) step.effects.push({ type: 'catchUp' });
      return;

    case 'bytesReceived':
      if (isConnected(state)) set(step, { phase: 'open', timerAt: now + SILENCE_MS });
      return;
    case 'eventReceived':
      if (isConnected(state)) receive(step, input);
      return;
    case 'eventShared':
      // A hidden tab reads everything, or continues after its own last event, once it is visible.
      if (state.isVisible && !state.isLeader) handle(step, input);
      return;
    case 'streamClosed':
      if (isConnected(state)) retry(step);
      return;
    case 'streamRefused':
      if (isConnected(state)) handleRefusal(step, input.status, input.retryAfterMs);
      return;

    case 'timerElapsed':
      return onTimer(step);
    case 'networkReturned':
      if (state.phase !== 'waiting' && state.phase !== 'polling') return;
      set(step, { failures: 0 });
      return connect(step);
  }
}

function connect(step: Step): void {
  set(step, { phase: 'connecting', timerAt: step.now + FIRST_BYTE_MS });
  step.effects.push({ type: 'connect', lastEventId: step.state.lastEventId });
}

function disconnect(step: Step): void {
  if (isConnected(step.state)) step.effects.push({ type: 'disconnect' });
}

/** Waits before the next attempt, with jitter: all browsers lose a server at the same moment. */
function retry(step: Step, minMs = 0): void {
  const { now, random } = step;
  const failures = step.state.failures + 1;
  set(step, { failures });
  if (failures >= MAX_FAILURES) return poll(step, now + POLL_MS);
  const backoffMs = Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_MAX_MS);
  set(step, { phase: 'waiting', timerAt: now + minMs + backoffMs * (0.5 + random / 2) });
}

function poll(step: Step, streamRetryAt: number | null): void {
  set(step, { phase: 'polling', streamRetryAt, timerAt: step.now + POLL_MS });
  catchUp(step);
}

function catchUp(step: Step): void {
  step.effects.push({ type: 'catchUp' }, { type: 'share', event: { event: 'resync', data: {} }, id: null });
}

function handleRefusal(step: Step, status: number, retryAfterMs: number): void {
  if (status === 401 || status === 403) return set(step, { phase: 'refused', timerAt: null });
  // Too many requests and outages are temporary. Any other status comes from a server without this stream.
  if (status >= 500 || status === 429 || status === 408) return retry(step, retryAfterMs);
  return poll(step, null);
}

function receive(step: Step, { event, id }: IdentifiedEvent): void {
  set(step, { phase: 'open', timerAt: step.now + SILENCE_MS });
  if (event.event !== 'end') {
    set(step, { failures: 0 });
    step.effects.push({ type: 'share', event, id });
    return handle(step, { event, id });
  }
  step.effects.push({ type: 'disconnect' });
  const { reason } = event.data;
  if (reason === 'too_many') return poll(step, null);
  // The token has expired: the next request renews it. A second `end` counts as a failure if no event came in between.
  if (reason === 'session' && step.state.failures === 0) {
    set(step, { failures: 1 });
    return connect(step);
  }
  return retry(step);
}

function handle(step: Step, { event, id }: IdentifiedEvent): void {
  if (event.event === 'change') step.effects.push({ type: 'applyChange', change: event.data });
  if (event.event === 'resync') step.effects.push({ type: 'catchUp' });
  if (id !== null) set(step, { lastEventId: id });
}

function onTimer(step: Step): void {
  const { state, now } = step;
  if (state.timerAt === null || now < state.timerAt) return;
  switch (state.phase) {
    case 'connecting':
      disconnect(step);
      return poll(step, now + STREAM_RETRY_MS);
    case 'open':
      disconnect(step);
      return retry(step);
    case 'waiting':
      return connect(step);
    case 'polling':
      if (state.streamRetryAt !== null && now >= state.streamRetryAt) return connect(step);
      set(step, { timerAt: now + POLL_MS });
      return catchUp(step);
    case 'idle':
    case 'refused':
      return;
  }
}
