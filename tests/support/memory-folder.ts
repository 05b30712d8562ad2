/** A folder of the queue of the command line, in memory. */
import type { Folder } from '../../src/cli/queue.ts';

export function createMemoryFolder(): Folder {
  const files = new Map<string, string>();
  return {
    names: () => [...files.keys()],
    read: (name) => files.get(name) ?? null,
    write: (name, text) => void files.set(name, text),
    remove: (name) => void files.delete(name),
  };
}
