/** Serves the captcha simulator on a free loopback port, for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createCaptchaSimulator, SECRET, SITE_KEY, type CaptchaControl, type CaptchaProvider } from './simulator.ts';

/** Environment variables that point the product at the simulator. */
export type CaptchaEnvironment = Readonly<
  Record<'CAPTCHA_PROVIDER' | 'CAPTCHA_SITE_KEY' | 'CAPTCHA_SECRET' | 'CAPTCHA_VERIFY_URL', string>
>;

export type CaptchaServer = {
  readonly url: string;
  readonly control: CaptchaControl;
  settingsFor(provider: CaptchaProvider): CaptchaEnvironment;
  close(): Promise<void>;
};

const VERIFY_PATHS: Readonly<Record<CaptchaProvider, string>> = {
  hcaptcha: '/siteverify',
  turnstile: '/turnstile/v0/siteverify',
};

export async function startCaptchaServer(): Promise<CaptchaServer> {
  const { control, answer } = createCaptchaSimulator();
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const answered = answer({ method: incoming.method ?? 'GET', path, query, headers, body: await text(incoming) });
    if (answered === null) {
      outgoing.writeHead(404).end();
      return;
    }
    if (answered.delayMs > 0) await delay(answered.delayMs, undefined, { ref: false });
    if (answered.drop) outgoing.destroy();
    else {
      const { status, location, body } = answered;
      const answerHeaders = { 'Content-Type': 'application/json', ...(location !== undefined && { location }) };
      outgoing.writeHead(status, answerHeaders).end(body);
    }
  };
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    control,
    settingsFor: (provider) => ({
      CAPTCHA_PROVIDER: provider,
      CAPTCHA_SITE_KEY: SITE_KEY,
      CAPTCHA_SECRET: SECRET,
      CAPTCHA_VERIFY_URL: url + VERIFY_PATHS[provider],
    }),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
