/**
 * Simulates Twilio's API: creating a message, reading the account, their errors, and faults on demand. Uses no network;
 * `server.ts` adds HTTP.
 */
import { randomBytes } from 'node:crypto';
import type { ApiRequest } from '../host.ts';
import { FaultQueue, HeldRequests } from '../faults.ts';

export const SANDBOX_ACCOUNT = {
  sid: `AC${'0'.repeat(24)}5a4db0c5`,
  authToken: 'sandbox-auth-token',
  from: '+15005550006',
} as const;

const ACCOUNT_PATH = /^\/2010-04-01\/Accounts\/([^/]+)\.json$/;
const MESSAGES_PATH = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages\.json$/;
/** Twilio's limit, error 21617. */
const MAX_BODY_CHARS = 1_600;
const MAX_KEPT_MESSAGES = 500;

/** The JSON format that docs/specification/sandbox-and-running.md 2 specifies for scripts and tests. */
export type ReceivedSms = {
  to: string;
  text: string;
  /** The first group of exactly six digits in the text; null without one. */
  code: string | null;
  /** Time of arrival, ISO 8601. */
  at: string;
};

/** Each queued fault affects the next `times` (default 1) matching requests. */
export type SmsFault = {
  /** A regular expression for the path. Default: any path. */
  path?: string;
  times?: number;
  /** Answers with this error of the API. */
  code?: ErrorCode;
  /** Answers with this status and the HTML page of a gateway. */
  status?: number;
  /** Closes the connection: before the message is accepted, or after it without an answer. */
  drop?: 'before' | 'after';
  /** Holds the request until `release`, before the message is accepted. */
  hold?: boolean;
  /** Redirects the client to this address. */
  redirectTo?: string;
};

export type SmsAnswer = { status: number; headers: Record<string, string>; body: string };

export type SmsControl = {
  /** Newest first; only those to one number if it is given, in any spelling. */
  messages(to?: string): ReceivedSms[];
  clear(): void;
  /** Queues a fault. */
  fail(fault: SmsFault): void;
  /** Releases the held requests and returns their number. */
  release(): number;
  /** Resolves once `count` requests are held. */
  whenHeld(count?: number): Promise<void>;
};

export type SmsSimulator = {
  readonly control: SmsControl;
  /** Returns null for a dropped connection. */
  answer(request: ApiRequest): Promise<SmsAnswer | null>;
};

export function createSmsSimulator({ now = () => new Date() }: { now?: () => Date } = {}): SmsSimulator {
  const messages: ReceivedSms[] = [];
  const faults = new FaultQueue<SmsFault>();
  const held = new HeldRequests();

  function accept(form: URLSearchParams): SmsAnswer {
    const [to, text] = [form.get('To') ?? '', form.get('Body') ?? ''];
    const at = now();
    messages.unshift({ to, text, code: /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0] ?? null, at: at.toISOString() });
    messages.length = Math.min(messages.length, MAX_KEPT_MESSAGES);
    return json(201, messageJson(form, at));
  }

  return {
    control: {
      messages: (to) => (to === undefined ? [...messages] : messages.filter((sms) => sms.to === normalizeNumber(to))),
      clear: () => void messages.splice(0),
      fail: (fault) => faults.add(fault),
      release: () => held.release(),
      whenHeld: (count) => held.whenHeld(count),
    },
    async answer(request) {
      const fault = faults.take(request);
      if (fault?.hold) await held.hold();
      if (fault?.drop === 'before') return null;
      if (fault?.redirectTo !== undefined) return { status: 307, headers: { Location: fault.redirectTo }, body: '' };
      if (fault?.status !== undefined)
        return { status: fault.status, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
      const account = ACCOUNT_PATH.exec(request.path)?.[1];
      if (request.method === 'GET' && account !== undefined && fault?.code === undefined)
        return readAccount(request, account);
      const form = new URLSearchParams(request.body);
      const code = fault?.code ?? findError(request, form);
      if (code !== null) {
        const error = apiError(code, request.path, form);
        return json(error.status, error);
      }
      const accepted = accept(form);
      return fault?.drop === 'after' ? null : accepted;
    },
  };
}

const isAuthorized = ({ headers }: ApiRequest): boolean =>
  headers['authorization'] ===
  `Basic ${Buffer.from(`${SANDBOX_ACCOUNT.sid}:${SANDBOX_ACCOUNT.authToken}`).toString('base64')}`;

function readAccount(request: ApiRequest, account: string): SmsAnswer {
  const code = isAuthorized(request) ? 20404 : 20003;
  if (code === 20404 && account === SANDBOX_ACCOUNT.sid) {
    return json(200, { sid: account, friendly_name: 'Sandbox', status: 'active', type: 'Full' });
  }
  const error = apiError(code, request.path, new URLSearchParams());
  return json(error.status, error);
}

