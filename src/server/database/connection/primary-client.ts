/** A connection of the driver to the server that accepts writes, whichever that is when it connects. */
import { callbackify } from 'node:util';

import pg from 'pg';

import {
  limitTcpConnect,
  UnreachableError,
  isReadOnly,
  NoPrimaryError,
  type Address,
  type PrimaryFinder,
} from './primary-finder.ts';

const LOGIN_CHECK_MS = 1_000;

type Callback = ((error: Error) => void) & ((error: null, client: pg.Client) => void);

/** The class for the pool. Its options give everything but the host and the port. */
export function primaryClient(finder: PrimaryFinder): typeof pg.Client {
  return class extends pg.Client {
    constructor(options?: string | pg.ClientConfig) {
      super(options);
      // A connection that breaks rejects the query in flight and also emits `error`, which would end the process
      // without a listener.
      this.on('error', () => undefined);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<pg.Client> | undefined {
      if (!callback) return this.#connectToPrimary();
      callbackify(() => this.#connectToPrimary())(callback);
      return undefined;
    }

    async #connectToPrimary(): Promise<pg.Client> {
      const server = await finder.find();
      // The driver reads `host` and `port` when it connects.
      this.host = server.host;
      this.port = server.port;
      limitTcpConnect(this);
      const stopWatching = this.#watchLogin(server);
      try {
        await super.connect();
        if (finder.isStrict && (await isReadOnly(this))) throw new NoPrimaryError('the database server only reads');
        return this;
      } catch (error) {
        finder.forget(server);
        void this.end().catch(() => undefined);
        throw error;
      } finally {
        stopWatching();
      }
    }

    /** Gives up a login to a server that another one has replaced, long before its time-out. */
    #watchLogin(server: Address): () => void {
      let isDone = false;
      const timer = setInterval(() => {
        void finder.isReplaced(server).then((isReplaced) => {
          if (!isReplaced || isDone) return;
          this.connection.stream.destroy(new UnreachableError('another database server has taken over'));
        });
      }, LOGIN_CHECK_MS);
      return () => {
        isDone = true;
        clearInterval(timer);
      };
    }
  };
}
