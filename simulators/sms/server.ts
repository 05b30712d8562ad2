/** Serves the SMS simulator over HTTP: the API, the sandbox's page of texts, and their JSON for scripts. */
import { Hono } from 'hono';
import { breakConnection, readApiRequest, serveApp, type HostEnv } from '../host.ts';
import { createSmsSimulator, SANDBOX_ACCOUNT, type SmsControl, type SmsFault, type ReceivedSms } from './simulator.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';

/** Environment variables that point the product at the simulator. */
export type SmsSettings = Record<'SMS_API_BASE' | 'SMS_ACCOUNT_SID' | 'SMS_AUTH_TOKEN' | 'SMS_FROM', string>;

/** An app to mount into another server at its root. */
export function createSmsApp(options: { now?: () => Date } = {}): { control: SmsControl; app: Hono<HostEnv> } {
  const { control, answer } = createSmsSimulator(options);
  const app = new Hono<HostEnv>();
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
    const answered = await answer(await readApiRequest(context));
    if (answered === null) return breakConnection(context);
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
  const host = await serveApp(app);
  return {
    url: host.url,
    control,
    settings: smsSettingsAt(host.url),
    close() {
      control.release();
      return host.close();
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
