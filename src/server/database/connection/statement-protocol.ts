/**
 * How this process sends its statements, and what it learns from errors of prepared ones.
 *
 * A statement that failed with one of these errors has changed nothing, because PostgreSQL rolled its transaction back:
 * it is sent once more, unnamed, which every server and pooler accepts.
 */
import type { Logger } from '#server/log.ts';

import type { StatementNames } from '../rls-query.ts';

/** The routine of PostgreSQL that finds that DDL has changed the columns of a prepared statement (0A000). */
const PLAN_CHECK = 'RevalidateCachedQuery';
/** A prepared statement is missing or exists already: the session is not the one that this connection prepared. */
const FOREIGN_SESSION_CODES: ReadonlySet<string> = new Set(['26000', '42P05']);

type StatementError = { code?: string | undefined; routine?: string | undefined };

export type ProtocolOptions = { names: StatementNames; canPipeline: boolean; isPooled: boolean; log: Logger };

export class StatementProtocol {
  #names: StatementNames;
  #canPipeline: boolean;
  readonly #isPooled: boolean;
  readonly #log: Logger;
  #suffixCount = 0;
  /** A comment that changes every text after DDL; empty before the first DDL. See `textOf`. */
  #suffix = '';

  constructor({ names, canPipeline, isPooled, log }: ProtocolOptions) {
    this.#names = names;
    this.#canPipeline = canPipeline;
    this.#isPooled = isPooled;
    this.#log = log;
  }

  get names(): StatementNames {
    return this.#names;
  }

  /** Whether a query may be sent while another one runs on its connection. */
  get canPipeline(): boolean {
    return this.#canPipeline && this.#names === 'named';
  }

  /**
   * The text to send. A pooler shares one prepared statement of the server among all clients that sent the same text,
   * so only another text leaves a stale plan behind.
   */
  textOf(text: string): string {
    return this.#suffix === '' ? text : text + this.#suffix;
  }

  /** Changes how later statements are sent. True if `sent` may be sent again, unnamed. */
  adaptToError({ code = '', routine }: StatementError, sent: string): boolean {
    if (code === '0A000' && routine === PLAN_CHECK) {
      // Other requests may have failed at the same time. Only the first one changes the suffix.
      if (sent.endsWith(this.#suffix)) this.#suffix = `\n-- ${(this.#suffixCount += 1)}`;
      return true;
    }
    if (!FOREIGN_SESSION_CODES.has(code)) return false;
    if (this.#isPooled && this.#names === 'named') {
      this.#names = 'unnamed';
      this.#log.error(
        'the pooler mixes prepared statements of different clients since its last change: statements are sent ' +
          'unnamed from now on. Set max_prepared_statements on the pooler, then restart this server',
      );
    }
    return true;
  }

  /** Call after a `ForeignAnswerError`. */
  stopPipelining(): void {
    if (!this.#canPipeline) return;
    this.#canPipeline = false;
    this.#log.error(
      'a query got the answer of another one, which was dropped: queries are sent one by one from now on',
    );
  }
}
