/** PayPal's API: authentication, routing, idempotency and responses. */
import type { ApiRequest } from '../../host.ts';
import type { PaypalBooks } from '../books/books.ts';
import type { Ids } from '../books/model.ts';
import { errorBody, RefusedError } from '../books/issues.ts';
import * as write from '../books/response-bodies.ts';
import { readJson, readOrder, readRefund } from './read-order.ts';

const HOUR_MS = 60 * 60 * 1000;
const ORDER_IDEMPOTENCY_MS = 6 * HOUR_MS;
const REFUND_IDEMPOTENCY_MS = 45 * 24 * HOUR_MS;
const MAX_REQUEST_ID_LENGTH = 108;
const TOKEN_SECONDS = 32_400;

export type ApiAnswer = { status: number; headers: Record<string, string>; body: string };

export type Client = { readonly id: string; readonly secret: string };

type Deps = {
  books: PaypalBooks;
  ids: Ids;
  now: () => Date;
  addresses: () => write.Addresses;
  clients: readonly Client[];
  /** Implements verify-webhook-signature. `asked` is the body of its request. */
  verify: (asked: string) => boolean;
  /** The webhook subscription; null for another id. */
  webhook: (id: string) => object | null;
  /** Implements `webhooks-events/{id}/resend`. */
  resend: (eventId: string) => void;
};

/** A request with its authenticated client and the id in its path. */
type Call = { clientId: string; id: string; request: ApiRequest };

type Route = {
  method: string;
  path: RegExp;
  /** How long responses are cached by request id; 0 if the route ignores request ids. */
  rememberMs: number;
  run(call: Call): { status: number; body: unknown };
};

