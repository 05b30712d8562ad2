/** Finds the time without an answer in a series of answered requests. */

/** Times in milliseconds. */
export type Answer = { sentAt: number; answeredAt: number };
export type Outage = { from: number; to: number };

/**
 * The longest time between two answers from `since` on. Only requests that were sent at or after `since` end it, because an
 * answer may have been on its way when the fault struck. Null if no request was answered.
 */
export function longestOutage(answers: readonly Answer[], since: number): Outage | null {
  const times = answers
    .filter(({ sentAt }) => sentAt >= since)
    .map(({ answeredAt }) => answeredAt)
    .toSorted((a, b) => a - b);
  let longest: Outage | null = null;
  let last = since;
  for (const time of times) {
    if (longest === null || time - last > longest.to - longest.from) longest = { from: last, to: time };
    last = time;
  }
  return longest;
}

/** When the first request was answered at or after `time`. Null if none was. */
export const firstAnswerSince = (answers: readonly Answer[], time: number): number | null =>
  answers.reduce<number | null>(
    (first, { answeredAt }) => (answeredAt >= time && (first === null || answeredAt < first) ? answeredAt : first),
    null,
  );
