/**
 * The server's log: one JSON object a line on standard output.
 *
 * Never log journal text, addresses, tokens or query strings. The redaction below is the net under that rule, not the
 * rule itself: it only knows the names that such values usually have.
 */
import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

const PRIVATE_NAMES = ['authorization', 'password', 'token', 'access_token', 'refresh_token', 'email', 'content', 'to'];

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PRIVATE_NAMES.flatMap((name) => [name, `*.${name}`]), censor: '[private]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
