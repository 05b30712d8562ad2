/** A check of the installation: its findings, its time limit, and a run of all checks at once. */
import { parseJson, readResponseText } from '#server/parse-json.ts';

/**
 * `off`: there is nothing to check, because the settings do not use it or something that the check needs is missing.
 */
export type Status = 'ok' | 'off' | 'warning' | 'fault';

export type Finding = {
  status: Status;
  /** The fact, or the exact fault, in one line. */
  text: string;
  /** How to fix it, in one or two lines. */
  fix?: string;
};

export type Check = {
  /** One word, such as `mail`. */
  name: string;
  timeoutMs?: number;
  /** Throws only for a fault that it did not expect. The signal aborts at the time limit. */
  run(signal: AbortSignal): Promise<Finding[]>;
};

export type Result = { name: string; findings: Finding[] };

const TIMEOUT_MS = 10_000;

export const ok = (text: string): Finding => ({ status: 'ok', text });
export const off = (text: string): Finding => ({ status: 'off', text });
export const warning = (text: string, fix: string): Finding => ({ status: 'warning', text, fix });
export const fault = (text: string, fix: string): Finding => ({ status: 'fault', text, fix });

/** Runs all checks concurrently. A check that throws or takes too long counts as a fault and stops no other. */
export function runChecks(checks: readonly Check[]): Promise<Result[]> {
  return Promise.all(checks.map(async (check) => ({ name: check.name, findings: await runCheck(check) })));
}

async function runCheck({ name, timeoutMs = TIMEOUT_MS, run }: Check): Promise<Finding[]> {
  const timer = new AbortController();
  const late = Promise.withResolvers<Finding[]>();
  const timeout = setTimeout(() => {
    timer.abort();
    late.resolve([
      fault(
        `no answer within ${timeoutMs / 1000} s`,
        `Something between this machine and what "${name}" checks swallows the packets: check firewall and address.`,
      ),
    ]);
  }, timeoutMs);
  try {
    return await Promise.race([run(timer.signal), late.promise]);
  } catch (error) {
    return [fault(reasonOf(error), 'This fault was not expected: the text above is all that is known.')];
  } finally {
    clearTimeout(timeout);
    timer.abort();
  }
}

export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // A connection that failed on every address has its reasons in `errors`, and no message.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return error.message || (first === undefined ? error.name : reasonOf(first));
};

const RANKS: readonly Status[] = ['off', 'ok', 'warning', 'fault'];

export const worstOf = (findings: readonly Finding[]): Status =>
  findings.reduce<Status>(
    (worst, { status }) => (RANKS.indexOf(status) > RANKS.indexOf(worst) ? status : worst),
    'off',
  );

/** A code of an authenticator app is accepted up to 30 seconds early or late: larger offsets reject more and more codes. */
const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 25_000;

/** @param errorMs how far the measured offset may be from the real one */
export function describeOffset(whose: string, offsetMs: number, errorMs: number): Finding {
  const sureMs = Math.max(0, Math.abs(offsetMs) - errorMs);
  const seconds = `${(Math.abs(offsetMs) / 1000).toFixed(1)} s`;
  const text = `the clock of ${whose} is ${seconds} ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine`;
  const fix = 'Run a time service (chrony or systemd-timesyncd) on both machines.';
  if (sureMs > CLOCK_FAULT_MS) {
    return fault(
      `${text}: from 30 s on, codes of authenticator apps can be refused, and tokens seem expired or not yet valid`,
      fix,
    );
  }
  if (sureMs > CLOCK_WARNING_MS)
    return warning(`${text}; from 30 s on, codes of authenticator apps can be refused`, fix);
  return ok(`the clock of ${whose} agrees with this machine`);
}

/** The longest answer that `sendRequest` reads. */
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