export class PaypalApi {
  readonly #deps: Deps;
  readonly #cache = new IdempotencyCache();
  readonly #tokens = new Map<string, { clientId: string; until: number }>();
  readonly #routes: readonly Route[];

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#routes = this.#makeRoutes();
  }

  /** Invalidates all tokens, as after a key rotation. */
  expireTokens(): void {
    this.#tokens.clear();
  }

  clear(): void {
    this.#tokens.clear();
    this.#cache.clear();
  }

  answer(request: ApiRequest): ApiAnswer {
    const debugId = this.#deps.ids.debug();
    const { status, body } = this.#answer(request, debugId);
    return { status, headers: { 'content-type': 'application/json', 'paypal-debug-id': debugId }, body };
  }

  #answer(request: ApiRequest, debugId: string): { status: number; body: string } {
    try {
      if (request.path === '/v1/oauth2/token' && request.method === 'POST') return this.#token(request);
      const clientId = this.#authenticate(request);
      if (clientId === null)
        return json(401, { error: 'invalid_token', error_description: 'Token signature verification failed' });
      this.#deps.books.expireOrders();
      return this.#route(request, clientId);
    } catch (error) {
      if (error instanceof RefusedError) return errorBody(error, debugId);
      throw error;
    }
  }

  #route(request: ApiRequest, clientId: string): { status: number; body: string } {
    for (const route of this.#routes) {
      if (route.method !== request.method) continue;
      const id = route.path.exec(request.path);
      if (id !== null) return this.#run(route, { request, clientId, id: id[1] ?? '' });
    }
    throw new RefusedError({ issue: 'INVALID_RESOURCE_ID', location: 'path', field: request.path });
  }

  #run(route: Route, call: Call): { status: number; body: string } {
    const { request, clientId } = call;
    const mocked = mockedIssue(request.headers['paypal-mock-response']);
    if (mocked !== null) throw new RefusedError({ issue: mocked });
    if (request.method === 'POST' && !/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      throw new RefusedError({ issue: 'INVALID_CONTENT_TYPE', field: 'Content-Type', location: 'header' });
    const requestId = request.headers['paypal-request-id'] ?? '';
    if (requestId.length > MAX_REQUEST_ID_LENGTH)
      throw new RefusedError({ issue: 'INVALID_STRING_LENGTH', field: 'PayPal-Request-Id', location: 'header' });
    const isIdempotent = requestId !== '' && route.rememberMs > 0;
    const key = `${clientId} ${request.path} ${requestId}`;
    const now = this.#deps.now().getTime();
    const cached = isIdempotent ? this.#cache.get(key, now) : null;
    if (cached !== null) return { status: 200, body: cached };
    const done = route.run(call);
    const body = JSON.stringify(done.body);
    if (isIdempotent) this.#cache.set(key, body, now + route.rememberMs);
    return { status: done.status, body };
  }

  #makeRoutes(): Route[] {
    const { books, addresses } = this.#deps;
    const orders = { rememberMs: ORDER_IDEMPOTENCY_MS };
    const reading = { method: 'GET', rememberMs: 0 };
    return [
      {
        ...orders,
        method: 'POST',
        path: /^\/v2\/checkout\/orders$/,
        run: ({ request, clientId }) => {
          const order = books.create(this.#readOrder(request, clientId));
          return {
            status: 201,
            body: full(request) ? write.orderBody(order, addresses()) : write.minimalOrder(order, addresses()),
          };
        },
      },
      {
        ...reading,
        path: /^\/v2\/checkout\/orders\/([^/]+)$/,
        run: ({ id, clientId }) => ({ status: 200, body: write.orderBody(books.order(id, clientId), addresses()) }),
      },
      {
        ...orders,
        method: 'POST',
        path: /^\/v2\/checkout\/orders\/([^/]+)\/capture$/,
        run: ({ id, clientId, request }) => {
          readJson(request.body, { mayBeEmpty: true });
          return { status: 201, body: write.orderBody(books.captureOrder(id, clientId), addresses()) };
        },
      },
      {
        ...reading,
        path: /^\/v2\/payments\/captures\/([^/]+)$/,
        run: ({ id, clientId }) => ({ status: 200, body: write.captureBody(books.capture(id, clientId), addresses()) }),
      },
      {
        method: 'POST',
        rememberMs: REFUND_IDEMPOTENCY_MS,
        path: /^\/v2\/payments\/captures\/([^/]+)\/refund$/,
        run: ({ id, clientId, request }) => {
          const asked = readRefund(readJson(request.body, { mayBeEmpty: true }));
          const refund = books.refundCapture(id, { clientId, ...asked });
          return { status: 201, body: write.refundBody(refund, addresses()) };
        },
      },
      {
        ...reading,
        path: /^\/v2\/payments\/refunds\/([^/]+)$/,
        run: ({ id, clientId }) => ({ status: 200, body: write.refundBody(books.refund(id, clientId), addresses()) }),
      },
      {
        method: 'POST',
        rememberMs: 0,
        path: /^\/v1\/notifications\/verify-webhook-signature$/,
        run: ({ request }) => {
          readJson(request.body);
          return {
            status: 200,
            body: { verification_status: this.#deps.verify(request.body) ? 'SUCCESS' : 'FAILURE' },
          };
        },
      },
      {
        ...reading,
        path: /^\/v1\/notifications\/webhooks-events$/,
        run: ({ request }) => ({ status: 200, body: this.#events(new URLSearchParams(request.query)) }),
      },
      {
        ...reading,
        path: /^\/v1\/notifications\/webhooks-events\/([^/]+)$/,
        run: ({ id }) => ({ status: 200, body: JSON.parse(this.#event(id)) as unknown }),
      },
      {
        ...reading,
        path: /^\/v1\/notifications\/webhooks\/([^/]+)$/,
        run: ({ id }) => {
          const body = this.#deps.webhook(id);
          if (body === null)
            throw new RefusedError({ issue: 'INVALID_RESOURCE_ID', field: 'webhook_id', location: 'path' });
          return { status: 200, body };
        },
      },
      {
        method: 'POST',
        rememberMs: 0,
        path: /^\/v1\/notifications\/webhooks-events\/([^/]+)\/resend$/,
        run: ({ id }) => {
          const body = JSON.parse(this.#event(id)) as unknown;
          this.#deps.resend(id);
          return { status: 202, body };
        },
      },
    ];
  }

  #readOrder(request: ApiRequest, clientId: string): ReturnType<typeof readOrder> {
    const body = readJson(request.body);
    if (body['payment_source'] !== undefined && !request.headers['paypal-request-id'])
      throw new RefusedError({ issue: 'PAYPAL_REQUEST_ID_REQUIRED', field: 'PayPal-Request-Id', location: 'header' });
    return readOrder(body, clientId);
  }

  #event(id: string): string {
    const event = this.#deps.books.events.find((candidate) => candidate.id === id);
    if (!event)
      throw new RefusedError({ issue: 'INVALID_RESOURCE_ID', field: 'event_id', value: id, location: 'path' });
    return event.body;
  }

  /** Newest first, filtered by `start_time`, `end_time`, `event_type` and `page_size`. */
  #events(query: URLSearchParams): unknown {
    const from = Date.parse(query.get('start_time') ?? '') || 0;
    const until = Date.parse(query.get('end_time') ?? '') || Number.MAX_SAFE_INTEGER;
    const type = query.get('event_type');
    const events = this.#deps.books.events.filter(
      (event) => event.at.getTime() >= from && event.at.getTime() <= until && (type === null || event.type === type),
    );
    const page = events.toReversed().slice(0, Number(query.get('page_size') ?? 10));
    return { events: page.map((event) => JSON.parse(event.body) as unknown), count: events.length, links: [] };
  }

  #token(request: ApiRequest): { status: number; body: string } {
    const [, encoded = ''] = /^Basic (.+)$/i.exec(request.headers['authorization'] ?? '') ?? [];
    const given = Buffer.from(encoded, 'base64').toString('utf8');
    const client = this.#deps.clients.find(({ id, secret }) => given === `${id}:${secret}`);
    if (!client) return json(401, { error: 'invalid_client', error_description: 'Client Authentication failed' });
    if (new URLSearchParams(request.body).get('grant_type') !== 'client_credentials')
      return json(400, { error: 'unsupported_grant_type', error_description: 'Grant Type is NULL' });
    const token = this.#deps.ids.token();
    const until = this.#deps.now().getTime() + TOKEN_SECONDS * 1000;
    this.#tokens.set(token, { clientId: client.id, until });
    return json(200, {
      scope: 'https://uri.paypal.com/services/payments/payment https://uri.paypal.com/services/payments/refund',
      access_token: token,
      token_type: 'Bearer',
      app_id: 'APP-SANDBOX',
      expires_in: TOKEN_SECONDS,
      nonce: `${this.#deps.now().toISOString()}${this.#deps.ids.payer()}`,
    });
  }

  #authenticate(request: ApiRequest): string | null {
    const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers['authorization'] ?? '') ?? [];
    const session = this.#tokens.get(token);
    return session && this.#deps.now().getTime() < session.until ? session.clientId : null;
  }
}

