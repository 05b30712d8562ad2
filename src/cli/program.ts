/** The machine that the command line runs on, which tests replace; its output; and its errors with exit codes. */
import { stripInvisible } from '#domain/strip-invisible.ts';

type Output = { write(text: string): unknown; readonly isTTY?: boolean };

export type Machine = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly hostName: string;
  readonly version: string;
  /** A name of the tz database. */
  readonly timeZone: string;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  now(): Date;
  fetch: typeof fetch;
  sleep(ms: number): Promise<void>;
  /** Starts a program and does not wait for it. */
  start(program: string, args: readonly string[]): void;
};

/** As in sysexits.h, which mail and cron programs know (docs/specification/capture.md 6). */
export const EXIT = {
  ok: 0,
  usage: 64,
  /** The server has refused the request, or the input is not text that can be added. */
  data: 65,
  /** The server does not answer, or something else answers in its place. */
  unavailable: 69,
  internal: 70,
  /** A file cannot be written or read. */
  files: 74,
  /** The server is busy or fails: try again later. */
  later: 75,
  /** Not connected, or the token does not allow it. */
  permission: 77,
  config: 78,
} as const;

export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Threat: a log, an error of a malicious server or a file name holds escape sequences, which retitle a terminal, fill
 * its clipboard or hide text. No control or invisible character reaches the terminal, other than line feed and tab.
 */
export const printable = (text: string): string => stripInvisible(text.replaceAll('\r\n', '\n'));

export function print({ stdout }: Pick<Machine, 'stdout'>, text: string): void {
  stdout.write(`${printable(text)}\n`);
}

/** Notes go to stderr, so that stdout holds only what was asked for. */
export function note({ stderr }: Pick<Machine, 'stderr'>, text: string): void {
  stderr.write(`${printable(text)}\n`);
}

/** Bold in a terminal with styles; plain in a file, in a pipe, and with NO_COLOR (https://no-color.org). */
export function printHeading({ stdout, env }: Pick<Machine, 'stdout' | 'env'>, text: string): void {
  const isStyled = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  stdout.write(isStyled ? `\u001b[1m${printable(text)}\u001b[22m\n` : `${printable(text)}\n`);
}

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && codes.includes(String((error as NodeJS.ErrnoException).code));

export const textCount = (count: number): string => `${count} ${count === 1 ? 'text' : 'texts'}`;