/** In the order of the real API: credentials, account, fields, numbers. */
function findError(request: ApiRequest, form: URLSearchParams): ErrorCode | null {
  const { method, path } = request;
  const account = MESSAGES_PATH.exec(path)?.[1];
  if (!isAuthorized(request)) return 20003;
  if (account !== SANDBOX_ACCOUNT.sid || method !== 'POST') return 20404;
  const [to, from, text] = ['To', 'From', 'Body'].map((name) => form.get(name) ?? '') as [string, string, string];
  if (to === '') return 21604;
  if (from === '' && !/^MG[0-9a-f]{32}$/.test(form.get('MessagingServiceSid') ?? '')) return 21603;
  if (text === '') return 21602;
  if (text.length > MAX_BODY_CHARS) return 21617;
  if (!/^\+[1-9]\d{6,14}$/.test(to)) return 21211;
  if (from !== '' && from !== SANDBOX_ACCOUNT.from) return 21606;
  return UNROUTABLE_NUMBERS[to] ?? null;
}

/** The fields of a created message, as the API documents them. */
function messageJson(form: URLSearchParams, at: Date) {
  const sid = `SM${randomBytes(16).toString('hex')}`;
  const text = form.get('Body') ?? '';
  const uri = `/2010-04-01/Accounts/${SANDBOX_ACCOUNT.sid}/Messages/${sid}`;
  const date = at.toUTCString().replace('GMT', '+0000');
  return {
    account_sid: SANDBOX_ACCOUNT.sid,
    api_version: '2010-04-01',
    body: text,
    date_created: date,
    date_sent: null,
    date_updated: date,
    direction: 'outbound-api',
    error_code: null,
    error_message: null,
    from: form.get('From'),
    messaging_service_sid: form.get('MessagingServiceSid'),
    num_media: '0',
    num_segments: String(countSegments(text)),
    price: null,
    price_unit: 'USD',
    sid,
    status: 'queued',
    subresource_uris: { media: `${uri}/Media.json` },
    to: form.get('To'),
    uri: `${uri}.json`,
  };
}

/** Simplified: text in ASCII counts as GSM-7, any other as UCS-2. A longer text loses a header in each segment. */
function countSegments(text: string): number {
  const isAscii = /^[\n\r\x20-\x7e]*$/.test(text);
  const [single, part] = isAscii ? [160, 153] : [70, 67];
  return text.length <= single ? 1 : Math.ceil(text.length / part);
}

/** In a query string `+` stands for a space, so a number may arrive without it. */
const normalizeNumber = (number: string): string => `+${number.replace(/\D/g, '')}`;

const json = (status: number, value: unknown): SmsAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});

/** The errors of Twilio's API that the simulator gives (https://www.twilio.com/docs/api/errors). */
const ERRORS = {
  20003: [401, () => 'Authenticate'],
  20404: [404, ({ path }) => `The requested resource ${path} was not found`],
  20429: [429, () => 'Too Many Requests'],
  21211: [400, ({ to }) => `Invalid 'To' Phone Number: ${to}`],
  21408: [
    400,
    ({ to }) => `Permission to send an SMS has not been enabled for the region indicated by the 'To' number: ${to}`,
  ],
  21602: [400, () => 'Message body is required.'],
  21603: [400, () => "A 'From' phone number is required."],
  21604: [400, () => "A 'To' phone number is required."],
  21606: [400, ({ from }) => `The 'From' phone number ${from} is not a valid, SMS-capable inbound phone number`],
  21610: [400, () => 'Attempt to send to unsubscribed recipient'],
  21614: [400, ({ to }) => `'To' number: ${to}, is not a mobile number`],
  21617: [400, () => 'The concatenated message body exceeds the 1600 character limit'],
} as const satisfies Record<number, [number, (request: Details) => string]>;

type Details = { path: string; to: string; from: string };

export type ErrorCode = keyof typeof ERRORS;

/** Twilio's own test numbers, each with its error. */
const UNROUTABLE_NUMBERS: Readonly<Record<string, ErrorCode>> = {
  '+15005550001': 21211,
  '+15005550003': 21408,
  '+15005550004': 21610,
  '+15005550009': 21614,
};

function apiError(code: ErrorCode, path: string, form: URLSearchParams) {
  const [status, message] = ERRORS[code];
  const details: Details = { path, to: form.get('To') ?? '', from: form.get('From') ?? '' };
  return { code, message: message(details), more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}
