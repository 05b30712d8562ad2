/** The captcha simulator of the sandbox: the widget's script and frame, and the verification of its tokens. */
import { Hono } from 'hono';
import { createCaptchaSimulator, SECRET, SITE_KEY, type CaptchaProvider } from './simulator.ts';
import { FRAME_PAGE, FRAME_SCRIPT, FRAME_STYLES, widgetScript } from './widget.ts';

const PROVIDERS = ['hcaptcha', 'turnstile'] as const;

const VERIFY_PATHS: Readonly<Record<CaptchaProvider, string>> = {
  hcaptcha: '/siteverify',
  turnstile: '/turnstile/v0/siteverify',
};

/** An app to mount into another server at its root. */
export function createCaptchaApp(): Hono {
  const { control, answer } = createCaptchaSimulator();
  const app = new Hono();
  const contentType = (type: string) => ({ 'Content-Type': `${type}; charset=utf-8` });
  for (const provider of PROVIDERS) {
    app.get(`/captcha/${provider}/api.js`, (context) =>
      context.body(widgetScript(provider), 200, {
        ...contentType('text/javascript'),
        // Lets the product's pages load the script, which has another origin, as the providers' scripts do.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      }),
    );
    app.post(`/captcha/${provider}/siteverify`, async (context) => {
      const request = { method: 'POST', path: VERIFY_PATHS[provider], query: '', headers: context.req.header() };
      const { status, body } = answer({ ...request, body: await context.req.text() })!;
      return new Response(body, { status, headers: contentType('application/json') });
    });
  }
  app.get('/captcha/frame', (context) => context.html(FRAME_PAGE));
  app.get('/captcha/frame.js', (context) => context.body(FRAME_SCRIPT, 200, contentType('text/javascript')));
  app.get('/captcha/frame.css', (context) => context.body(FRAME_STYLES, 200, contentType('text/css')));
  app.post('/captcha/solve', async (context) => {
    const page = await context.req.json<{ hostname: string; siteKey: string }>();
    return context.json({ token: control.solve(page) });
  });
  return app;
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
