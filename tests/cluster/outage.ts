/** Measures an outage by the answers to a series of requests. */

/** Times in milliseconds. */
export type Answer = { sentAt: number; answeredAt: number };
export type Outage = { from: number; to: number };

/**
 * The longest time without an answer, from `since` on. Ignores answers to earlier requests, because they may have been
 * on their way when the fault struck. Null if no later request was answered.
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
