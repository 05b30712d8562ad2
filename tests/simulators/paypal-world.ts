/** A client of PayPal's API as plain as can be, so that the simulator is tested and not the product's own client. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startPaypalServer } from '../../simulators/paypal/server.ts';
import type { PaypalServer } from '../../simulators/paypal/server.ts';

export type Answered = { status: number; headers: Headers; text: string; body: Json };
// oxlint-disable-next-line typescript/no-explicit-any -- the tests look at answers of many shapes
export type Json = any;

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;
export const PUBLIC_URL = 'http://journal.test';
const RETURN_URL = 'http://journal.test/journal?payment=success';
const CANCEL_URL = 'http://journal.test/journal?payment=cancelled';

export const USD = (value: string): { currency_code: string; value: string } => ({ currency_code: 'USD', value });

export const orderOf = (unit: Json = {}, context: Json = {}): Json => ({
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

  async signIn(id = 'sandbox-client', secret = 'sandbox-secret'): Promise<Answered> {
    const answer = await this.send('POST', '/v1/oauth2/token', {
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    });
    this.token = answer.body?.access_token ?? '';
    return answer;
  }

  async send(method: string, path: string, { body, id, headers, token = this.token }: Sent = {}): Promise<Answered> {
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
    return { status: answer.status, headers: answer.headers, text, body: parsed(text) };
  }

  get = (path: string): Promise<Answered> => this.send('GET', path);

  /** With a request id of its own, unless the test gives one. */
  create = (body: Json = orderOf(), sent: Sent = {}): Promise<Answered> =>
    this.send('POST', '/v2/checkout/orders', { body, id: this.#next(), ...sent });

  capture = (orderId: string, sent: Sent = {}): Promise<Answered> =>
    this.send('POST', `/v2/checkout/orders/${orderId}/capture`, { id: this.#next(), ...sent });

  refund = (captureId: string, body: Json = {}, sent: Sent = {}): Promise<Answered> =>
    this.send('POST', `/v2/payments/captures/${captureId}/refund`, { body, id: this.#next(), ...sent });

  /** The simulator's own commands. */
  command = (path: string, body: Json = {}): Promise<Answered> => this.send('POST', `/__simulator${path}`, { body });

  async newOrder(unit: Json = {}, context: Json = {}): Promise<string> {
    return (await this.create(orderOf(unit, context))).body.id as string;
  }

  async approved(way = 'approve', unit: Json = {}): Promise<string> {
    const id = await this.newOrder(unit);
    await this.command(`/orders/${id}/${way}`);
    return id;
  }

  /** The id of a capture that is paid, or pending. */
  async captured(way = 'approve', unit: Json = {}): Promise<string> {
    const { body } = await this.capture(await this.approved(way, unit));
    return body.purchase_units[0].payments.captures[0].id as string;
  }

  #next = (): string => `request-${(this.#requests += 1)}`;
}

/** The shape of a refusal, and nothing of its words. */
export const refusal = ({ status, body }: Answered): (string | number)[] => [
  status,
  body.name,
  ...body.details.map((d: Json) => d.issue),
];

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** One simulator for a test file, empty before each test; time stands still until a test moves it. */
export function paypalWorld(): () => Client {
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
