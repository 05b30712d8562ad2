/** Asks for a captcha in an overlay and sends an auth request with its token. */
import { createRoot } from 'react-dom/client';
import { ToastProvider } from '../toast.tsx';
import { CaptchaDialog } from './captcha-dialog.tsx';
import type { CaptchaSettings } from './load-widget.ts';

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
