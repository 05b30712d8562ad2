/** Checks of the services that the settings name: mail, PayPal, the coach, text messages, captcha and sign-in. */
import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { askSiteverify } from '#server/auth/http/captcha.ts';
import type { CoachSettings } from '#server/config/provider-settings.ts';
import { settingPrefix, type OAuthProvider } from '#server/config/auth-settings.ts';
import type { Config } from '#server/config/config.ts';
import {
  fault,
  off,
  ok,
  warning,
  describeFailure,
  sendRequest,
  type Check,
  type Finding,
  type Reply,
} from './check.ts';
import { createLog } from '#server/log.ts';
import { renderEmail } from '#server/mail/email-template.ts';
import { createMailer, greetMailServer } from '#server/mail/mailer.ts';
import { textAt } from '#server/payments/paypal/parse.ts';

/** The status codes with which a provider refuses credentials. */
const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([401, 403]);

const CHECK_NETWORK = 'Check the address in the settings, DNS, and whether a firewall lets this machine out.';

const describeUnreachable = (what: string, reply: Reply, fix: string): Finding =>
  fault(reply.status === 0 ? `${what}: ${reply.problem}` : `${what} answers ${reply.status}`, fix);

const MAIL_TIMEOUT_MS = 25_000;

/** Logs in to the mail server and, if asked, sends a mail. @param address null: only connects and logs in */
export const mailCheck = ({ mail, publicUrl, sandbox }: Config, address: string | null): Check => ({
  name: 'mail',
  timeoutMs: MAIL_TIMEOUT_MS,
  async run() {
    const { smtpUrl, from, tls } = mail;
    if (smtpUrl === null && sandbox.on) return [off('the sandbox keeps all mail: SMTP_URL is not set')];
    if (smtpUrl === null) {
      return [warning('SMTP_URL is not set', 'Without mail nobody can reset a password: set SMTP_URL and MAIL_FROM.')];
    }
    try {
      await greetMailServer(smtpUrl, tls);
    } catch (error) {
      return [describeMailFailure(error)];
    }
    if (address === null) return [ok('the mail server accepts the login; --mail ADDRESS also sends a mail')];
    let outcome = '';
    // `MailDeferred` does not say why. The mailer's log line has the mail server's reply code.
    const mailer = createMailer(mail, createLog('warn', { write: (line) => void (outcome += line) }));
    const lines = [`The operator of ${publicUrl} sent this mail to see whether mail arrives.`];
    const failed = await mailer.deliver(renderEmail(address, 'Mail works', lines)).then(
      () => false,
      () => true,
    );
    await mailer.close();
    if (!failed)
      return [ok(`the mail server accepted a mail from ${from} to ${address}: check that it arrives, and not as spam`)];
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
      `the mail server refuses the login (${responseCode ?? 'no code'})`,
      'Check user and password in SMTP_URL.',
    );
  if (code === 'ETLS')
    return fault(
      'the mail server offers no encryption',
      'Use smtps:// and port 465, or a server with STARTTLS; SMTP_TLS=off for a relay on a private network.',
    );
  const { problem } = describeFailure(error);
  return fault(
    `the mail server: ${problem}`,
    'Check host and port in SMTP_URL (smtps:// for port 465, smtp:// for 587 and 25), and whether a firewall blocks the port.',
  );
}

/** Checks how mails to the reply addresses arrive: DNS, webhook, SMTP port and its certificate. Sends no mail. */
export const inboundCheck = ({ inbound, publicUrl }: Config): Check => ({
  name: 'inbound',
  async run(signal) {
    if (inbound === null) return [off('no mail is received: INBOUND_DOMAIN is not set')];
    const { domain, smtp, dnsServers, postmarkPassword, mailgunKey, sesTopic } = inbound;
    const dns = new Resolver({ timeout: 3_000, tries: 2 });
    if (dnsServers.length > 0) dns.setServers([...dnsServers]);
    const findings: Finding[] = [await findMailServers(dns, domain)];
    const hasWebhook = postmarkPassword !== null || mailgunKey !== null || sesTopic !== null;
    if (hasWebhook && !publicUrl.startsWith('https://'))
      findings.push(warning('a provider cannot reach PUBLIC_URL', 'Webhooks need an https address.'));
    if (smtp !== null) {
      const greeting = await readGreeting(smtp, signal);
      findings.push(
        greeting?.startsWith('220 ')
          ? ok(`the SMTP port ${smtp.port} greets`)
          : warning(`nothing receives mail at port ${smtp.port}`, 'Start the server, and check INBOUND_SMTP_PORT.'),
      );
    }
    if (smtp?.certificate) findings.push(await describeMailCertificate(smtp.certificate.certFile));
    return findings;
  },
});

async function findMailServers(dns: Resolver, domain: string): Promise<Finding> {
  try {
    const exchanges = await dns.resolveMx(domain);
    return ok(`mails to ${domain} go to ${exchanges.map(({ exchange }) => exchange).join(', ')}`);
  } catch (error) {
    const { code } = error as { code?: string };
    return code === 'ENOTFOUND' || code === 'ENODATA'
      ? warning(`${domain} has no MX record`, 'Add one that leads to this server or to the provider of the webhook.')
      : warning(
          `DNS does not say where mails to ${domain} go (${code})`,
          'Check INBOUND_DNS, or the DNS of this machine.',
        );
  }
}

const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Null where nothing answers. */
function readGreeting({ host, port }: { host: string; port: number }, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: ANY_ADDRESS[host] ?? host, port, signal });
    socket.once('data', (data) => {
      resolve(data.toString('latin1'));
      socket.end('QUIT\r\n');
    });
    socket.once('error', () => resolve(null)).once('close', () => resolve(null));
  });
}

