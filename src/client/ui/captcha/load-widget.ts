/** Loads the widget of hCaptcha or Turnstile (docs/specification/providers.md 8). */
import type { ClientConfig } from '#domain/client-config.ts';

export type CaptchaSettings = NonNullable<ClientConfig['signIn']['captcha']>;

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
export async function loadWidget({ provider, scriptUrl }: CaptchaSettings): Promise<Widget> {
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
