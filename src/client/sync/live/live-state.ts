/**
 * The connection of a browser to the stream of changes as a pure state machine (docs/specification/live.md 5). No
 * clock, network, lock or page: `live-sync.ts` drives all of them.
 */
import type { DayChange, LiveEvent } from '#domain/live-event.ts';

/** If no byte arrives within this time, a proxy buffers the stream, so the page polls. */
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
  /** Connections that failed or were closed since the last event; determines the backoff. */
  failures: number;
  /** While polling: when to try the stream again. Null if the server has no stream, or ended this one as `too_many`. */
  streamRetryAt: number | null;
  /** The id of the last event that this tab has handled; sent as `Last-Event-ID`. */
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
  applyInput(step, input);
  const { timerAt } = step.state;
  if (timerAt !== state.timerAt) step.effects.push({ type: 'setTimer', at: timerAt });
  return step;
}

const updateState = (step: Step, changes: Partial<LiveState>): void =>
  void (step.state = { ...step.state, ...changes });
const isConnected = ({ phase }: LiveState): boolean => phase === 'connecting' || phase === 'open';

function applyInput(step: Step, input: LiveInput): void {
  const { state, now } = step;
  switch (input.type) {
    case 'pageShown':
      if (state.isVisible) return;
      updateState(step, { isVisible: true });
      step.effects.push({ type: 'requestLock' });
      return;
    case 'pageHidden':
      if (!state.isVisible) return;
      closeStream(step);
      step.effects.push({ type: 'releaseLock' });
      return updateState(step, { isVisible: false, isLeader: false, phase: 'idle', timerAt: null, failures: 0 });
    case 'lockAcquired':
      if (!state.isVisible || state.isLeader) return;
      updateState(step, { isLeader: true });
      return openStream(step);
    case 'lockBusy':
      // The other tab shares only what it receives from now on, so this tab reads what it has missed.
      if (state.isVisible && !state.isLeader) step.effects.push({ type: 'catchUp' });
      return;

    case 'bytesReceived':
      if (isConnected(state)) updateState(step, { phase: 'open', timerAt: now + SILENCE_MS });
      return;
    case 'eventReceived':
      if (isConnected(state)) receiveEvent(step, input);
      return;
    case 'eventShared':
      // A hidden tab reads everything, or continues after its own last event, once it is visible.
      if (state.isVisible && !state.isLeader) handleEvent(step, input);
      return;
    case 'streamClosed':
      if (isConnected(state)) retryLater(step);
      return;
    case 'streamRefused':
      if (isConnected(state)) handleRefusal(step, input.status, input.retryAfterMs);
      return;

    case 'timerElapsed':
      return onTimer(step);
    case 'networkReturned':
      if (state.phase !== 'waiting' && state.phase !== 'polling') return;
      updateState(step, { failures: 0 });
      return openStream(step);
  }
}

function openStream(step: Step): void {
  updateState(step, { phase: 'connecting', timerAt: step.now + FIRST_BYTE_MS });
  step.effects.push({ type: 'connect', lastEventId: step.state.lastEventId });
}

function closeStream(step: Step): void {
  if (isConnected(step.state)) step.effects.push({ type: 'disconnect' });
}

/** Waits before the next attempt, with jitter: all browsers lose a server at the same moment. */
function retryLater(step: Step, minMs = 0): void {
  const { now, random } = step;
  const failures = step.state.failures + 1;
  updateState(step, { failures });
  if (failures >= MAX_FAILURES) return startPolling(step, now + POLL_MS);
  const backoffMs = Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_MAX_MS);
  updateState(step, { phase: 'waiting', timerAt: now + minMs + backoffMs * (0.5 + random / 2) });
}

function startPolling(step: Step, streamRetryAt: number | null): void {
  updateState(step, { phase: 'polling', streamRetryAt, timerAt: step.now + POLL_MS });
  catchUp(step);
}

function catchUp(step: Step): void {
  step.effects.push({ type: 'catchUp' }, { type: 'share', event: { event: 'resync', data: {} }, id: null });
}

function handleRefusal(step: Step, status: number, retryAfterMs: number): void {
  if (status === 401 || status === 403) return updateState(step, { phase: 'refused', timerAt: null });
  // Too many requests and outages are temporary. Any other status comes from a server without this stream.
  if (status >= 500 || status === 429 || status === 408) return retryLater(step, retryAfterMs);
  return startPolling(step, null);
}

function receiveEvent(step: Step, { event, id }: IdentifiedEvent): void {
  updateState(step, { phase: 'open', timerAt: step.now + SILENCE_MS });
  if (event.event !== 'end') {
    updateState(step, { failures: 0 });
    step.effects.push({ type: 'share', event, id });
    return handleEvent(step, { event, id });
  }
  step.effects.push({ type: 'disconnect' });
  const { reason } = event.data;
  if (reason === 'too_many') return startPolling(step, null);
  // The token has expired: the next request renews it. A second `end` counts as a failure if no event came in between.
  if (reason === 'session' && step.state.failures === 0) {
    updateState(step, { failures: 1 });
    return openStream(step);
  }
  return retryLater(step);
}

function handleEvent(step: Step, { event, id }: IdentifiedEvent): void {
  if (event.event === 'change') step.effects.push({ type: 'applyChange', change: event.data });
  if (event.event === 'resync') step.effects.push({ type: 'catchUp' });
  if (id !== null) updateState(step, { lastEventId: id });
}

/**
 * Does not compare the clock with `timerAt`: browsers cut fractions of a millisecond off a timer, and the clock may
 * have been set back meanwhile. An ignored timer would never elapse again.
 */
function onTimer(step: Step): void {
  const { state, now } = step;
  switch (state.phase) {
    case 'connecting':
      closeStream(step);
      return startPolling(step, now + STREAM_RETRY_MS);
    case 'open':
      closeStream(step);
      return retryLater(step);
    case 'waiting':
      return openStream(step);
    case 'polling':
      if (state.streamRetryAt !== null && now >= state.streamRetryAt) return openStream(step);
      updateState(step, { timerAt: now + POLL_MS });
      return catchUp(step);
    case 'idle':
    case 'refused':
      return;
  }
}
