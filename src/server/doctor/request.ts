/** An HTTP request of a check. A failure is a value with its reason in words. */
import { parseJson, readResponseText } from '#server/parse-json.ts';
import { reasonOf } from './check.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;

export type Reply = {
  /** 0: no answer, and `problem` says why. */
  status: number;
  problem: string;
  headers: Headers;
  text: string;
  json: unknown;
};

type Options = {
  signal: AbortSignal;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | URLSearchParams;
};

/** Follows no redirect, because credentials would follow too. Never rejects. */
export async function sendRequest(url: string, { signal, ...init }: Options): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const text = await readResponseText(response, MAX_ANSWER_BYTES);
    return { status: response.status, problem: '', headers: response.headers, text, json: parseJson(text) };
  } catch (error) {
    return { status: 0, problem: describeFailure(error).problem, headers: new Headers(), text: '', json: undefined };
  }
}

/** Failures in words, by the error code of the system, OpenSSL or undici. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name does not resolve in DNS',
  EAI_AGAIN: 'DNS does not answer',
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_SOCKET: 'it closed the connection',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet, or the clock of this machine is slow',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate was issued by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it does not send the intermediate certificate of its authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'it does not send the intermediate certificate of its authority',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  EPROTO: 'it does not speak TLS',
};

export function describeFailure(error: unknown): { problem: string; code: string } {
  const code = codeOf(error);
  return { problem: PROBLEMS[code] ?? (code === '' ? reasonOf(error) : code), code };
}

/** Libraries replace the code of the system by their own, and keep it in the message, `originalCode` or `cause`. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (own in PROBLEMS) return own;
  if ('originalCode' in error && typeof error.originalCode === 'string' && error.originalCode in PROBLEMS)
    return error.originalCode;
  const quoted = Object.keys(PROBLEMS).find((code) => error.message.includes(code));
  if (quoted !== undefined) return quoted;
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  return codeOf(inner) || own;
}
