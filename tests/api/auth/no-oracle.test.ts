/**
 * Tests that an answer, its headers and its time do not tell a caller whether an address or a number has an account
 * (docs/specification/accounts.md 2, 3, 6 and 8). Each row probes an unknown, a confirmed and an unconfirmed address.
 */
import { describe, expect, test } from 'vitest';
import { setUpAuthWorld, PASSWORD, newAddress, newNumber } from './fixture.ts';

const world = setUpAuthWorld({ AUTH_AUTOCONFIRM: 'off' }, { sms: 'on', passwords: 'real' });

const STATES = ['unknown', 'confirmed', 'unconfirmed'] as const;
type State = (typeof STATES)[number];
type Kind = 'email' | 'phone';
type Address = { email: string } | { phone: string };
/** `[path, body]` of a request for an address or a number. */
type Probe = (address: Address) => [path: string, body: object];

const passwordGrant = '/token?grant_type=password';
const OTHER_PASSWORD = 'quite another';

const byEmail: [string, Probe][] = [
  ['a sign-in with a wrong password', (address) => [passwordGrant, { ...address, password: OTHER_PASSWORD }]],
  ['a recovery', (address) => ['/recover', address]],
  ['a mailed code', (address) => ['/otp', address]],
  ['a mailed code without a new account', (address) => ['/otp', { ...address, create_user: false }]],
  ['a magic link', (address) => ['/magiclink', address]],
  ['a repeated confirmation', (address) => ['/resend', { ...address, type: 'signup' }]],
  ['a repeated address change', (address) => ['/resend', { ...address, type: 'email_change' }]],
  ['a sign-up with a guessable password', (address) => ['/signup', { ...address, password: 'qwerty2024' }]],
];
const byPhone: [string, Probe][] = [
  ['a sign-in with a wrong password', (address) => [passwordGrant, { ...address, password: OTHER_PASSWORD }]],
  ['a repeated confirmation', (address) => ['/resend', { ...address, type: 'sms' }]],
  ['a repeated change of number', (address) => ['/resend', { ...address, type: 'phone_change' }]],
];
/** Probes whose answers wait for a minimum response time. */
const padded: [string, Kind, Probe][] = [
  [
    'a guessed code of a recovery',
    'email',
    (address) => ['/verify', { ...address, type: 'recovery', token: '123456' }],
  ],
  ['a guessed code of a sign-up', 'email', (address) => ['/verify', { ...address, type: 'signup', token: '123456' }]],
  ['a sign-up', 'email', (address) => ['/signup', { ...address, password: PASSWORD }]],
  ['a sign-up with another password', 'email', (address) => ['/signup', { ...address, password: OTHER_PASSWORD }]],
  ['a texted code', 'phone', (address) => ['/otp', address]],
  ['a texted code without a new account', 'phone', (address) => ['/otp', { ...address, create_user: false }]],
  ['a guessed code', 'phone', (address) => ['/verify', { ...address, type: 'sms', token: '123456' }]],
  ['a sign-up', 'phone', (address) => ['/signup', { ...address, password: PASSWORD }]],
  ['a sign-up with another password', 'phone', (address) => ['/signup', { ...address, password: OTHER_PASSWORD }]],
];

const signUp = async (address: Address): Promise<void> => {
  const { status } = await world.request('POST', '/signup', { body: { ...address, password: PASSWORD } });
  expect(status).toBe(200);
};

async function createAddress(state: State, kind: Kind): Promise<Address> {
  const address = kind === 'email' ? { email: newAddress() } : { phone: newNumber() };
  if (state !== 'unknown') await signUp(address);
  if (state === 'confirmed') {
    const value = 'email' in address ? address.email : address.phone.slice(1);
    await world.admin.query(`update auth.users set ${kind}_confirmed_at = now() where ${kind} in ($1, '+' || $1)`, [
      value,
    ]);
  }
  return address;
}

type Observation = { answer: unknown; ms: number };

const CHANGING_HEADERS = new Set(['date', 'x-request-id']);

/** The answer without what depends on the address itself, the time or chance. */
async function observe(probe: Probe, address: Address): Promise<Observation> {
  const [path, body] = probe(address);
  const startedAt = performance.now();
  const response = await world.request('POST', path, { body });
  const ms = performance.now() - startedAt;
  const headers = [...response.headers].filter(([name]) => !CHANGING_HEADERS.has(name));
  const value = 'email' in address ? address.email : address.phone;
  const text = JSON.stringify({ status: response.status, headers, body: response.body })
    .replaceAll(value, '<address>')
    .replaceAll(value.replace('+', ''), '<address>')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  return { answer: JSON.parse(text), ms };
}

