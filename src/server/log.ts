/**
 * The server's log: one JSON object a line on standard output.
 *
 * Never log journal text, addresses, tokens or query strings. The redaction below is only a safety net: it knows just
 * the usual names of such values.
 */
import { destination as fileDestination, pino, type DestinationStream, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

const PRIVATE_NAMES = ['authorization', 'password', 'token', 'access_token', 'refresh_token', 'email', 'content', 'to'];

/** Writes are buffered, so no request waits for its log line. */
const BUFFER_BYTES = 4096;
const FLUSH_EVERY_MS = 500;
/** Lines beyond this are dropped while nothing reads the output, for example because the log collector is blocked. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError },
    redact: { paths: PRIVATE_NAMES, censor: '[private]' },
  };
  return pino(options, destination);
}

/** pino flushes this destination on the process's event `exit`. A process killed by a signal loses buffered lines. */
const standardOutput = (): DestinationStream =>
  fileDestination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
  });

/** Threat: database errors quote whole rows in `detail` and `where`, and some of our errors carry request data. */
function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return { type: name, message, code, stack, ...(cause === undefined ? {} : { cause: serializeError(cause) }) };
}