async function describeMailCertificate(file: string): Promise<Finding> {
  const end = await readFile(file)
    .then((pem) => new X509Certificate(pem).validToDate)
    .catch(() => null);
  if (end === null)
    return fault(`${file} is no certificate`, 'INBOUND_SMTP_CERT_FILE names a PEM file with the chain.');
  return end.getTime() > Date.now()
    ? ok(`the certificate for SMTP is valid until ${end.toISOString().slice(0, 10)}`)
    : fault(`the certificate for SMTP ended on ${end.toISOString().slice(0, 10)}`, 'Renew it and restart the server.');
}

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

/** Asks PayPal for an access token and for the webhook. Makes no payment. */
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

/** Asks the provider of the coach for the model, which costs nothing. Sends no text of a user. */
export const coachCheck = ({ coach }: Config): Check => ({
  name: 'coach',
  async run(signal) {
    if (coach === null) return [off('the coach is off: AI_PROVIDER is not set')];
    const { url, headers } = describeModelRequest(coach);
    const reply = await sendRequest(url, { headers, signal });
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
    if (reply.status !== 200)
      return [describeUnreachable(name, reply, `Check AI_BASE_URL (${coach.baseUrl}). ${CHECK_NETWORK}`)];
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

/** Asks the SMS provider for the state of the account. Sends no text message. */
export const smsCheck = ({ auth: { sms } }: Config): Check => ({
  name: 'sms',
  async run(signal) {
    if (sms === null) return [off('text messages are off: SMS_ACCOUNT_SID is not set')];
    const { apiBase, accountSid, authToken } = sms;
    const basic = Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64');
    const reply = await sendRequest(`${apiBase}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`, {
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
    if (status === null) return [describeUnreachable(`the SMS provider at ${apiBase}`, reply, CHECK_NETWORK)];
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

/** Sends the captcha service an invalid token: its answer tells whether it accepts our keys. */
export const captchaCheck = ({ auth: { captcha } }: Config): Check => ({
  name: 'captcha',
  async run() {
    if (captcha === null) return [off('captchas are off (CAPTCHA_PROVIDER)')];
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

/** Asks each provider of sign-in for its OpenID Connect configuration, or GitHub whether it answers. */
export const signInCheck = ({ auth: { oauthProviders } }: Config): Check => ({
  name: 'sign-in',
  async run(signal) {
    if (oauthProviders.length === 0) return [off('no provider for sign-in is set')];
    return Promise.all(oauthProviders.map((provider) => checkProvider(provider, signal)));
  },
});

async function checkProvider({ name, kind, issuer, apiBase }: OAuthProvider, signal: AbortSignal): Promise<Finding> {
  if (kind === 'github') {
    const reply = await sendRequest(`${apiBase ?? issuer}/rate_limit`, {
      headers: { 'User-Agent': 'hustle-forge' },
      signal,
    });
    // GitHub tells nobody whether a client id is right before a user signs in.
    if (reply.status === 0 || reply.status >= 500)
      return describeUnreachable(`${name} at ${apiBase ?? issuer}`, reply, CHECK_NETWORK);
    return ok(`${name} answers; only a sign-in can check its client id`);
  }
  const url = `${issuer}/.well-known/openid-configuration`;
  const reply = await sendRequest(url, { signal });
  const variable = `${settingPrefix(name)}_ISSUER`;
  if (reply.status !== 200)
    return describeUnreachable(
      `${name}: ${url}`,
      reply,
      `Check ${variable}: the address above /.well-known/openid-configuration.`,
    );
  const found = textAt(reply.json, 'issuer');
  if (found?.replace(/\/$/, '') !== issuer) {
    return fault(
      `${name} names ${found === null ? 'no issuer' : `the issuer ${found}`} instead of ${issuer}`,
      `Set ${variable} to the issuer that it names.`,
    );
  }
  const hasEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].every(
    (key) => textAt(reply.json, key) !== null,
  );
  return hasEndpoints
    ? ok(`${name} answers; only a sign-in can check its client secret`)
    : fault(
        `${name} names no endpoints at ${url}`,
        'The provider is not an OpenID Connect provider, or not for code flow.',
      );
}
