/** Random schedules: the devices, the start and the steps that users, the network and the server take. */
import fc from 'fast-check';

/** `device` and `tab` select among those that exist; `a` and `b` select items, days and the like. */
export type Step = {
  do: (typeof KINDS)[number];
  device: number;
  tab: number;
  a: number;
  b: number;
  /** The time that passes after the step. */
  thenMs: number;
};

export type Schedule = {
  devices: readonly { utcOffsetMinutes: number; latencyMs: number }[];
  startsAt: string;
  plan: 'free' | 'premium';
  /** The number of items of each day at the start. */
  items: number;
  steps: readonly Step[];
};

const KINDS = [
  ...(['add', 'append', 'prepend', 'delete', 'move', 'clear', 'compose', 'moveLog', 'capture'] as const),
  ...(['offline', 'online', 'loseRequest', 'loseAnswer'] as const),
  ...(['openDay', 'openTab', 'closeTab', 'crashTab', 'hideTab', 'showTab'] as const),
  ...(['expireSession', 'signIn', 'endPlan', 'startPlan', 'killServer', 'answer', 'waitForMidnight'] as const),
] as const;

const WEIGHTS: Record<Step['do'], number> = {
  ...{ add: 16, append: 6, prepend: 4, delete: 5, move: 4, clear: 1, compose: 2, moveLog: 2, capture: 8 },
  ...{ offline: 5, online: 4, loseRequest: 2, loseAnswer: 4 },
  ...{ openDay: 3, openTab: 5, closeTab: 4, crashTab: 3, hideTab: 1, showTab: 1 },
  ...{ expireSession: 1, signIn: 2, endPlan: 1, startPlan: 1, killServer: 1, answer: 2, waitForMidnight: 1 },
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.oneof(...KINDS.map((kind) => ({ weight: WEIGHTS[kind], arbitrary: fc.constant(kind) }))),
  device: fc.nat(3),
  tab: fc.nat(1),
  a: fc.nat(9),
  b: fc.nat(9),
  thenMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.constantFrom(15, 60, 110, 200) },
    { weight: 4, arbitrary: fc.constantFrom(2_010, 2_100, 2_400) },
    { weight: 1, arbitrary: fc.constantFrom(12_000, 45_000) },
  ),
});

/** Noon, and ten seconds before midnight in each time zone below. */
const STARTS = ['12:30:00', '23:59:50', '22:59:50', '04:59:50', '18:29:50', '09:59:50', '11:59:50'].map(
  (time) => `2026-11-20T${time}Z`,
);

const device = fc.record({
  utcOffsetMinutes: fc.constantFrom(0, 60, -300, 330, 840, -720),
  latencyMs: fc.constantFrom(40, 120, 400),
});

export const schedules = (maxSteps: number): fc.Arbitrary<Schedule> =>
  fc.record({
    devices: fc.array(device, { minLength: 2, maxLength: 4 }),
    startsAt: fc.constantFrom(...STARTS),
    plan: fc.constantFrom('premium', 'free'),
    items: fc.nat(4),
    steps: fc.array(step, { minLength: 4, maxLength: maxSteps }),
  });
