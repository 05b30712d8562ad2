/**
 * Shares out what cannot queue, such as connections and memory: a quota refuses at once. Alone, a client may hold half of
 * it. Once half is taken, a client that holds a tenth gets no more, so that many clients have room.
 */

const SHARE = 10;

export type Quota = {
  /** False if the client may not hold that much more. */
  take(client: string, amount?: number): boolean;
  /** Gives back what `take` has granted. */
  giveBack(client: string, amount?: number): void;
  state(): { taken: number; refused: number };
};

export function createQuota(max: number): Quota {
  const held = new Map<string, number>();
  let taken = 0;
  let refused = 0;
  return {
    take(client, amount = 1) {
      const heldByClient = (held.get(client) ?? 0) + amount;
      if (taken + amount > max || (taken + amount > max / 2 && heldByClient > max / SHARE)) {
        refused += 1;
        return false;
      }
      taken += amount;
      held.set(client, heldByClient);
      return true;
    },
    giveBack(client, amount = 1) {
      taken -= amount;
      const heldByClient = held.get(client)! - amount;
      if (heldByClient === 0) held.delete(client);
      else held.set(client, heldByClient);
    },
    state: () => ({ taken, refused }),
  };
}
