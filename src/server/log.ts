/**
 * The server's log: one JSON object a line on standard output.
 *
 * Never log journal text, addresses, tokens or query strings. What is written below is the net under that rule, not the
 * rule itself: it only knows the names that such values usually have.
 */
import { destination as fileDestination, pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

const PRIVATE_NAMES = ['authorization', 'password', 'token', 'access_token', 'refresh_token', 'email', 'content', 'to'];

/** Lines leave together, at the latest after this long, so that no request waits for its own line to be written. */
const BUFFER_BYTES = 4096;
const FLUSH_EVERY_MS = 500;

export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: publicParts },
    redact: { paths: PRIVATE_NAMES, censor: '[private]' },
  };
  return pino(options, destination);
}

/** What is buffered when the process ends in an orderly way is written then. */
const standardOutput = (): DestinationStream =>
  fileDestination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_EVERY_MS });

/** Threat: errors of the database quote whole rows in `detail` and `where`, and some of ours carry what was sent. */
function publicParts(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return { type: name, message, code, stack, ...(cause === undefined ? {} : { cause: publicParts(cause) }) };
}
