/** Checks of the external services: credentials and addresses, without a mail, a text or a payment. */
import { askSiteverify } from '../../auth/captcha/siteverify.ts';
import type { OAuthProvider } from '../../config/auth-settings.ts';
import type { Config } from '../../config/config.ts';
import type { CoachSettings } from '../../coach/coach-settings.ts';
import { createLog } from '../../log.ts';
import { renderEmail } from '../../mail/email-template.ts';
import { createMailer, greetMailServer } from '../../mail/mailer.ts';
import { textAt } from '../../payments/paypal/json-value.ts';
import { fault, off, ok, warning } from '../check.ts';
import type { Check, Finding } from '../check.ts';
import { describeFailure, request } from '../request.ts';
import type { Reply } from '../request.ts';

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
const MAIL_TIMEOUT_MS = 25_000;

/** @param address null: only connects and logs in */
export const mailCheck = ({ mail, publicUrl, sandbox }: Config, address: string | null): Check => ({
  name: 'mail',
  timeoutMs: MAIL_TIMEOUT_MS,
  async run() {
    const { smtpUrl, from } = mail;
    if (smtpUrl === null && sandbox.on) return [off('the sandbox keeps all mail: SMTP_URL is not set')];
    if (smtpUrl === null) {
      return [warning('SMTP_URL is not set', 'Without mail nobody can reset a password: set SMTP_URL and MAIL_FROM.')];
    }
    try {
      await greetMailServer(smtpUrl);
    } catch (error) {
      return [describeMailFailure(error)];
    }
    if (address === null) return [ok('the mail server takes our login; --mail ADDRESS also sends a mail')];
    let outcome = '';
    // The mailer logs the reply code of the mail server.
    const mailer = createMailer(mail, createLog('warn', { write: (line) => void (outcome += line) }));
    const lines = [`The operator of ${publicUrl} sent this mail to see whether mail arrives.`];
    const failed = await mailer.deliver(renderEmail(address, 'Mail works', lines)).then(
      () => false,
      () => true,
    );
    await mailer.close();
    if (!failed)
      return [ok(`the mail server took a mail from ${from} to ${address}: see whether it arrives, and not as spam`)];
    const code = /"responseCode":(\d+)/.exec(outcome)?.[1];
    const command = /"command":"([A-Z ]+)"/.exec(outcome)?.[1];
    return [
      fault(
        `the mail server refused the mail${code === undefined ? '' : ` with ${code}`}${command === undefined ? '' : ` at ${command}`}`,
        `At MAIL FROM it does not accept MAIL_FROM (${from}) for this login; at RCPT TO it does not accept ${address}.`,
      ),
    ];
  },
});

function describeMailFailure(error: unknown): Finding {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  if (code === 'EAUTH')
    return fault(
      `the mail server refuses our login (${responseCode ?? 'no code'})`,
      'Check user and password in SMTP_URL.',
    );
  if (code === 'ETLS')
    return fault('the mail server offers no encryption', 'Use smtps:// and port 465, or a server with STARTTLS.');
  const { problem } = describeFailure(error);
  return fault(
    `the mail server: ${problem}`,
    'Check host and port in SMTP_URL, and whether this network lets port 25, 465 or 587 out.',
  );
}

const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([401, 403]);

const unreachable = (what: string, reply: Reply, mend: string): Finding =>
  fault(reply.status === 0 ? `${what}: ${reply.problem}` : `${what} answers ${reply.status}`, mend);

const NETWORK = 'Check the address in the settings, DNS, and whether a firewall lets this machine out.';

