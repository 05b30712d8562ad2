/**
 * The texts that wait to be sent: a folder with a file for each, in the order of their names. A text is in the folder
 * before it is sent and until the server has it, so a killed process loses none. Its key makes the server append it
 * once, even if a process was killed after sending or two processes send at the same time, so no lock is needed. Each
 * process sends in order and waits for each answer before it sends the next text.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './program.ts';
import { syncFolder, writeFileDurably } from './connection.ts';

export type Item = {
  readonly key: string;
  readonly server: string;
  readonly account: string;
  readonly text: string;
  /** The instant at which it was written; the server knows at which hour the user's day ends. */
  readonly at: string;
  /** The day, if the user has named one. */
  readonly date?: string;
  readonly time_zone?: string;
  /** Why the server has refused it. */
  readonly refused?: string;
};

/** The operations on a folder. `write` and `remove` happen as a whole or not at all, and are durable on return. */
export type Folder = {
  names(): string[];
  /** Null if another process has removed it. */
  read(name: string): string | null;
  write(name: string, text: string): void;
  remove(name: string): void;
};

/** An item is written to a `.tmp` file first. One that is older than this was left by a killed process: remove it. */
const MAX_TEMPORARY_MS = 3_600_000;

export function openFolder(path: string, now: Date): Folder {
  return {
    names() {
      let names: string[];
      try {
        names = readdirSync(path);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return [];
        throw error;
      }
      for (const name of names.filter((each) => each.endsWith('.tmp'))) removeIfOld(join(path, name), now);
      return names.filter((each) => each.endsWith('.json'));
    },
    read(name) {
      try {
        return readFileSync(join(path, name), 'utf8');
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return null;
        throw error;
      }
    },
    write(name, text) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      writeFileDurably(join(path, name), text);
    },
    remove(name) {
      try {
        unlinkSync(join(path, name));
        syncFolder(path);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
      }
    },
  };
}

function removeIfOld(path: string, now: Date): void {
  try {
    if (now.getTime() - statSync(path).mtimeMs > MAX_TEMPORARY_MS) rmSync(path, { force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** The outcome of sending an item. `later`: it stays in the queue, and so do those behind it. */
export type Outcome =
  | { is: 'appended'; date: string }
  | { is: 'refused'; why: string }
  | { is: 'later'; why: string; exitCode: number };

/**
 * The server keeps a key for 30 days. An item that is older may have been appended, with its answer lost: it is not
 * sent again by itself, or the day could get it twice.
 */
const MAX_AGE_MS = 29 * 24 * 3_600_000;
const TOO_OLD = 'It has waited for more than 29 days and may have arrived. Look at the day first.';

export type Waiting = { name: string; item: Item };
type NewItem = Omit<Item, 'key' | 'at' | 'refused'>;

export type Queue = {
  add(item: NewItem): Item;
  /** The oldest first. */
  waiting(): Waiting[];
  refused(): Waiting[];
  /**
   * Sends the items of a server and an account in order, until one has to wait. Returns what became of each, by its
   * key.
   */
  send(
    to: { server: string; account: string },
    deliver: (item: Item) => Promise<Outcome>,
  ): Promise<Map<string, Outcome>>;
  /** Lets a refused item wait again, as a new one. */
  retry(refused: Waiting): void;
  discard(refused: Waiting): void;
};

type Deps = { pending: Folder; refused: Folder; now: () => Date; createKey?: () => string };

/** The names sort by time. */
const nameOf = (ms: number, key: string): string => `${String(ms).padStart(15, '0')}-${key}.json`;
const timeOf = (name: string): number => Number(/^\d{1,15}/.exec(name)?.[0] ?? 0);

export function createQueue({ pending, refused, now, createKey = randomUUID }: Deps): Queue {
  function list(folder: Folder): Waiting[] {
    const items: Waiting[] = [];
    for (const name of folder.names().sort()) {
      const text = folder.read(name);
      if (text !== null) items.push({ name, item: parseItem(text, name) });
    }
    return items;
  }

  function append(item: Item): Item {
    // If the clock has gone back, `last + 1` still puts the new item behind the others.
    const last = pending.names().reduce((latest, name) => Math.max(latest, timeOf(name)), 0);
    pending.write(nameOf(Math.max(now().getTime(), last + 1), item.key), JSON.stringify(item));
    return item;
  }

  return {
    add: (item) => append({ ...item, key: createKey(), at: now().toISOString() }),
    waiting: () => list(pending),
    refused: () => list(refused),
    async send(to, deliver) {
      const outcomes = new Map<string, Outcome>();
      for (const { name, item } of list(pending)) {
        if (item.server !== to.server || item.account !== to.account) continue;
        const outcome: Outcome =
          now().getTime() - timeOf(name) > MAX_AGE_MS ? { is: 'refused', why: TOO_OLD } : await deliver(item);
        outcomes.set(item.key, outcome);
        if (outcome.is === 'later') break;
        // Written before `pending.remove`: a process that is killed in between leaves the item in both folders, not in
        // none.
        if (outcome.is === 'refused') refused.write(name, JSON.stringify({ ...item, refused: outcome.why }));
        // A process that was killed between `refused.write` and `pending.remove` may have left the item in `refused`.
        else refused.remove(name);
        pending.remove(name);
      }
      return outcomes;
    },
    retry({ name, item: { refused: _why, ...item } }) {
      // The new key derives from the old one, so that a retry that is killed and repeated does not append twice.
      append({ ...item, key: `${item.key}-r` });
      refused.remove(name);
    },
    discard: ({ name }) => refused.remove(name),
  };
}

/** A damaged file counts as an item of no account, so it is kept and shown, and never sent. */
function parseItem(text: string, name: string): Item {
  const damaged: Item = { key: name, server: '', account: '', text, at: '' };
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    const isText = (field: keyof Item): boolean => typeof fields[field] === 'string';
    const isWhole = (['key', 'server', 'account', 'text', 'at'] as const).every(isText);
    return isWhole ? (fields as Item) : damaged;
  } catch {
    return damaged;
  }
}
