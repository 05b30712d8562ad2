/**
 * The sandbox: one process that plays every outside service, so that a fresh machine needs no key. Its pages live on one
 * loopback port, which the server shows under `/sandbox`; the parent process is told the addresses.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { modelOnHttp, modelSettingsAt } from './ai-model/server.ts';
import { startMailbox } from './mailbox.ts';
import { ownPagesOnly } from './own-pages.ts';
import { fontFile, indexPage, SANDBOX_STYLES } from './page.ts';
import { paypalOnHttp } from './paypal/server.ts';

/** As at PayPal, the payer is back before the event is there. */
const WEBHOOK_DELAY_MS = 1000;
/** Below the pages, so that a browser's story reaches the model's commands as well. */
const MODEL_PATH = '/sandbox/ai-model';
/** Slow enough to be seen coming, as a real model's words are. */
const MODEL_PACE_MS = 40;

const [, , publicUrl, dataDir] = process.argv;
const mailbox = await startMailbox();
// The journal remembers orders longer than this process lives: no id may come twice.
const seed = randomInt(2 ** 32);
const paypal = paypalOnHttp({
  seed,
  ...(publicUrl !== undefined && { publicUrl }),
  ...(dataDir !== undefined && { keptIn: join(dataDir, 'sandbox', 'paypal.json') }),
});
paypal.simulator.webhooks.set({ automatic: true, delayMs: WEBHOOK_DELAY_MS });
process.on('exit', () => paypal.close());
const model = modelOnHttp(MODEL_PATH);
model.control.pace(MODEL_PACE_MS);

const app = new Hono<{ Bindings: HttpBindings }>();
app.use(ownPagesOnly);
app.get('/sandbox', (context) => context.html(indexPage()));
app.get('/sandbox/style.css', (context) =>
  context.body(SANDBOX_STYLES, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
);
app.get('/sandbox/fonts/:name', (context) => {
  const font = fontFile(context.req.param('name'));
  return font
    ? context.body(font, 200, { 'Content-Type': 'font/woff2', 'Cache-Control': 'max-age=3600' })
    : context.notFound();
});
app.route('/', paypal.app);
app.route(MODEL_PATH, model.app);
app.all('/sandbox/*', async (context) => (await mailbox.handle(context.req.raw)) ?? context.notFound());

const server = createServer((incoming, outgoing) => void getRequestListener(app.fetch)(incoming, outgoing));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const httpUrl = `http://127.0.0.1:${port}`;
  process.send?.({
    SANDBOX_URL: httpUrl,
    SMTP_URL: mailbox.smtpUrl,
    SUPPORT_EMAIL: 'support@hustle-forge.example',
    ...paypal.settingsAt(httpUrl),
    ...modelSettingsAt(httpUrl + MODEL_PATH),
  });
});

// Ctrl-C reaches every process of the terminal at once, but mail may still leave while the server stops:
// the sandbox ends when its parent is gone, or when it is told to by name.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