export const paypalCheck = ({ paypal, publicUrl }: Config): Check => ({
  name: 'paypal',
  async run(signal) {
    if (paypal === null) return [off('payments are off: PAYPAL_CLIENT_ID is not set')];
    const { apiBase, clientId, clientSecret, webhookId } = paypal;
    const basic = Buffer.from(`${clientId}:${clientSecret.reveal()}`).toString('base64');
    const reply = await request(`${apiBase}/v1/oauth2/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${basic}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials',
      signal,
    });
    if (CREDENTIALS_REFUSED.has(reply.status)) {
      const mend =
        'Check PAYPAL_CLIENT_ID and PAYPAL_CLIENT_SECRET: live credentials need https://api-m.paypal.com, sandbox ones https://api-m.sandbox.paypal.com.';
      return [fault(`PayPal refuses the credentials (${reply.status}) at ${apiBase}`, mend)];
    }
    const token = reply.status === 200 ? textAt(reply.json, 'access_token') : null;
    if (token === null) return [unreachable(`PayPal at ${apiBase}`, reply, NETWORK)];
    const findings = [ok(`PayPal accepts the credentials at ${apiBase}`)];
    if (webhookId === null) {
      findings.push(
        warning(
          'PAYPAL_WEBHOOK_ID is not set',
          'Refunds are seen within a day only. Add a webhook (docs/operations.md, "Payments").',
        ),
      );
      return findings;
    }
    const found = await request(`${apiBase}/v1/notifications/webhooks/${encodeURIComponent(webhookId)}`, {
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
  if (reply.status !== 200) return unreachable('PayPal, asked for the webhook,', reply, NETWORK);
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

export const coachCheck = ({ coach }: Config): Check => ({
  name: 'coach',
  async run(signal) {
    if (coach === null) return [off('the coach is off: AI_PROVIDER is not set')];
    const { url, headers } = describeModelRequest(coach);
    const reply = await request(url, { headers, signal });
    const name = coach.providerName;
    if (CREDENTIALS_REFUSED.has(reply.status) || (reply.status === 400 && /api.?key/i.test(reply.text))) {
      return [
        fault(
          `${name} refuses the key (${reply.status})`,
          'Check AI_API_KEY: its project, its restrictions and billing.',
        ),
      ];
    }
    if (reply.status === 404 && coach.provider !== 'openai-compatible') {
      return [fault(`${name} has no model ${coach.model}`, 'Check AI_MODEL; the provider lists its names.')];
    }
    if (reply.status !== 200) return [unreachable(name, reply, `Check AI_BASE_URL (${coach.baseUrl}). ${NETWORK}`)];
    if (coach.provider === 'openai-compatible' && !listsModel(reply.json, coach.model)) {
      return [
        warning(
          `${name} does not list the model ${coach.model}`,
          'Check AI_MODEL: the name as the server lists it at /models.',
        ),
      ];
    }
    return [ok(`${name} accepts the key and has ${coach.model} (asked without cost: no text was sent)`)];
  },
});

/** A look at the model's entry, which no provider charges for. */
function describeModelRequest({ provider, baseUrl, model, apiKey }: CoachSettings): {
  url: string;
  headers: Record<string, string>;
} {
  const key = apiKey?.reveal() ?? '';
  const named = `${baseUrl}/models/${encodeURIComponent(model)}`;
  if (provider === 'google') return { url: named, headers: { 'x-goog-api-key': key } };
  if (provider === 'anthropic') return { url: named, headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } };
  return { url: `${baseUrl}/models`, headers: key === '' ? {} : { Authorization: `Bearer ${key}` } };
}

function listsModel(json: unknown, model: string): boolean {
  const list = (json as { data?: { id?: string }[] } | null)?.data ?? [];
  // Ollama lists `llama3:latest` and takes `llama3`.
  return list.some(({ id }) => id === model || id === `${model}:latest`);
}

export const smsCheck = ({ auth: { sms } }: Config): Check => ({
  name: 'sms',
  async run(signal) {
    if (sms === null) return [off('text messages are off: SMS_ACCOUNT_SID is not set')];
    const { apiBase, accountSid, authToken } = sms;
    const basic = Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64');
    const reply = await request(`${apiBase}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`, {
      headers: { Authorization: `Basic ${basic}` },
      signal,
    });
    if (CREDENTIALS_REFUSED.has(reply.status) || reply.status === 404) {
      return [
        fault(
          `the SMS provider refuses the credentials (${reply.status})`,
          'Check SMS_ACCOUNT_SID and SMS_AUTH_TOKEN.',
        ),
      ];
    }
    const status = reply.status === 200 ? textAt(reply.json, 'status') : null;
    if (status === null) return [unreachable(`the SMS provider at ${apiBase}`, reply, NETWORK)];
    return [
      status === 'active'
        ? ok('the SMS provider accepts the credentials; no text was sent')
        : fault(`the account at the SMS provider is ${status}`, 'Reactivate it in the console of the provider.'),
    ];
  },
});

/** The error codes of hCaptcha and Turnstile for a wrong secret or site key. */
const KEY_CODES: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'invalid-sitekey',
  'not-using-dummy-secret',
]);

export const captchaCheck = ({ auth: { captcha } }: Config): Check => ({
  name: 'captcha',
  async run() {
    if (captcha === null) return [off('no captcha is asked for')];
    // A token that nobody solved: the answer tells wrong keys from a wrong token.
    const verdict = await askSiteverify(captcha, 'doctor');
    if (verdict.outcome === 'unavailable') {
      return [
        fault(
          `the captcha service does not answer: ${verdict.reason}`,
          'Nobody can sign in while it does not. Check CAPTCHA_VERIFY_URL and the network.',
        ),
      ];
    }
    const wrong = verdict.outcome === 'refused' ? verdict.codes.filter((code) => KEY_CODES.has(code)) : [];
    if (wrong.length > 0) {
      return [
        fault(
          `the captcha service rejects our keys (${wrong.join(', ')})`,
          'Check CAPTCHA_SITE_KEY and CAPTCHA_SECRET: both of the same site.',
        ),
      ];
    }
    return [ok('the captcha service accepts the secret')];
  },
});

export const signInCheck = ({ auth: { oauthProviders } }: Config): Check => ({
  name: 'sign-in',
  async run(signal) {
    if (oauthProviders.length === 0) return [off('no provider for sign-in is set')];
    return Promise.all(oauthProviders.map((provider) => checkProvider(provider, signal)));
  },
});

async function checkProvider({ name, kind, issuer, apiBase }: OAuthProvider, signal: AbortSignal): Promise<Finding> {
  if (kind === 'github') {
    const reply = await request(`${apiBase ?? issuer}/rate_limit`, {
      headers: { 'User-Agent': 'hustle-forge' },
      signal,
    });
    // GitHub tells nobody whether a client id is right before a user signs in.
    if (reply.status === 0 || reply.status >= 500)
      return unreachable(`${name} at ${apiBase ?? issuer}`, reply, NETWORK);
    return ok(`${name} answers; its client id is tried by the first sign-in only`);
  }
  const url = `${issuer}/.well-known/openid-configuration`;
  const reply = await request(url, { signal });
  const variable = `OIDC_${name.toUpperCase()}_ISSUER`;
  if (reply.status !== 200)
    return unreachable(
      `${name}: ${url}`,
      reply,
      `Check ${variable}: the address above /.well-known/openid-configuration.`,
    );
  const found = textAt(reply.json, 'issuer');
  if (found?.replace(/\/$/, '') !== issuer) {
    return fault(
      `${name} calls itself ${found ?? 'nothing'} instead of ${issuer}`,
      `Set ${variable} to the issuer that it names.`,
    );
  }
  const hasEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].every(
    (key) => textAt(reply.json, key) !== null,
  );
  return hasEndpoints
    ? ok(`${name} describes itself; its client secret is tried by the first sign-in only`)
    : fault(
        `${name} names no endpoints at ${url}`,
        'The provider is not an OpenID Connect provider, or not for code flow.',
      );
}
