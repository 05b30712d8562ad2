/**
 * The prepared statements of one connection: PostgreSQL parses and plans a named statement once, then only binds it.
 *
 * Bounded, because the data wire lets clients choose the shape of a query: every shape is its own text, and PostgreSQL
 * keeps a plan for each name until the connection ends. The least recently used statement is closed.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const MAX_PER_CONNECTION = 100;

export type NamedStatement = { name: string; isNew: boolean; closes: string | null };

export class PreparedStatements {
  /** Maps a role and a text to the name of their prepared statement. */
  readonly #names = new LRUCache<string, string>({ max: MAX_PER_CONNECTION });
  #last = 0;

  /**
   * The name for a text. A plan made for one role is not reused for another: PostgreSQL would re-check its policies and
   * plan it again at every change of role.
   */
  nameFor(role: string, text: string): NamedStatement {
    const known = this.#names.get(`${role}:${text}`);
    if (known !== undefined) return { name: known, isNew: false, closes: null };
    // The least recently used name is evicted here and not by `set`: the request that prepares the new statement also
    // closes the old.
    const closes = this.#names.size < MAX_PER_CONNECTION ? null : (this.#names.pop() ?? null);
    this.#last += 1;
    return { name: `s${this.#last}_${digest(role, text)}`, isNew: true, closes };
  }

  /**
   * Whether the statement is prepared. Marks it as used, because a statement that is sent before it may close the least
   * recently used one.
   */
  has(role: string, text: string): boolean {
    return this.#names.get(`${role}:${text}`) !== undefined;
  }

  /** Call this only once PostgreSQL has parsed the statement: a rejected text gets no name. */
  parsed(role: string, text: string, name: string): void {
    this.#names.set(`${role}:${text}`, name);
  }
}

/**
 * Threat: a pooler that gives a session with another client's statements to this connection. A name stands for one text
 * in all processes, so that such a pooler causes an error and never the execution of another statement.
 */
function digest(role: string, text: string): string {
  return createHash('sha256').update(`${role}:${text}`).digest('base64url').slice(0, 16);
}
