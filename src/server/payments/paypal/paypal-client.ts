/**
 * The client of PayPal's REST API (Orders v2, Payments v2). docs/decisions/0010 says why no library is used.
 *
 * Only idempotent calls are retried: reads, verifications of webhooks, and writes with the same `PayPal-Request-Id`,
 * which PayPal answers with the first result. No retry starts later than 25 seconds after the call, or 10 for a token.
 * When PayPal rejects the access token (401), one more try with a new token may start later.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import { isLoopback } from '#server/config/private-network.ts';
import {
  createAccessToken,
  failureOf,
  isSuccess,
  malformedAnswerError,
  sendRequest,
  type Answer,
} from './http-request.ts';
import { toAmountText, parseCapture, parseOrder, parseRefund, linkOf, textAt } from './parse.ts';
import { PaypalError, type Paypal } from './paypal.ts';
import type { PaypalSettings } from '../../config/provider-settings.ts';

const CALL_MAX_MS = 25_000;
const TOKEN_MAX_MS = 10_000;
const TRY_MAX_MS = 10_000;
const MAX_TRIES = 3;
/** Every try gets at least this long. */
const MIN_TRY_MS = 2000;
const FIRST_WAIT_MS = 300;
/** PayPal rejects our credentials: an immediate retry is pointless. */
const CREDENTIAL_ERRORS = new Set([401, 403]);

export type PaypalDeps = {
  config: PaypalSettings;
  log: Pick<Logger, 'info' | 'warn'>;
  clock: Clock;
  fetch?: typeof fetch;
  tryMaxMs?: number;
  /** Waits for the backoff between two tries. */
  pause?: (ms: number) => Promise<unknown>;
};

/** The headers of a webhook, for PayPal to verify. */
export type WebhookTransmission = {
  readonly id: string;
  readonly time: string;
  readonly signature: string;
  readonly certUrl: string;
  readonly algorithm: string;
};

type PaypalClient = Paypal & {
  /** Whether PayPal confirms that it sent this body. */
  verifyWebhook(transmission: WebhookTransmission, body: string): Promise<boolean>;
};

type Call = {
  /** The call's name in the server's log, without ids. */
  readonly what: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly requestId?: string;
  readonly body?: string;
};

