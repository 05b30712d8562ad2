/**
 * The sandbox: simulates every external service, so that no API keys are needed. It serves its pages on a loopback
 * port, which the server proxies under `/sandbox`.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { Hono } from 'hono';
import { createModelApp, modelSettingsAt } from './ai-model/server.ts';
import { captchaSettingsAt, createCaptchaApp } from './captcha/server.ts';
import { createIdentityApp } from './identity-provider/server.ts';
import { createReplies } from './mail-client/mail-provider.ts';
import { startMailbox } from './mailbox.ts';
import { originGuard, serveApp, type HostEnv } from './host.ts';
import { readFont, renderIndexPage, SANDBOX_STYLES } from './page.ts';
import { createPaypalApp } from './paypal/server.ts';
import { createPushApp, pushSettingsAt } from './push/server.ts';
import { createSamlApp } from './saml/server.ts';
import { createSlackApp, SLACK_SETTINGS } from './slack/server.ts';
import { createSmsApp, smsSettingsAt } from './sms/server.ts';
import { createWalletsApp, WALLET_SETTINGS } from './wallets/app.ts';

/** As with PayPal, the payer returns before the webhook arrives. */
const WEBHOOK_DELAY_MS = 1000;
/** Under `/sandbox`, so that end-to-end tests reach the control endpoints through the server. */
const MODEL_PATH = '/sandbox/ai-model';
/** Makes streaming visible, as with a real model. */
const MODEL_PACE_MS = 40;

/** Environment variables that point the product at the simulators. */
export type SandboxSettings = Readonly<Record<string, string>>;

/**
 * Runs until the process exits, because the server may send mail while it shuts down. Returns the settings for the
 * product.
 *
 * @param options.publicUrl the product's origin: payers are redirected to it and webhooks are sent to it
 * @param options.dataDir the folder below which the simulated payments are stored
 */
export async function startSimulators({
  publicUrl,
  dataDir,
}: {
  publicUrl: string;
  dataDir: string;
}): Promise<SandboxSettings> {
  const replies = await createReplies(publicUrl);
  const [mailbox, saml, wallets] = await Promise.all([
    startMailbox(replies.send),
    createSamlApp({ publicUrl, keyFolder: join(dataDir, 'sandbox') }),
    createWalletsApp(join(dataDir, 'sandbox', 'wallets.key')),
  ]);
  // The product stores order ids beyond the lifetime of this process, so ids must not repeat.
  const seed = randomInt(2 ** 32);
  const paypal = createPaypalApp({ seed, publicUrl, stateFile: join(dataDir, 'sandbox', 'paypal.json') });
  paypal.simulator.webhooks.set({ automatic: true, delayMs: WEBHOOK_DELAY_MS });
  process.on('exit', () => paypal.close());
  const model = createModelApp(MODEL_PATH);
  model.control.pace(MODEL_PACE_MS);
  const sms = createSmsApp();
  const identity = createIdentityApp();
  let httpUrl = '';
  const push = createPushApp(() => httpUrl);

  const app = new Hono<HostEnv>({ strict: false });
  app.use(originGuard);
  app.get('/sandbox', (context) => context.html(renderIndexPage()));
  app.get('/sandbox/style.css', (context) =>
    context.body(SANDBOX_STYLES, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
  );
  app.get('/sandbox/fonts/:name', (context) => {
    const font = readFont(context.req.param('name'));
    return font
      ? context.body(font, 200, { 'Content-Type': 'font/woff2', 'Cache-Control': 'max-age=3600' })
      : context.notFound();
  });
  app.route('/', paypal.app);
  app.route('/', sms.app);
  app.route('/', identity.app);
  app.route('/', saml.app);
  app.route('/', createCaptchaApp().app);
  app.route('/', wallets);
  app.route('/', push.app);
  app.route('/', createSlackApp(publicUrl));
  app.route(MODEL_PATH, model.app);
  app.all('/sandbox/*', async (context) => (await mailbox.handle(context.req.raw)) ?? context.notFound());

  httpUrl = (await serveApp(app)).url;
  return {
    SANDBOX_URL: httpUrl,
    SMTP_URL: mailbox.smtpUrl,
    SUPPORT_EMAIL: 'support@hustle-forge.example',
    SOCIAL_LINKS: 'GitHub=https://github.example/hustle-forge,Mastodon=https://mastodon.example/@hustleforge',
    ...paypal.settingsAt(httpUrl),
    ...modelSettingsAt(httpUrl + MODEL_PATH),
    ...smsSettingsAt(httpUrl),
    ...captchaSettingsAt(httpUrl, process.env['SANDBOX_CAPTCHA']),
    ...identity.settingsAt(httpUrl, publicUrl),
    ...saml.settings,
    ...replies.settings,
    ...WALLET_SETTINGS,
    ...SLACK_SETTINGS,
    ...pushSettingsAt(httpUrl),
  };
}
