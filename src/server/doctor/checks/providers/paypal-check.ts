/** Asks PayPal for an access token and for the webhook. Makes no payment. */
import type { Config } from '#server/config/config.ts';
import { textAt } from '#server/payments/paypal/json-value.ts';
import { fault, off, ok, warning, type Check, type Finding } from '../../check.ts';
import { sendRequest, type Reply } from '../../request.ts';
import { CHECK_NETWORK, CREDENTIALS_REFUSED, describeUnreachable } from './describe-unreachable.ts';

/** The events of the webhook that docs/operations.md, "Payments", asks for. */
const WEBHOOK_EVENTS = [
  'CHECKOUT.ORDER.APPROVED',
  'CHECKOUT.ORDER.COMPLETED',
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED',
  'PAYMENT.CAPTURE.COMPLETED',
  'PAYMENT.CAPTURE.PENDING',
  'PAYMENT.CAPTURE.DENIED',
  'PAYMENT.CAPTURE.DECLINED',
  'PAYMENT.CAPTURE.REFUNDED',
  'PAYMENT.CAPTURE.REVERSED',
];

export const paypalCheck = ({ paypal, publicUrl }: Config): Check => ({
  name: 'paypal',
  async run(signal) {
    if (paypal === null) return [off('payments are off: PAYPAL_CLIENT_ID is not set')];
    const { apiBase, clientId, clientSecret, webhookId } = paypal;
    const basic = Buffer.from(`${clientId}:${clientSecret.reveal()}`).toString('base64');
    const reply = await sendRequest(`${apiBase}/v1/oauth2/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${basic}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials',
      signal,
    });
    if (CREDENTIALS_REFUSED.has(reply.status)) {
      const fix =
        'Check PAYPAL_CLIENT_ID and PAYPAL_CLIENT_SECRET: live credentials need https://api-m.paypal.com, sandbox ones https://api-m.sandbox.paypal.com.';
      return [fault(`PayPal refuses the credentials (${reply.status}) at ${apiBase}`, fix)];
    }
    const token = reply.status === 200 ? textAt(reply.json, 'access_token') : null;
    if (token === null) return [describeUnreachable(`PayPal at ${apiBase}`, reply, CHECK_NETWORK)];
    const findings = [ok(`PayPal accepts the credentials at ${apiBase}`)];
    if (webhookId === null) {
      findings.push(
        warning(
          'PAYPAL_WEBHOOK_ID is not set',
          'Without a webhook a refund is noticed only within a day. Add one (docs/operations.md, "Payments").',
        ),
      );
      return findings;
    }
    const found = await sendRequest(`${apiBase}/v1/notifications/webhooks/${encodeURIComponent(webhookId)}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal,
    });
    findings.push(describeWebhook(found, webhookId, `${publicUrl}/functions/v1/paypal-webhook`));
    return findings;
  },
});

function describeWebhook(reply: Reply, id: string, expected: string): Finding {
  if (reply.status === 404 || reply.status === 400) {
    return fault(
      `PayPal has no webhook ${id}`,
      'PAYPAL_WEBHOOK_ID is the id of the webhook in the dashboard, of the same app and mode.',
    );
  }
  if (reply.status !== 200) return describeUnreachable('PayPal, asked for the webhook,', reply, CHECK_NETWORK);
  const url = textAt(reply.json, 'url');
  if (url !== expected)
    return fault(`the webhook leads to ${url ?? 'nowhere'}`, `Change its address in PayPal's dashboard to ${expected}`);
  const types = (reply.json as { event_types?: { name?: string }[] }).event_types ?? [];
  const names = new Set(types.map(({ name }) => name));
  const missing = names.has('*') ? [] : WEBHOOK_EVENTS.filter((name) => !names.has(name));
  return missing.length === 0
    ? ok('the webhook leads here and has all events')
    : warning(`the webhook lacks ${missing.join(', ')}`, "Add these events in PayPal's dashboard.");
}
