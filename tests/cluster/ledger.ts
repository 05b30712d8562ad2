/** A record of the items that the server has acknowledged, to compare with what the database has. */

export type Ledger = ReturnType<typeof createLedger>;

export type Difference = { lost: string[]; doubled: string[] };

export function createLedger() {
  const itemsOfUsers = new Map<string, Set<string>>();
  return {
    /** `items`: those of a log that was answered with 2xx. */
    acknowledge(userId: string, items: readonly string[]): void {
      const acknowledged = itemsOfUsers.get(userId) ?? new Set();
      for (const item of items) acknowledged.add(item);
      itemsOfUsers.set(userId, acknowledged);
    },

    count: (): number => [...itemsOfUsers.values()].reduce((sum, { size }) => sum + size, 0),

    /** A copy, which later saves do not change: `compare` needs what was acknowledged before the database was read. */
    copy: (): ReadonlyMap<string, readonly string[]> =>
      new Map([...itemsOfUsers].map(([userId, items]) => [userId, [...items]])),
  };
}

/** `stored`: the items of each user's log in the database. */
export function compare(
  acknowledged: ReadonlyMap<string, readonly string[]>,
  stored: ReadonlyMap<string, readonly string[]>,
): Difference {
  const lost: string[] = [];
  const doubled: string[] = [];
  for (const [userId, items] of acknowledged) {
    const found = new Set(stored.get(userId));
    for (const item of items) if (!found.has(item)) lost.push(`${userId}: ${item}`);
  }
  for (const [userId, items] of stored) {
    const seen = new Set<string>();
    for (const item of items) {
      if (seen.has(item)) doubled.push(`${userId}: ${item}`);
      seen.add(item);
    }
  }
  return { lost, doubled };
}
