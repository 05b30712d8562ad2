/** The requests of the command line to the server, and the errors for answers that refuse. */
import type { FindAnswer } from '#domain/match-search.ts';
import { CommandError, EXIT, type Machine } from './program.ts';
import type { Connection } from './connection.ts';

export type Answer = {
  status: number;
  /** The fields of the JSON object in the answer. */
  body: Readonly<Record<string, unknown>>;
};

/** Threat: a malicious server fills the memory. A week of full days, the longest answer, has about 2 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** Short, because a Git commit waits if its hook runs `hustle add`. A text without an answer is sent later. */
const APPEND_TIMEOUT_MS = 10_000;

/** No usable answer: there is no connection, or a proxy, another program or another version of the server answers. */
export class NoAnswerError extends CommandError {
  override name = 'NoAnswerError';

  constructor(message: string) {
    super(EXIT.unavailable, message);
  }
}

type Request = { body: object; token?: string; key?: string };

/**
 * Threat: a redirect takes the token to another server. None is followed.
 * @throws NoAnswerError
 */
export async function post(
  machine: Pick<Machine, 'fetch'>,
  server: string,
  path: string,
  { body, token, key }: Request,
): Promise<Answer> {
  let response: Response;
  let text: string;
  const timeoutMs = key === undefined ? TIMEOUT_MS : APPEND_TIMEOUT_MS;
  try {
    response = await machine.fetch(`${server}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await readLimited(response);
  } catch (error) {
    if (error instanceof NoAnswerError) throw error;
    throw new NoAnswerError(`${server} does not answer (${reasonOf(error, timeoutMs)}).`);
  }
  if (response.status >= 300 && response.status < 400)
    throw new NoAnswerError(
      `${server} sends its callers to ${targetOf(response, server)}. Run "hustle login" with the new address.`,
    );
  const parsed = parseObject(text);
  if (parsed === null)
    throw new NoAnswerError(`${server} does not answer as a Hustle Forge server (${response.status}).`);
  return { status: response.status, body: parsed };
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no connection';
  if (error.name === 'TimeoutError') return `no answer in ${timeoutMs / 1_000} seconds`;
  const { cause } = error as { cause?: { code?: unknown; message?: unknown } };
  return textOf(cause?.code) || textOf(cause?.message) || error.message;
}

const targetOf = (response: Response, server: string): string => {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, server) ? new URL(location, server).origin : 'another address';
};

async function readLimited(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new NoAnswerError('The answer is too long for a Hustle Forge server.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The message of a refusal, from the fields of any of the server's APIs. */
export const messageOf = ({ status, body }: Answer): string =>
  textOf(body['error_description']) ||
  textOf(body['error']) ||
  textOf(body['msg']) ||
  `The server has refused (${status}).`;

/** The error of a refused request, for commands that cannot go on. */
export function refusalOf(
  answer: Answer,
  { server, isFromEnvironment }: Omit<Connection, 'token' | 'account'>,
): CommandError {
  const code = textOf(answer.body['code']);
  const next = isFromEnvironment
    ? 'Make a new one in Settings, and set HUSTLE_TOKEN to it.'
    : `Run "hustle login ${server}".`;
  if (code === 'TOKEN_INVALID') return new CommandError(EXIT.permission, `The token for ${server} has ended. ${next}`);
  if (code === 'TOKEN_SCOPE')
    return new CommandError(EXIT.permission, `The token for ${server} does not allow this. ${next}`);
  if (answer.status === 429 || answer.status >= 500) return new CommandError(EXIT.later, messageOf(answer));
  return new CommandError(EXIT.data, messageOf(answer));
}

/**
 * Returns an error with `EXIT.permission` if the token has ended, a NoAnswerError without a usable answer, or null.
 * The request adds nothing, because it has no text. The server checks the token first.
 */
export async function checkToken(machine: Machine, connection: Connection): Promise<CommandError | null> {
  const { server, token } = connection;
  try {
    const answer = await post(machine, server, '/functions/v1/append-item', { body: {}, token });
    return textOf(answer.body['code']) === 'TOKEN_INVALID' ? refusalOf(answer, connection) : null;
  } catch (error) {
    if (error instanceof NoAnswerError) return error;
    throw error;
  }
}

export type Days = { from: string; to: string; days: { date: string; markdown: string }[] };

/** Undefined for UTC, the usual zone of servers and containers. Without a zone, the API uses the account's zone. */
export const zoneOf = ({ timeZone }: Pick<Machine, 'timeZone'>): string | undefined =>
  /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich)$/.test(timeZone) ? undefined : timeZone;

type Period = { period: 'day' | 'week'; date?: string | undefined };

export async function readDays(machine: Machine, connection: Connection, { period, date }: Period): Promise<Days> {
  const { server, token } = connection;
  const body = { period, ...(date === undefined ? { time_zone: zoneOf(machine) } : { date }) };
  const answer = await post(machine, server, '/functions/v1/read-days', { body, token });
  if (answer.status !== 200) throw refusalOf(answer, connection);
  const { from, to, days } = answer.body as Days;
  if (typeof from !== 'string' || typeof to !== 'string' || !Array.isArray(days)) throw isOld(server);
  return { from, to, days: days.map((day) => ({ date: textOf(day?.date), markdown: textOf(day?.markdown) })) };
}

const isOld = (server: string) =>
  new NoAnswerError(`${server} answers in an unknown form. It may be older than this program.`);

export type Found = { results: { date: string; snippet: string }[]; isComplete: boolean };

export async function findEntries(machine: Machine, connection: Connection, query: string): Promise<Found> {
  const { server, token } = connection;
  const answer = await post(machine, server, '/functions/v1/find-entries', { body: { query }, token });
  if (answer.status !== 200) throw refusalOf(answer, connection);
  const { results, more, complete } = answer.body as Extract<FindAnswer, { success: true }>;
  if (!Array.isArray(results)) throw isOld(server);
  return {
    results: results.map((found) => ({
      date: textOf(found?.date),
      snippet: Array.isArray(found?.snippet) ? found.snippet.map((part) => textOf(part?.text)).join('') : '',
    })),
    isComplete: !more && complete,
  };
}
