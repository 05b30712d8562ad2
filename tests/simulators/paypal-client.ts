/** A minimal client of PayPal's API, independent of the product's client. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startPaypalServer, type PaypalServer } from '../../simulators/paypal/server.ts';

export type ApiResponse = { status: number; headers: Headers; text: string; body: Json };
// oxlint-disable-next-line typescript/no-explicit-any -- the tests read responses of many types
export type Json = any;

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;
export const PUBLIC_URL = 'http://journal.test';
const RETURN_URL = 'http://journal.test/journal?payment=success';
const CANCEL_URL = 'http://journal.test/journal?payment=cancelled';

export const USD = (value: string): { currency_code: string; value: string } => ({ currency_code: 'USD', value });

export const createOrderBody = (unit: Json = {}, context: Json = {}): Json => ({
  intent: 'CAPTURE',
  purchase_units: [{ amount: USD('24.00'), custom_id: 'payment-1', ...unit }],
  payment_source: {
    paypal: {
      experience_context: { return_url: RETURN_URL, cancel_url: CANCEL_URL, brand_name: 'Hustle Forge', ...context },
    },
  },
});

export type Sent = { body?: Json; id?: string; headers?: Record<string, string>; token?: string; path?: string };

export class Client {
  readonly server: PaypalServer;
  token = '';
  #requests = 0;

  constructor(server: PaypalServer) {
    this.server = server;
  }

  async signIn(id = 'sandbox-client', secret = 'sandbox-secret'): Promise<ApiResponse> {
    const answer = await this.send('POST', '/v1/oauth2/token', {
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    });
    this.token = answer.body?.access_token ?? '';
    return answer;
  }

  async send(method: string, path: string, { body, id, headers, token = this.token }: Sent = {}): Promise<ApiResponse> {
    const form = body instanceof URLSearchParams;
    const answer = await fetch(this.server.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(!form && { 'Content-Type': 'application/json' }),
        ...(id !== undefined && { 'PayPal-Request-Id': id }),
        ...headers,
      },
      ...(method !== 'GET' && { body: form || typeof body === 'string' ? body : JSON.stringify(body ?? {}) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parseBody(text) };
  }

  get = (path: string): Promise<ApiResponse> => this.send('GET', path);

  /** Uses a new request id by default. */
  create = (body: Json = createOrderBody(), sent: Sent = {}): Promise<ApiResponse> =>
    this.send('POST', '/v2/checkout/orders', { body, id: this.#next(), ...sent });

  capture = (orderId: string, sent: Sent = {}): Promise<ApiResponse> =>
    this.send('POST', `/v2/checkout/orders/${orderId}/capture`, { id: this.#next(), ...sent });

  refund = (captureId: string, body: Json = {}, sent: Sent = {}): Promise<ApiResponse> =>
    this.send('POST', `/v2/payments/captures/${captureId}/refund`, { body, id: this.#next(), ...sent });

  /** Calls a control endpoint of the simulator. */
  command = (path: string, body: Json = {}): Promise<ApiResponse> => this.send('POST', `/__simulator${path}`, { body });

  async newOrder(unit: Json = {}, context: Json = {}): Promise<string> {
    return (await this.create(createOrderBody(unit, context))).body.id as string;
  }

  async approved(way = 'approve', unit: Json = {}): Promise<string> {
    const id = await this.newOrder(unit);
    await this.command(`/orders/${id}/${way}`);
    return id;
  }

  /** Returns the id of a new capture. */
  async captured(way = 'approve', unit: Json = {}): Promise<string> {
    const { body } = await this.capture(await this.approved(way, unit));
    return body.purchase_units[0].payments.captures[0].id as string;
  }

  #next = (): string => `request-${(this.#requests += 1)}`;
}

/** Returns the status, name and issues of an error response, without its messages. */
export const refusal = ({ status, body }: ApiResponse): (string | number)[] => [
  status,
  body.name,
  ...body.details.map((d: Json) => d.issue),
];

const parseBody = (text: string): Json => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Starts one simulator per test file and resets it before each test. The clock only moves on command. */
export function usePaypalClient(): () => Client {
  let server: PaypalServer;
  let client: Client;
  beforeAll(async () => {
    const start = new Date();
    server = await startPaypalServer({ clock: { now: () => start }, publicUrl: PUBLIC_URL });
  });
  beforeEach(async () => {
    server.control.reset();
    client = new Client(server);
    await client.signIn();
  });
  afterAll(() => server.close());
  return () => client;
}