export function createPaypal(deps: PaypalDeps): PaypalClient {
  const { config, log, clock, tryMaxMs = TRY_MAX_MS, pause = wait } = deps;
  const fetchUrl = deps.fetch ?? fetch;

  const accessToken = createAccessToken({
    clock,
    refuse: (answer) => malformedAnswerError(answer, 'GET'),
    fetchToken: () =>
      // Fetching a token is idempotent, so it counts as a read.
      withRetries({ what: 'token', method: 'GET' }, performance.now() + TOKEN_MAX_MS, (timeoutMs) =>
        sendRequest(
          {
            url: `${config.apiBase}/v1/oauth2/token`,
            method: 'POST',
            headers: {
              Authorization: `Basic ${Buffer.from(`${config.clientId}:${config.clientSecret.reveal()}`).toString('base64')}`,
              'Content-Type': 'application/x-www-form-urlencoded',
            },
            body: 'grant_type=client_credentials',
            timeoutMs,
          },
          fetchUrl,
        ),
      ),
  });

  /** Retries with backoff. Rejects with the last failure. */
  async function withRetries(
    { what, method }: Pick<Call, 'what' | 'method'>,
    endsAt: number,
    attempt: (timeoutMs: number) => Promise<Answer>,
    lostBefore = false,
  ): Promise<Answer> {
    const leftMs = (): number => endsAt - performance.now();
    let lost = lostBefore;
    for (let tried = 1; ; tried += 1) {
      const answer = await attempt(Math.min(tryMaxMs, Math.max(Math.ceil(leftMs()), MIN_TRY_MS)));
      const { status, debugId } = answer;
      if (isSuccess(answer)) {
        log.info({ paypal: what, status, debugId }, 'asked PayPal');
        return answer;
      }
      const failure = failureOf(answer, method, lost);
      const { name, issue, retryable, outcomeUnknown } = failure;
      log.warn({ paypal: what, status, debugId: failure.debugId, name, issue }, 'asked PayPal');
      lost = outcomeUnknown;
      const waitMs = failure.retryAfterMs ?? FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2);
      if (!retryable || CREDENTIAL_ERRORS.has(status) || tried === MAX_TRIES || waitMs > leftMs()) throw failure;
      await pause(waitMs);
    }
  }

  async function call(request: Call): Promise<Answer> {
    const { method, path, requestId, body = '{}' } = request;
    const url = config.apiBase + path;
    const endsAt = performance.now() + CALL_MAX_MS;
    const sendWithToken = (token: string, lostBefore: boolean): Promise<Answer> => {
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(method === 'POST' && { 'Content-Type': 'application/json', Prefer: 'return=representation' }),
        ...(requestId !== undefined && { 'PayPal-Request-Id': requestId }),
      };
      const sent = { url, method, headers, ...(method === 'POST' && { body }) };
      return withRetries(request, endsAt, (timeoutMs) => sendRequest({ ...sent, timeoutMs }, fetchUrl), lostBefore);
    };
    const token = await accessToken.get();
    try {
      return await sendWithToken(token, false);
    } catch (error) {
      if (!(error instanceof PaypalError) || error.status !== 401) throw error;
      accessToken.drop(token);
      return sendWithToken(await accessToken.get(), error.outcomeUnknown);
    }
  }

  async function read<T>(request: Call, parse: (json: unknown) => T | null): Promise<T> {
    const answer = await call(request);
    const parsed = parse(answer.json);
    if (parsed === null) throw malformedAnswerError(answer, request.method);
    return parsed;
  }

  return {
    async createOrder({ paymentId, amountMinor, currency, returnUrl, cancelUrl }) {
      const answer = await call({
        what: 'create order',
        method: 'POST',
        path: '/v2/checkout/orders',
        requestId: `order-${paymentId}`,
        body: JSON.stringify({
          intent: 'CAPTURE',
          purchase_units: [
            {
              amount: { currency_code: currency, value: toAmountText(amountMinor) },
              custom_id: paymentId,
              // PayPal rejects a second payment of one invoice, whatever else goes wrong on our side.
              invoice_id: paymentId,
              description: 'Closer, one year',
            },
          ],
          payment_source: {
            paypal: {
              experience_context: {
                brand_name: 'Hustle Forge',
                shipping_preference: 'NO_SHIPPING',
                user_action: 'PAY_NOW',
                payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED',
                return_url: returnUrl,
                cancel_url: cancelUrl,
              },
            },
          },
        }),
      });
      const orderId = textAt(answer.json, 'id');
      const approvalUrl = linkOf(answer.json, 'payer-action') ?? linkOf(answer.json, 'approve');
      if (orderId === null || approvalUrl === null || !isSafeRedirect(approvalUrl, config.apiBase)) {
        throw malformedAnswerError(answer, 'POST');
      }
      return { orderId, approvalUrl, debugId: answer.debugId };
    },

    async getOrder(orderId) {
      return read({ what: 'order', method: 'GET', path: `/v2/checkout/orders/${inPath(orderId)}` }, parseOrder);
    },

    async captureOrder({ orderId, requestId }) {
      const path = `/v2/checkout/orders/${inPath(orderId)}/capture`;
      return read({ what: 'capture order', method: 'POST', path, requestId }, parseOrder);
    },

    async getCapture(captureId) {
      return read({ what: 'capture', method: 'GET', path: `/v2/payments/captures/${inPath(captureId)}` }, parseCapture);
    },

    async refundCapture({ captureId, requestId, note }) {
      const path = `/v2/payments/captures/${inPath(captureId)}/refund`;
      const body = JSON.stringify(note === undefined ? {} : { note_to_payer: note });
      return read({ what: 'refund capture', method: 'POST', path, requestId, body }, parseRefund);
    },

    async getRefund(refundId) {
      return read({ what: 'refund', method: 'GET', path: `/v2/payments/refunds/${inPath(refundId)}` }, parseRefund);
    },

    async verifyWebhook(transmission, body) {
      const fields = {
        auth_algo: transmission.algorithm,
        cert_url: transmission.certUrl,
        transmission_id: transmission.id,
        transmission_sig: transmission.signature,
        transmission_time: transmission.time,
        webhook_id: config.webhookId,
      };
      const answer = await call({
        what: 'verify webhook',
        method: 'POST',
        path: '/v1/notifications/verify-webhook-signature',
        // The event is sent verbatim: re-serialised, it may no longer match its checksum.
        body: `${JSON.stringify(fields).slice(0, -1)},"webhook_event":${body}}`,
      });
      const status = textAt(answer.json, 'verification_status');
      if (status !== 'SUCCESS' && status !== 'FAILURE') throw malformedAnswerError(answer, 'POST');
      return status === 'SUCCESS';
    },
  };
}

/** Threat: a malformed id would change the path. PayPal has no resource with such an id. */
function inPath(id: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(id)) return id;
  throw new PaypalError({
    status: 404,
    name: 'RESOURCE_NOT_FOUND',
    issue: 'INVALID_RESOURCE_ID',
    retryable: false,
    outcomeUnknown: false,
    debugId: null,
    retryAfterMs: null,
  });
}

/**
 * Threat: the browser follows this address, so a `javascript:` URL would run as script. Only https is allowed, and
 * plain http for a simulator on the same machine.
 */
function isSafeRedirect(address: string, apiBase: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(apiBase).hostname);
}
