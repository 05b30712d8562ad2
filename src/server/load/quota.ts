/**
 * Shares out what cannot queue, such as connections and memory: a quota refuses at once. Alone, a client may hold half
 * of it. Once half is taken, a client that holds a tenth gets no more, so that many clients have room. Once all is
 * taken, a client that would hold a tenth at most gets the place of the client that holds the most above a tenth, if
 * the quota has a `Reclaim`.
 *
 * Threats: a client that came first keeps half for ever; many small clients together push others out. The first tenth
 * of a client is never reclaimed.
 */

const SHARE = 10;

export type Quota = {
  /** False if the client may not hold that much more. */
  take(client: string, amount?: number): boolean;
  /** Gives back what `take` has granted. */
  giveBack(client: string, amount?: number): void;
  /** Whether all is taken and the client holds more than a tenth. */
  shouldShrink(client: string): boolean;
  /** `displaced`: how often a client lost something to another one. */
  state(): { taken: number; refused: number; displaced: number };
};

/**
 * Ends one thing that the client holds, and calls `giveBack` before it returns, or does neither. For a quota that
 * counts things (each amount is 1) that a client can hold for ever.
 */
export type Reclaim = (client: string) => void;

export function createQuota(max: number, reclaim: Reclaim = () => undefined): Quota {
  const held = new Map<string, number>();
  /** The clients that hold more than a tenth, so nine at most. */
  const large = new Set<string>();
  let taken = 0;
  let refused = 0;
  let displaced = 0;

  function makeRoom(): void {
    const before = taken;
    for (const client of [...large].sort((a, b) => held.get(b)! - held.get(a)!)) {
      reclaim(client);
      if (taken === before) continue;
      displaced += 1;
      return;
    }
  }

  return {
    take(client, amount = 1) {
      const heldByClient = (held.get(client) ?? 0) + amount;
      const isLarge = heldByClient > max / SHARE;
      if (taken + amount > max && !isLarge) makeRoom();
      if (taken + amount > max || (taken + amount > max / 2 && isLarge)) {
        refused += 1;
        return false;
      }
      taken += amount;
      held.set(client, heldByClient);
      if (isLarge) large.add(client);
      return true;
    },
    giveBack(client, amount = 1) {
      taken -= amount;
      const heldByClient = held.get(client)! - amount;
      if (heldByClient <= max / SHARE) large.delete(client);
      if (heldByClient === 0) held.delete(client);
      else held.set(client, heldByClient);
    },
    shouldShrink: (client) => taken >= max && large.has(client),
    state: () => ({ taken, refused, displaced }),
  };
}
