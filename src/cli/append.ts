/** Adding items: from words or a pipe into the queue, and from the queue to the server. */
import { join } from 'node:path';
import { APPEND_MAX_ITEMS, APPEND_MAX_LENGTH } from '#domain/log/append-items.ts';
import { dayLabel, isDay } from '#domain/day/day.ts';
import { messageOf, post, refusalOf, textOf, zoneOf } from './api.ts';
import { stateFolder, type Connection } from './connection.ts';
import { CommandError, EXIT, type Machine } from './program.ts';
import { createQueue, openFolder, type Item, type Outcome, type Queue } from './queue.ts';

/** The largest log (docs/specification/limits.md 1). The server would refuse more at every try. */
const MAX_INPUT_BYTES = 256 * 1024;

export const openQueue = (machine: Machine): Queue => {
  const folder = stateFolder(machine);
  return createQueue({
    pending: openFolder(join(folder, 'waiting'), machine.now()),
    refused: openFolder(join(folder, 'refused'), machine.now()),
    now: machine.now,
  });
};

/**
 * Reads UTF-8, or little-endian UTF-16 with a byte order mark, as PowerShell writes it.
 * @throws CommandError if the input is too long or not text
 */
export async function readPipe({ stdin }: Pick<Machine, 'stdin'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MAX_INPUT_BYTES)
      throw new CommandError(
        EXIT.data,
        `The input is longer than the ${MAX_INPUT_BYTES / 1024} KB of a day. Nothing was added.`,
      );
  }
  const input = Buffer.concat(chunks);
  const encoding = input[0] === 0xff && input[1] === 0xfe ? 'utf-16le' : 'utf-8';
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(input);
  } catch {
    throw new CommandError(EXIT.data, 'The input is no UTF-8 text. Nothing was added.');
  }
  if (text.includes('\0')) throw new CommandError(EXIT.data, 'The input is no text. Nothing was added.');
  return text;
}

/**
 * Splits a text into parts, each short enough for one request. A part ends before a line that begins an item, unless
 * that item alone is too long.
 * @throws CommandError for a line that is too long
 */
function splitText(text: string): string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  let length = 0;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/)) {
    if (line.trim() === '') continue;
    const isFull = lines.length >= APPEND_MAX_ITEMS || length + line.length + 1 > APPEND_MAX_LENGTH;
    if (isFull && lines.length > 0) {
      // An indented line continues the item before it, so that item moves to the next part too.
      const at = /^\s/.test(line) ? lines.findLastIndex((each) => !/^\s/.test(each)) : lines.length;
      const moved = at > 0 ? lines.splice(at) : [];
      parts.push(lines.join('\n'));
      lines = moved;
      length = moved.reduce((sum, each) => sum + each.length + 1, 0);
    }
    if (length + line.length > APPEND_MAX_LENGTH)
      throw new CommandError(
        EXIT.data,
        `A line is longer than ${APPEND_MAX_LENGTH.toLocaleString('en')} characters. Nothing was added.`,
      );
    lines.push(line);
    length += line.length + 1;
  }
  if (lines.length > 0) parts.push(lines.join('\n'));
  return parts;
}

type Place = { date?: string | undefined };

/** Writes the text to the queue's folder, where it survives a crash. */
export function enqueue(machine: Machine, queue: Queue, connection: Connection, text: string, { date }: Place): Item[] {
  const { server, account } = connection;
  const zone = zoneOf(machine);
  const where = date === undefined ? (zone === undefined ? {} : { time_zone: zone }) : { date };
  return splitText(text.toWellFormed()).map((part) => queue.add({ server, account, text: part, ...where }));
}

/** The error codes that reject the text or its day. After any other error the text stays in the queue. */
const REFUSALS = new Set(
  'invalid_text empty invalid_date unknown_time_zone future_day invalid_key locked_day too_long full key_reused'.split(
    ' ',
  ),
);

export const sendQueue = (machine: Machine, queue: Queue, connection: Connection): Promise<Map<string, Outcome>> =>
  queue.send(connection, async (item): Promise<Outcome> => {
    const { text, at, date, time_zone } = item;
    try {
      const { server, token } = connection;
      const body = date === undefined ? { text, at, time_zone } : { text, date };
      const answer = await post(machine, server, '/functions/v1/append-item', { body, token, key: item.key });
      const code = textOf(answer.body['code']);
      const appendedTo = answer.body['date'];
      if (answer.status === 200 && answer.body['success'] === true && isDay(appendedTo))
        return { is: 'appended', date: appendedTo };
      if (answer.status < 500 && REFUSALS.has(code)) return { is: 'refused', why: messageOf(answer) };
      throw refusalOf(answer, connection);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      // The text stays in the queue, so the exit code must not say that it was refused.
      const exitCode = error.exitCode === EXIT.data ? EXIT.unavailable : error.exitCode;
      return { is: 'later', why: error.message, exitCode };
    }
  });

/** `Saturday - November 28, 2026`. */
export const labelOf = (date: string): string => (isDay(date) ? dayLabel(date) : date);
