/**
 * Replaces the push service of the browser in the product's pages: nothing leaves this machine. The subscription is one of
 * the simulator (server.ts), and stays in this browser as a real one does.
 */
const KEY = 'sandbox-push';

/** @param {Uint8Array} bytes */
const encode = (bytes) =>
  btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
/** @param {string} text in base64url */
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.codePointAt(0));

/** @param {string} action @param {object} body */
const askPushService = (action, body) =>
  fetch(`/sandbox/push/${action}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

function stored() {
  const text = localStorage.getItem(KEY);
  if (text === null) return null;
  const { applicationServerKey, ...json } = JSON.parse(text);
  return {
    ...json,
    options: { userVisibleOnly: true, applicationServerKey: decode(applicationServerKey).buffer },
    toJSON: () => json,
    async unsubscribe() {
      localStorage.removeItem(KEY);
      await askPushService('unsubscribe', { endpoint: json.endpoint });
      return true;
    },
  };
}

if ('PushManager' in globalThis) {
  PushManager.prototype.getSubscription = async () => stored();
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    if (Notification.permission !== 'granted')
      throw new DOMException('Registration failed - permission denied', 'NotAllowedError');
    const key =
      typeof applicationServerKey === 'string' ? applicationServerKey : encode(new Uint8Array(applicationServerKey));
    if (stored() === null) {
      const response = await askPushService('subscriptions', { applicationServerKey: key });
      localStorage.setItem(KEY, JSON.stringify({ ...(await response.json()), applicationServerKey: key }));
    }
    return stored();
  };
}
