/**
 * Bounds the time until a server's machine accepts a TCP connection. The login has a longer limit of its own, because a
 * busy server takes longer for it.
 */
import type pg from 'pg';

/** Time for one lost packet, which TCP sends again after a second. */
const TCP_TIMEOUT_MS = 2_000;

/** Call before `connect`, which then rejects if the machine has vanished without closing its connections. */
export function limitTcpConnect(client: pg.Client): void {
  const { connection } = client;
  let isDone = false;
  const timer = setTimeout(() => {
    // After a pause of this process the timer runs before the event of a connection that was established meanwhile.
    setImmediate(() => {
      if (!isDone) connection.stream.destroy(new UnreachableError('the database server does not answer'));
    });
  }, TCP_TIMEOUT_MS);
  const done = (): void => {
    isDone = true;
    clearTimeout(timer);
  };
  connection.once('connect', done);
  connection.once('end', done);
}

/** Has the code of the operating system's own error, which comes only after minutes. */
export class UnreachableError extends Error {
  readonly code = 'ETIMEDOUT';
}
