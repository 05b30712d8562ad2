/** The server's source of the current time. Tests pass in a clock that they can move. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };
