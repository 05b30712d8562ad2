/**
 * Which statements one connection has prepared. A named statement is parsed and planned once and then only bound.
 *
 * Bounded, because the data wire lets clients choose the shape of a query: each shape is a text of its own, and the
 * server keeps a plan for every name until the connection ends. The one unused for longest is closed.
 */
const MOST_PER_CONNECTION = 100;

export type Naming = { name: string; isNew: boolean; closes: string | null };

export class NamedStatements {
  /** Text (with the role it runs as) to name, in order of use. */
  readonly #names = new Map<string, string>();
  #last = 0;

  /**
   * The name for a text. A plan made for one role is not used for another: the policies in it would be checked and it
   * would be made again at every change.
   */
  nameFor(role: string, text: string): Naming {
    const key = `${role}:${text}`;
    const known = this.#names.get(key);
    if (known !== undefined) {
      this.#names.delete(key);
      this.#names.set(key, known);
      return { name: known, isNew: false, closes: null };
    }
    const closes = this.#makeRoom();
    this.#last += 1;
    return { name: `s${this.#last}`, isNew: true, closes };
  }

  /** Called when the server has said that it parsed the statement, and not before: a refused text leaves no name. */
  parsed(role: string, text: string, name: string): void {
    this.#names.set(`${role}:${text}`, name);
  }

  #makeRoom(): string | null {
    if (this.#names.size < MOST_PER_CONNECTION) return null;
    const [oldest] = this.#names;
    if (!oldest) return null;
    this.#names.delete(oldest[0]);
    return oldest[1];
  }
}
