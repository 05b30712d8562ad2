/**
 * Runs one query under row-level security in one round trip (`RlsQuery`), or several in one transaction
 * (`SharedTransaction`).
 *
 * Two Parse/Bind/Execute groups go out together and end in a single Sync: first the role and the claims, then the
 * statement. PostgreSQL runs everything up to the Sync as one transaction, so the transaction-local settings are reset
 * before the connection serves the next caller. Both groups use bound parameters.
 *
 * Never fold the settings into the statement (a CTE, a join): PostgreSQL selects policies at planning time, so the role
 * must be set before.
 */
import { randomBytes, createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg, { type Connection, type FieldDef, type Submittable } from 'pg';
import type { Result } from './database.ts';

/**
 * The base class of `RlsQuery`, because the driver pipelines only its own class of queries: another class might keep a
 * portal open across round trips. An `RlsQuery` ends in its own Sync, so it keeps none.
 */
const DriverQuery = pg.Query as unknown as new (config: object) => object;

/** Selects booleans, so the settings are not sent back. */
export const ACT_AS = "select set_config('role', $1, true) is null, set_config('request.jwt.claims', $2, true) is null";
/** Sends back a token of the query, see `ForeignAnswerError`. */
const ACT_AS_WITH_TOKEN = `${ACT_AS}, $3::text`;
/**
 * Also limits the time of the statement: PostgreSQL starts a new timer for the Bind that follows an Execute, so the
 * limit that the first group sets applies to the second one, and ends with the transaction.
 */
const ACT_AS_WITH_LIMIT = `${ACT_AS_WITH_TOKEN}, set_config('statement_timeout', $4, true) is null`;
/**
 * Threat: a user who holds a lock on an own row, as a long import does, and saves that row meanwhile would hold up the
 * users whose writes share the transaction. Deadlocks between two transactions end after this time as well.
 */
const LOCK_LIMIT_MS = 20;
/**
 * With `collects_changes`, the trigger `follow_entry` collects the changed days in a setting, which `COLLECTED_CHANGES`
 * reads at the end. Without it, PostgreSQL would send a notice for each.
 */
const ACT_AS_IN_COMPANY =
  `${ACT_AS_WITH_TOKEN}, set_config('lock_timeout', '${LOCK_LIMIT_MS}', true) is null, ` +
  `set_config('hustle_forge.collects_changes', 'on', true) is null`;
type Settings = { readonly name: string; readonly text: string };
const SETTINGS: Settings = { name: 'act_as_with_token', text: ACT_AS_WITH_TOKEN };
export const SETTINGS_WITH_LIMIT: Settings = { name: 'act_as_with_limit', text: ACT_AS_WITH_LIMIT };
/** The settings statement of a query in a `SharedTransaction`. */
export const SETTINGS_IN_COMPANY: Settings = { name: 'act_as_in_company', text: ACT_AS_IN_COMPANY };
const COLLECTED_CHANGES: Settings = {
  name: 'collected_changes',
  text: "select current_setting('hustle_forge.changes', true)",
};
/** Begins each token of this process. Random, because a pooler may serve several processes. */
const TOKEN_PREFIX = randomBytes(9).toString('base64url');
let queryCount = 0;

/**
 * The answer belongs to another query. Threat: a pooler that gives the session of a pipeline away too early, or a fault
 * in the driver's pipeline, answers one user with the rows of another.
 */
export class ForeignAnswerError extends Error {
  /** As for a lost connection: a client may try again. */
  readonly code = 'ECONNRESET';
}

const foreignAnswer = () => new ForeignAnswerError('the database answered another query');

/** `unnamed`: PostgreSQL parses and plans each statement anew. Works behind a pooler that mixes prepared statements. */
export type StatementNames = 'named' | 'unnamed';

export type ActingAs = { role: 'anon' | 'authenticated' | 'service_role'; claimsJson: string };

/** The driver's parameter serialiser, which its published types omit. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }).utils;

/** The members of pg's connection used here; its published types omit them. */
type Wire = {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
  on(event: 'parseComplete', listener: () => void): void;
};

/** State of a connection: its prepared statements, and callbacks for Parse messages not yet confirmed. */
type Preparation = {
  names: PreparedStatements;
  settingsNames: Map<Settings, string>;
  settingsCount: number;
  pending: (() => void)[];
};
const preparations = new WeakMap<Wire, Preparation>();

function preparationOf(wire: Wire): Preparation {
  const known = preparations.get(wire);
  if (known) return known;
  const made: Preparation = {
    names: new PreparedStatements(),
    settingsNames: new Map(),
    settingsCount: 0,
    pending: [],
  };
  // Register a name at ParseComplete. Registering it when the statement ends would lose the name after a failed insert,
  // and the next Parse would fail with 42P05 (name already in use).
  wire.on('parseComplete', () => made.pending.shift()?.());
  preparations.set(wire, made);
  return made;
}

/**
 * Sends a statement of this file, and its Parse unless the connection has confirmed it. Each Parse has a name of its
 * own: PgBouncer keeps the name of a Parse that PostgreSQL skipped after an error, and refuses it the next time.
 */
function sendConstant(wire: Wire, preparation: Preparation, statement: Settings, values: string[]): void {
  const { settingsNames, pending } = preparation;
  const known = settingsNames.get(statement);
  const name = known ?? `${statement.name}_${(preparation.settingsCount += 1)}`;
  if (known === undefined) {
    wire.parse({ name, text: statement.text });
    pending.push(() => settingsNames.set(statement, name));
  }
  wire.bind({ statement: name, values });
  wire.execute({});
}

type Rows = pg.ResultBuilder & {
  addFields(fields: FieldDef[]): void;
  parseRow(fields: unknown[]): pg.QueryResultRow;
  addCommandComplete(message: unknown): void;
};

/** Whether the connection has confirmed the statement and its settings, so that neither needs a Parse. */
export function isPrepared(client: pg.ClientBase, settings: Settings, { role }: ActingAs, text: string): boolean {
  const known = preparations.get((client as unknown as { connection: Wire }).connection);
  return known !== undefined && known.settingsNames.has(settings) && known.names.has(role, text);
}

export class RlsQuery extends DriverQuery implements Submittable {
  readonly done: Promise<Result<unknown>>;
  readonly #actingAs: ActingAs;
  readonly #text: string;
  readonly #values: readonly unknown[];
  readonly #names: StatementNames;
  readonly #limitMs: number | null;
  readonly #settings: Settings;
  readonly #result: Rows;
  readonly #resolve: (result: Result<unknown>) => void;
  readonly #reject: (error: Error) => void;
  #preparation: Preparation | null = null;
  #serialised: unknown[] = [];
  #commandsDone = 0;
  #rowError: Error | null = null;
  readonly #token: string;
  #isAnswered = false;

  constructor(
    actingAs: ActingAs,
    text: string,
    values: readonly unknown[],
    types: pg.TypeOverrides,
    names: StatementNames = 'named',
    limitMs: number | null = null,
    settings = limitMs === null ? SETTINGS : SETTINGS_WITH_LIMIT,
  ) {
    super({});
    this.#actingAs = actingAs;
    this.#text = text;
    this.#values = values;
    this.#names = names;
    this.#limitMs = limitMs;
    this.#settings = settings;
    this.#result = new (pg.Result as unknown as new (mode: undefined, types: pg.TypeOverrides) => Rows)(
      undefined,
      types,
    );
    queryCount += 1;
    this.#token = `${TOKEN_PREFIX}${queryCount}`;
    const { promise, resolve, reject } = Promise.withResolvers<Result<unknown>>();
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Called by pg when it is this query's turn to be sent. A returned Error rejects the query; nothing was sent. */
  submit(connection: Connection): Error | undefined {
    const error = this.prepare();
    if (error) return error;
    const wire = connection as unknown as Wire;
    wire.stream.cork();
    this.send(wire);
    wire.sync();
    wire.stream.uncork();
    return undefined;
  }

  /** Serialises the values. Call before `send`. */
  prepare(): Error | undefined {
    try {
      this.#serialised = this.#values.map((value) => prepareValue(value));
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  /** Sends the query without the Sync that ends its transaction. */
  send(wire: Wire): void {
    const values = this.#serialised;
    if (this.#names === 'named') {
      const preparation = preparationOf(wire);
      this.#preparation = preparation;
      this.#sendSettings(wire, preparation);
      this.#sendStatement(wire, preparation, values);
    } else {
      this.#sendUnnamed(wire, values);
    }
  }

  #sendSettings(wire: Wire, preparation: Preparation): void {
    sendConstant(wire, preparation, this.#settings, this.#settingValues());
  }

  #settingValues(): string[] {
    const limit = this.#limitMs === null ? [] : [String(this.#limitMs)];
    return [this.#actingAs.role, this.#actingAs.claimsJson, this.#token, ...limit];
  }

  #sendStatement(wire: Wire, { names, pending }: Preparation, values: unknown[]): void {
    const { role } = this.#actingAs;
    const { name, isNew, closes } = names.nameFor(role, this.#text);
    if (closes !== null) wire.close({ type: 'S', name: closes });
    if (isNew) {
      wire.parse({ name, text: this.#text });
      pending.push(() => names.parsed(role, this.#text, name));
    }
    wire.bind({ statement: name, values });
    wire.describe({ type: 'P', name: '' });
    wire.execute({});
  }

  /** A pooler in transaction mode sends everything up to the Sync to one session. */
  #sendUnnamed(wire: Wire, values: unknown[]): void {
    wire.parse({ name: '', text: this.#settings.text });
    wire.bind({ statement: '', values: this.#settingValues() });
    wire.execute({});
    wire.parse({ name: '', text: this.#text });
    wire.bind({ statement: '', values });
    wire.describe({ type: 'P', name: '' });
    wire.execute({});
  }

  /** Both groups are answered. */
  get isComplete(): boolean {
    return this.#commandsDone === 2;
  }

  /** The answer has the token of this query. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  handleRowDescription(message: { fields: FieldDef[] }): void {
    this.#result.addFields(message.fields);
  }

  handleDataRow(message: { fields: unknown[] }): void {
    if (this.#commandsDone === 0) {
      this.#isAnswered = message.fields[2] === this.#token;
      return;
    }
    if (this.#rowError) return;
    try {
      this.#result.addRow(this.#result.parseRow(message.fields));
    } catch (error) {
      this.#rowError = error as Error;
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#commandsDone += 1;
    if (this.#commandsDone === 2) this.#result.addCommandComplete(message);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  /** pg drops a query at its first error and never calls `handleReadyForQuery` for it, so reject here. */
  handleError(error: Error): void {
    // Unconfirmed Parse messages failed. A callback left here would run at the next ParseComplete on this connection,
    // even an unnamed one, and register a name that the server does not know (26000).
    if (this.#preparation) this.#preparation.pending = [];
    this.#reject(error);
  }

  /** The transaction is committed only now: a deferred constraint may still fail after CommandComplete. */
  handleReadyForQuery(): void {
    if (!this.#isAnswered) this.#reject(foreignAnswer());
    else if (this.#rowError) this.#reject(this.#rowError);
    else this.#resolve({ rows: this.#result.rows, rowCount: this.#result.rowCount ?? 0 });
  }
}

/** `at`: the index of the query that failed; the number of queries if the commit did. */
type SharedFailure = { readonly error: Error; readonly at: number };

/**
 * Runs the queries of several callers in one transaction and one round trip: each sets its own role and claims before
 * its statement, and a single Sync commits all of them. If one fails, all of them reject with its error. The caller has
 * called `prepare` on each, so none fails before it is sent.
 */
export class SharedTransaction extends DriverQuery implements Submittable {
  /** Null once it is committed. */
  readonly done: Promise<SharedFailure | null>;
  /** The days that the queries have changed, a line each (`changes/change-announcer.ts`). */
  changes = '';
  readonly #resolve: (failure: SharedFailure | null) => void;
  readonly #queries: readonly RlsQuery[];
  /** The index of the query whose answer arrives next. */
  #at = 0;

  constructor(queries: readonly RlsQuery[]) {
    super({});
    this.#queries = queries;
    const { promise, resolve } = Promise.withResolvers<SharedFailure | null>();
    this.done = promise;
    this.#resolve = resolve;
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    wire.stream.cork();
    for (const query of this.#queries) query.send(wire);
    sendConstant(wire, preparationOf(wire), COLLECTED_CHANGES, []);
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription(message: { fields: FieldDef[] }): void {
    this.#queries[this.#at]?.handleRowDescription(message);
  }

  handleDataRow(message: { fields: unknown[] }): void {
    const query = this.#queries[this.#at];
    if (query) query.handleDataRow(message);
    else this.changes = (message.fields[0] as string | null) ?? '';
  }

  handleCommandComplete(message: unknown): void {
    const query = this.#queries[this.#at];
    query?.handleCommandComplete(message);
    if (query?.isComplete) this.#at += 1;
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleError(error: Error): void {
    for (const query of this.#queries) query.handleError(error);
    this.#resolve({ error, at: this.#at });
  }

  handleReadyForQuery(): void {
    if (!this.#queries.every(({ isAnswered }) => isAnswered)) return this.handleError(foreignAnswer());
    for (const query of this.#queries) query.handleReadyForQuery();
    this.#resolve(null);
  }
}

const MAX_PER_CONNECTION = 100;

type NamedStatement = { name: string; isNew: boolean; closes: string | null };

/**
 * The prepared statements of one connection: PostgreSQL parses a named statement once, and may reuse its plan.
 *
 * Bounded, because the data API lets clients choose the shape of a query: every shape is its own text, and PostgreSQL
 * keeps a plan for each name until the connection ends. The least recently used statement is closed.
 */
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
