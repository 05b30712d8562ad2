/** Serves the SMS simulator over HTTP: the API, the sandbox's page of texts, and their JSON for scripts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { createSmsSimulator, SANDBOX_ACCOUNT, type SmsControl, type SmsFault, type ReceivedSms } from './simulator.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';

/** Environment variables that point the product at the simulator. */
export type SmsSettings = Record<'SMS_API_BASE' | 'SMS_ACCOUNT_SID' | 'SMS_AUTH_TOKEN' | 'SMS_FROM', string>;

type Env = { Bindings: HttpBindings };

/** An app to mount into another server at its root. */
export function createSmsApp(options: { now?: () => Date } = {}): { control: SmsControl; app: Hono<Env> } {
  const { control, answer } = createSmsSimulator(options);
  const app = new Hono<Env>();
  app.get('/sandbox/sms', (context) => {
    const to = context.req.query('to');
    return context.html(messagesPage(control.messages(to), to ?? null), 200, { 'Cache-Control': 'no-store' });
  });
  app.get('/sandbox/sms/messages', (context) =>
    context.json(control.messages(context.req.query('to')), 200, { 'Cache-Control': 'no-store' }),
  );
  app.delete('/sandbox/sms/messages', (context) => {
    control.clear();
    return context.body(null, 204);
  });
  app.post('/sandbox/sms/__simulator/fail', async (context) => {
    control.fail(await context.req.json<SmsFault>());
    return context.body(null, 204);
  });
  app.post('/sandbox/sms/__simulator/release', (context) => context.json({ released: control.release() }));
  app.all('/2010-04-01/*', async (context) => {
    const { pathname, search } = new URL(context.req.url);
    const answered = await answer({
      method: context.req.method,
      path: pathname,
      query: search.slice(1),
      headers: context.req.header(),
      body: await context.req.text(),
    });
    if (answered === null) {
      context.env.outgoing.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    const { status, headers, body } = answered;
    return new Response(body, { status, headers });
  });
  return { control, app };
}

export const smsSettingsAt = (baseUrl: string): SmsSettings => ({
  SMS_API_BASE: baseUrl,
  SMS_ACCOUNT_SID: SANDBOX_ACCOUNT.sid,
  SMS_AUTH_TOKEN: SANDBOX_ACCOUNT.authToken,
  SMS_FROM: SANDBOX_ACCOUNT.from,
});

export type SmsServer = {
  readonly url: string;
  readonly control: SmsControl;
  readonly settings: SmsSettings;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. */
export async function startSmsServer(options: { now?: () => Date } = {}): Promise<SmsServer> {
  const { control, app } = createSmsApp(options);
  const listener = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    control,
    settings: smsSettingsAt(url),
    close() {
      control.release();
      return new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      });
    },
  };
}

/** Lists the texts newest first. */
function messagesPage(messages: readonly ReceivedSms[], to: string | null): string {
  const filter = to === null ? '' : `<p class="quiet">To ${escapeHtml(to)}. <a href="/sandbox/sms">Show all</a></p>`;
  const articles =
    messages.length === 0
      ? '<p>No texts yet. Reload this page once the journal has sent some.</p>'
      : messages.map(article).join('\n');
  return renderSandboxPage('Texts', `${filter}\n${articles}`);
}

const article = ({ to, text, at }: ReceivedSms): string => `<article>
<h2><a href="/sandbox/sms?to=${encodeURIComponent(to)}">${escapeHtml(to)}</a></h2>
<p class="quiet"><time datetime="${at}">${at.replace('T', ' ').slice(0, 19)} UTC</time></p>
<pre>${escapeHtml(text)}</pre>
</article>`;
