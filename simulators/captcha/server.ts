/** Serves the captcha simulator over HTTP: the widget's script and frame, and the verification of its tokens. */
import { setTimeout as delay } from 'node:timers/promises';
import { Hono, type Context } from 'hono';
import { breakConnection, readApiRequest, serveApp, type HostEnv } from '../host.ts';
import { createCaptchaSimulator, SECRET, SITE_KEY, type CaptchaControl, type CaptchaProvider } from './simulator.ts';
import { FRAME_PAGE, FRAME_SCRIPT, FRAME_STYLES, widgetScript } from './widget.ts';

/** Environment variables that point the product at the simulator. */
export type CaptchaEnvironment = Readonly<
  Record<'CAPTCHA_PROVIDER' | 'CAPTCHA_SITE_KEY' | 'CAPTCHA_SECRET' | 'CAPTCHA_VERIFY_URL', string>
>;

const PROVIDERS = ['hcaptcha', 'turnstile'] as const;

const VERIFY_PATHS: Readonly<Record<CaptchaProvider, string>> = {
  hcaptcha: '/siteverify',
  turnstile: '/turnstile/v0/siteverify',
};

export type CaptchaApp = { readonly control: CaptchaControl; readonly app: Hono<HostEnv> };

/** An app to mount into another server at its root. */
export function createCaptchaApp(): CaptchaApp {
  const { control, answer } = createCaptchaSimulator();
  const app = new Hono<HostEnv>();
  const contentType = (type: string) => ({ 'Content-Type': `${type}; charset=utf-8` });
  const verify = async (context: Context<HostEnv>, path: string): Promise<Response> => {
    const answered = answer({ ...(await readApiRequest(context)), path });
    if (answered === null) return context.notFound();
    const { status, body, location, delayMs, drop } = answered;
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
    if (drop) return breakConnection(context);
    return new Response(body, {
      status,
      headers: { ...contentType('application/json'), ...(location && { location }) },
    });
  };
  for (const provider of PROVIDERS) {
    const path = VERIFY_PATHS[provider];
    app.all(path, (context) => verify(context, path));
    app.all(`/captcha/${provider}/siteverify`, (context) => verify(context, path));
    app.get(`/captcha/${provider}/api.js`, (context) =>
      context.body(widgetScript(provider), 200, {
        ...contentType('text/javascript'),
        // Lets the product's pages load the script, which has another origin, as the providers' scripts do.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      }),
    );
  }
  app.get('/captcha/frame', (context) => context.html(FRAME_PAGE));
  app.get('/captcha/frame.js', (context) => context.body(FRAME_SCRIPT, 200, contentType('text/javascript')));
  app.get('/captcha/frame.css', (context) => context.body(FRAME_STYLES, 200, contentType('text/css')));
  app.post('/captcha/solve', async (context) => {
    const page = await context.req.json<{ hostname: string; siteKey: string }>();
    return context.json({ token: control.solve(page) });
  });
  return { control, app };
}

/**
 * Settings for the product. Empty unless `wanted` names a provider: a captcha at every sign-up would be a nuisance.
 *
 * @param baseUrl where the product and the browser reach the simulators
 */
export function captchaSettingsAt(baseUrl: string, wanted: string | undefined): Record<string, string> {
  const provider = PROVIDERS.find((known) => known === wanted);
  if (!provider) return {};
  return {
    CAPTCHA_PROVIDER: provider,
    CAPTCHA_SITE_KEY: SITE_KEY,
    CAPTCHA_SECRET: SECRET,
    CAPTCHA_VERIFY_URL: `${baseUrl}/captcha/${provider}/siteverify`,
    CAPTCHA_SCRIPT_URL: `${baseUrl}/captcha/${provider}/api.js`,
  };
}

export type CaptchaServer = {
  readonly url: string;
  readonly control: CaptchaControl;
  settingsFor(provider: CaptchaProvider): CaptchaEnvironment;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. */
export async function startCaptchaServer(): Promise<CaptchaServer> {
  const { control, app } = createCaptchaApp();
  const { url, close } = await serveApp(app);
  return {
    url,
    control,
    settingsFor: (provider) => ({
      CAPTCHA_PROVIDER: provider,
      CAPTCHA_SITE_KEY: SITE_KEY,
      CAPTCHA_SECRET: SECRET,
      CAPTCHA_VERIFY_URL: url + VERIFY_PATHS[provider],
    }),
    close,
  };
}
