/** Serves the PayPal simulator over HTTP: the API, the payer's pages and the control endpoints. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Hono, type Context } from 'hono';
import { breakConnection, readApiRequest, serveApp, type HostEnv } from '../host.ts';
import type { PaypalBooks } from './books/books.ts';
import { controlRoutes } from './control.ts';
import { payerPages } from './payer-pages.ts';
import {
  createPaypalSimulator,
  SANDBOX_CLIENT,
  SANDBOX_WEBHOOK_ID,
  type PaypalSimulator,
  type SimulatorOptions,
} from './simulator.ts';
import type { Capture, Order } from './books/model.ts';

/** Environment variables that point the product at the simulator. */
export type PaypalSettings = Record<
  'PAYPAL_API_BASE' | 'PAYPAL_CLIENT_ID' | 'PAYPAL_CLIENT_SECRET' | 'PAYPAL_WEBHOOK_ID',
  string
>;

export type PaypalApp = {
  readonly simulator: PaypalSimulator;
  readonly app: Hono<HostEnv>;
  /** Returns the settings for the product, and sets the base URL of the links in the API's responses. */
  settingsAt(baseUrl: string): PaypalSettings;
  /** Drops all webhooks, cancels their timers and releases held requests. */
  close(): void;
};

/**
 * An app to mount into another server.
 *
 * @param options.stateFile persists the orders across restarts
 */
export function createPaypalApp({ stateFile, ...options }: SimulatorOptions & { stateFile?: string } = {}): PaypalApp {
  const simulator = createPaypalSimulator({ wait, ...options });

  const app = new Hono<HostEnv>();
  if (stateFile !== undefined) {
    restoreOrders(simulator.books, stateFile);
    app.use(async (context, next) => {
      await next();
      if (context.req.method !== 'GET') saveOrders(simulator.books, stateFile);
    });
  }
  const control = controlRoutes(simulator);
  app.route('/__simulator', control);
  app.route('/sandbox/__simulator', control);
  app.route('/', payerPages(simulator));
  for (const path of ['/v1/*', '/v2/*']) {
    app.all(path, (context) => answer(simulator, context));
  }
  return {
    simulator,
    app,
    settingsAt(baseUrl) {
      simulator.setAddresses({ baseUrl });
      return {
        PAYPAL_API_BASE: baseUrl,
        PAYPAL_CLIENT_ID: SANDBOX_CLIENT.id,
        PAYPAL_CLIENT_SECRET: SANDBOX_CLIENT.secret,
        PAYPAL_WEBHOOK_ID: SANDBOX_WEBHOOK_ID,
      };
    },
    close() {
      simulator.webhooks.clear();
      simulator.control.release();
    },
  };
}

function restoreOrders(books: PaypalBooks, file: string): void {
  try {
    books.restore(parseOrders(readFileSync(file, 'utf8')));
  } catch {
    // The file is missing or invalid: start without orders.
  }
}

/** Replaces the file atomically, so that a crash leaves either the old or the new content. */
function saveOrders(books: PaypalBooks, file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, serializeOrders(books.orders.values()));
  renameSync(`${file}.new`, file);
}

async function answer(simulator: PaypalSimulator, context: Context<HostEnv>): Promise<Response> {
  const answered = await simulator.answer(await readApiRequest(context));
  if (answered === null) return breakConnection(context);
  const { status, headers, body } = answered;
  return new Response(body === '' ? null : body, { status, headers });
}

export type PaypalServer = Pick<PaypalSimulator, 'books' | 'control' | 'webhooks'> & {
  readonly url: string;
  readonly settings: PaypalSettings;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. Webhooks are held until a test delivers them. */
export async function startPaypalServer(options: SimulatorOptions = {}): Promise<PaypalServer> {
  const { simulator, app, settingsAt, close } = createPaypalApp(options);
  const host = await serveApp(app);
  const { books, control, webhooks } = simulator;
  return {
    url: host.url,
    settings: settingsAt(host.url),
    books,
    control,
    webhooks,
    close() {
      close();
      return host.close();
    },
  };
}

function serializeOrders(orders: Iterable<Order>): string {
  const plain = Array.from(orders, (order) => ({ ...order, capture: order.capture && plainCapture(order.capture) }));
  return JSON.stringify(plain);
}

/** Drops the circular references from captures and refunds to their parents. */
const plainCapture = (capture: Capture): unknown => ({
  ...capture,
  order: undefined,
  refunds: capture.refunds.map((refund) => ({ ...refund, capture: undefined })),
});

/** Throws on invalid text. */
function parseOrders(text: string): Order[] {
  const orders = JSON.parse(text, (name, value: unknown) =>
    name.endsWith('At') && typeof value === 'string' ? new Date(value) : value,
  ) as Order[];
  for (const order of orders) {
    if (order.capture === null) continue;
    Object.assign(order.capture, { order });
    for (const refund of order.capture.refunds) Object.assign(refund, { capture: order.capture });
  }
  return orders;
}