const FIRST_ROUNDS = 4;
const ROUNDS = 9;

type Observed = Record<State, Observation[]>;

/**
 * Alternating rounds, so that other programs slow all states down alike. An unknown address is new each time. The first
 * round warms up. Most probes end after a few rounds: further ones follow only if the times of two states differ
 * clearly. A difference after `ROUNDS` rounds counts only if it lasts for as many again: on a busy machine, chance
 * alone may make one.
 */
async function observeStates(probe: Probe, kind: Kind): Promise<Observed> {
  const known = {
    confirmed: await createAddress('confirmed', kind),
    unconfirmed: await createAddress('unconfirmed', kind),
  };
  const observed: Observed = { unknown: [], confirmed: [], unconfirmed: [] };
  const observeRound = async (states: readonly State[], isWarmUp = false): Promise<void> => {
    for (const state of states) {
      const address = state === 'unknown' ? await createAddress('unknown', kind) : known[state];
      const observation = await observe(probe, address);
      if (!isWarmUp) observed[state].push(observation);
    }
  };
  await observeRound(STATES, true);
  const isAny = (limit: (comparison: Comparison) => boolean): boolean =>
    STATES.some((state) => limit(compareTimes(observed, state)));
  for (let round = 1; round <= 2 * ROUNDS; round += 1) {
    if (round > FIRST_ROUNDS && round <= ROUNDS && !isAny(mayDiffer)) break;
    if (round === ROUNDS + 1 && !isAny(differ)) break;
    await observeRound(round % 2 === 0 ? STATES : STATES.toReversed());
  }
  return observed;
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** `share` of pairs in which the state is slower than an unknown address, and the `ratio` of the medians. */
type Comparison = { share: number; ratio: number; text: string };

function compareTimes(observed: Observed, state: State): Comparison {
  const [a, b] = [observed[state], observed.unknown].map((observations) => observations.map(({ ms }) => ms));
  const slower = a!.flatMap((x) => b!.map((y) => (x > y ? 1 : 0))).reduce<number>((sum, one) => sum + one, 0);
  const [of, ofUnknown] = [median(a!), median(b!)];
  const text = `${state}: ${of} ms, unknown: ${ofUnknown} ms`;
  return { share: slower / (a!.length * b!.length), ratio: of / ofUnknown, text };
}

const exceeds = ({ share, ratio }: Comparison, limits: { share: number; ratio: number }): boolean =>
  Math.max(share, 1 - share) > limits.share && Math.max(ratio, 1 / ratio) > limits.ratio;

/**
 * True if an attacker could tell the state from an unknown address: one of them is slower in nearly all pairs of
 * measurements, and by half in the median. Chance passes the first limit once in a thousand comparisons, and hardly
 * ever passes both.
 */
const differ = (comparison: Comparison): boolean => exceeds(comparison, { share: 0.95, ratio: 1.5 });
/** For the first rounds: lower limits, so that a state that would pass those of `differ` later gets further rounds. */
const mayDiffer = (comparison: Comparison): boolean => exceeds(comparison, { share: 0.75, ratio: 1.2 });

async function expectNoDifference(probe: Probe, kind: Kind): Promise<void> {
  const observed = await observeStates(probe, kind);
  const [expected] = observed.unknown;
  for (const state of STATES) {
    for (const { answer } of observed[state]) expect(answer, state).toEqual(expected!.answer);
    const comparison = compareTimes(observed, state);
    expect(differ(comparison), comparison.text).toBe(false);
  }
}

const TITLE = 'is answered alike, in words and in time, with and without an account';

describe.each([
  ['email', byEmail],
  ['phone', byPhone],
] as const)('by %s', (kind, probes) => {
  test.each(probes)(`%s ${TITLE}`, (_name, probe) => expectNoDifference(probe, kind));
});

// These requests mostly wait, so they disturb one another little.
describe.concurrent('with a minimum response time', () => {
  test.each(padded)(`%s by %s ${TITLE}`, (_name, kind, probe) => expectNoDifference(probe, kind));
});
