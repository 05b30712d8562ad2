/**
 * The simulated widget: a script with the providers' functions `render` and `remove`, and the page in the widget's
 * iframe, which has another origin.
 */
import type { CaptchaProvider } from './simulator.ts';

/** Defines `window.hcaptcha` or `window.turnstile`. */
export const widgetScript = (provider: CaptchaProvider): string => `(() => {
  const origin = new URL(document.currentScript.src).origin;
  const frames = new Map();
  window[${JSON.stringify(provider)}] = {
    render(container, settings) {
      const frame = document.createElement('iframe');
      const { sitekey: siteKey, theme } = settings;
      const query = new URLSearchParams({ hostname: location.hostname, siteKey, theme });
      frame.src = origin + '/captcha/frame?' + query;
      frame.title = 'Widget containing a checkbox';
      frame.width = settings.size === 'compact' ? '164' : '303';
      frame.height = settings.size === 'compact' ? '144' : '78';
      const onMessage = (event) => {
        if (event.source !== frame.contentWindow || event.origin !== origin) return;
        if (event.data.token) settings.callback(event.data.token);
        else settings['error-callback']('simulated');
      };
      addEventListener('message', onMessage);
      container.append(frame);
      const id = String(frames.size);
      frames.set(id, { frame, onMessage });
      return id;
    },
    remove(id) {
      const { frame, onMessage } = frames.get(id);
      removeEventListener('message', onMessage);
      frame.remove();
    },
  };
})();
`;

export const FRAME_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Simulated captcha</title>
<link rel="stylesheet" href="/captcha/frame.css">
<script src="/captcha/frame.js" defer></script>
</head>
<body>
<label><input type="checkbox"> I am human</label>
<p>Simulated</p>
</body>
</html>
`;

export const FRAME_STYLES = `html { color-scheme: light dark; }
html[data-theme='light'] { color-scheme: light; }
html[data-theme='dark'] { color-scheme: dark; }
body { box-sizing: border-box; block-size: 100vh; margin: 0; padding: 0.75rem; border: 1px solid #777;
  background: Canvas; color: CanvasText; font: 1rem/1.2 sans-serif; }
p { margin: 0.4rem 0 0; font-size: 0.75rem; }
`;

export const FRAME_SCRIPT = `const query = new URLSearchParams(location.search);
document.documentElement.dataset.theme = query.get('theme');
document.querySelector('input').addEventListener('change', async () => {
  const body = JSON.stringify({ hostname: query.get('hostname'), siteKey: query.get('siteKey') });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('/captcha/solve', { method: 'POST', headers, body });
  parent.postMessage(await answer.json(), '*');
});
`;
