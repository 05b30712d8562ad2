/** Asks for a captcha in an overlay and sends an auth request with its token. */
import { createRoot } from 'react-dom/client';
import { useEffect, useRef, useState } from 'react';
import type { ClientConfig } from '#domain/client-config.ts';
import { currentTheme } from '#client/lib/session/browser-preferences.ts';
import { ToastProvider } from './toast.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { LoadingText } from './loading-text.tsx';
import { Notice } from './notice.tsx';
import styles from './captcha.module.css';

const CLOSED = 'Nothing was sent, because the check was closed. Try again when you are ready.';
const REFUSED = 'The check did not succeed. Please try again.';
const UNAVAILABLE = 'The check is not available at the moment. Please try again in a few minutes.';

/**
 * Sends the request with a solved captcha. If the user closes the overlay or the captcha fails, returns a response like
 * the server's `captcha_failed`, with a message for users.
 */
export async function fetchWithCaptcha(
  captcha: CaptchaSettings,
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<Response> {
  const token = await askForToken(captcha);
  if (token === null) return refuse(CLOSED);
  const body = typeof init.body === 'string' ? (JSON.parse(init.body) as object) : {};
  const response = await fetch(input, {
    ...init,
    body: JSON.stringify({ ...body, gotrue_meta_security: { captcha_token: token } }),
  });
  if (response.ok) return response;
  const { code } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { code?: unknown };
  if (code !== 'captcha_failed') return response;
  return refuse(response.status === 503 ? UNAVAILABLE : REFUSED);
}

const refuse = (message: string): Response =>
  Response.json(
    { code: 'captcha_failed', message },
    { status: 400, headers: { 'X-Supabase-Api-Version': '2024-01-01' } },
  );

/** Null if the user closes the overlay. */
function askForToken(captcha: CaptchaSettings): Promise<string | null> {
  return new Promise((resolve) => {
    const container = document.createElement('div');
    document.body.append(container);
    // A React root of its own: the auth client that calls this function lives outside the page's component tree.
    const root = createRoot(container);
    const finish = (token: string | null): void => {
      root.unmount();
      container.remove();
      resolve(token);
    };
    root.render(
      <ToastProvider>
        <CaptchaDialog captcha={captcha} onSolved={finish} onClose={() => finish(null)} />
      </ToastProvider>,
    );
  });
}

const NAMES = { hcaptcha: 'hCaptcha', turnstile: 'Cloudflare Turnstile' } as const;
/** The width of the wider normal widget, hCaptcha's. */
const NORMAL_WIDTH_PX = 303;

type CaptchaDialogProps = { captcha: CaptchaSettings; onSolved: (token: string) => void; onClose: () => void };

function CaptchaDialog({ captcha, onSolved, onClose }: CaptchaDialogProps) {
  const [attempt, setAttempt] = useState(1);
  return (
    <Dialog title="Are you human?" onClose={onClose}>
      <p>{NAMES[captcha.provider]} checks this before we send your request. It keeps automated sign-ins out.</p>
      <CaptchaWidget key={attempt} captcha={captcha} onSolved={onSolved} onRetry={() => setAttempt(attempt + 1)} />
    </Dialog>
  );
}

type CaptchaWidgetProps = Omit<CaptchaDialogProps, 'onClose'> & { onRetry: () => void };

function CaptchaWidget({ captcha, onSolved, onRetry }: CaptchaWidgetProps) {
  const container = useRef<HTMLDivElement>(null);
  const challenge = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  const solve = useRef(onSolved);

  useEffect(() => {
    let isEnded = false;
    let remove = (): void => undefined;
    const fail = (): void => void (isEnded || setState('failed'));
    loadWidget(captcha)
      .then((widget) => {
        if (isEnded || !container.current || !challenge.current) return;
        const id = widget.render(container.current, {
          sitekey: captcha.siteKey,
          theme: currentTheme(),
          size: container.current.clientWidth < NORMAL_WIDTH_PX ? 'compact' : 'normal',
          callback: (token) => isEnded || solve.current(token),
          'error-callback': fail,
          'challenge-container': challenge.current,
        });
        remove = () => widget.remove(id);
        setState('shown');
      })
      .catch(fail);
    return () => {
      isEnded = true;
      remove();
    };
  }, [captcha]);

  return (
    <div className={styles.body}>
      {state === 'loading' && <LoadingText />}
      {state === 'failed' && (
        <>
          <Notice kind="error">
            The check did not load. Allow {new URL(captcha.scriptUrl).hostname} in your browser and network, then try
            again.
          </Notice>
          <Button onClick={onRetry}>Try again</Button>
        </>
      )}
      <div ref={container} hidden={state === 'failed'} />
      <div ref={challenge} className={styles.challenge} />
    </div>
  );
}

/** The settings of hCaptcha or Turnstile (docs/specification/providers.md 8). */
type CaptchaSettings = NonNullable<ClientConfig['signIn']['captcha']>;

/** The calls that both providers' scripts have. */
type Widget = {
  render(
    container: HTMLElement,
    settings: {
      sitekey: string;
      theme: 'light' | 'dark';
      size: 'normal' | 'compact';
      callback: (token: string) => void;
      'error-callback': () => void;
      /** Where hCaptcha appends its pictures; by default to the body, which an open dialog makes inert. */
      'challenge-container': HTMLElement;
    },
  ): string;
  remove(id: string): void;
};

const TIMEOUT_MS = 15_000;

const providerWidget = (provider: CaptchaSettings['provider']): Widget | undefined =>
  (globalThis as { hcaptcha?: Widget; turnstile?: Widget })[provider];

/** Rejects if the provider's script does not load. The next call tries again. */
async function loadWidget({ provider, scriptUrl }: CaptchaSettings): Promise<Widget> {
  const loaded = providerWidget(provider);
  if (loaded) return loaded;
  const script = document.createElement('script');
  // hCaptcha would also define reCAPTCHA's global.
  script.src = `${scriptUrl}?render=explicit${provider === 'hcaptcha' ? '&recaptchacompat=off' : ''}`;
  try {
    await new Promise((resolve, reject) => {
      script.addEventListener('load', resolve);
      script.addEventListener('error', reject);
      AbortSignal.timeout(TIMEOUT_MS).addEventListener('abort', reject);
      document.head.append(script);
    });
  } catch {
    script.remove();
  }
  const widget = providerWidget(provider);
  if (!widget) throw new Error('the captcha could not be loaded');
  return widget;
}