const json = (status: number, body: unknown): { status: number; body: string } => ({
  status,
  body: JSON.stringify(body),
});

const full = ({ headers }: ApiRequest): boolean => /\breturn=representation\b/.test(headers['prefer'] ?? '');

/** PayPal's header for forcing an error in its sandbox: `{"mock_application_codes":"INSTRUMENT_DECLINED"}`. */
function mockedIssue(header: string | undefined): string | null {
  if (header === undefined) return null;
  try {
    const { mock_application_codes: codes } = JSON.parse(header) as { mock_application_codes?: unknown };
    const [code] = Array.isArray(codes) ? (codes as unknown[]) : [codes];
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

type CachedResponse = { readonly body: string; readonly until: number };

/**
 * Caches response bodies by client, path and `PayPal-Request-Id`: a repeated id returns the first body until it
 * expires. Rejected requests are not cached, so a client can retry them with the same id.
 */
class IdempotencyCache {
  readonly #responses = new Map<string, CachedResponse>();

  get(key: string, now: number): string | null {
    const found = this.#responses.get(key);
    if (found === undefined) return null;
    if (now < found.until) return found.body;
    this.#responses.delete(key);
    return null;
  }

  set(key: string, body: string, until: number): void {
    this.#responses.set(key, { body, until });
  }

  clear(): void {
    this.#responses.clear();
  }
}
