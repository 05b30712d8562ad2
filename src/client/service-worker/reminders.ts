/**
 * The evening reminder in the service worker (docs/specification/habit.md 6): shows it, opens its day, stores "Did
 * nothing", and subscribes again when the browser has ended a subscription.
 */
import { dayLabel, type Day } from '#domain/day/day.ts';
import { parsePushMessage, type PushMessage } from '#domain/habit/push-message.ts';
import { QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { dayPath, ROUTES } from '#domain/routes.ts';
import { PUSH_CACHE, PUSH_DEVICE_PATH, type DeviceInWorker, type WorkerMessage } from '../lib/service-worker-rules.ts';

declare const self: ServiceWorkerGlobalScope;

/** The time that a page has to answer `openDay`. */
const PAGE_TIMEOUT_MS = 1_000;

/** The types of TypeScript lack the actions. */
type ShownOptions = NotificationOptions & { actions?: { action: string; title: string }[] };

const show = (title: string, options: ShownOptions): Promise<void> =>
  self.registration.showNotification(title, { icon: '/icon-192.png', lang: 'en', ...options });

export function handleReminders(): void {
  self.addEventListener('push', (event) => event.waitUntil(showReminder(event.data?.text() ?? '')));
  self.addEventListener('notificationclick', (event) => {
    event.notification.close();
    const message = event.notification.data as PushMessage | null;
    event.waitUntil(event.action === 'nothing' && message ? storeNothing(message) : openDay(message?.day ?? null));
  });
  // The types of TypeScript lack this event.
  self.addEventListener('pushsubscriptionchange' as 'push', (event) =>
    event.waitUntil(renewSubscription((event as { newSubscription?: PushSubscription }).newSubscription)),
  );
}

const showMessage = (message: PushMessage, body: string, hasActions: boolean): Promise<void> =>
  show(dayLabel(message.day), {
    body,
    // Notifications with the same tag replace each other, so a day has one.
    tag: message.day,
    data: message,
    ...(hasActions && {
      actions: [
        { action: 'write', title: 'Write' },
        { action: 'nothing', title: 'Did nothing' },
      ],
    }),
  });

async function showReminder(text: string): Promise<void> {
  const message = parsePushMessage(text);
  // A newer server sent the message. If a push shows no notification, the browser shows its own.
  if (!message) return show('Hustle Forge', { body: 'Time to write your log.' });
  await showMessage(message, message.prompt, true);
}

/** The texts by the status of `POST /evening/TOKEN` (server/habit/mail-pages.ts). */
const OUTCOMES: Readonly<Record<number, string>> = {
  200: `“${QUICK_ENTRIES[0].text}” is your log of this day.`,
  409: 'This day has words already. Your log was not changed.',
  410: 'This reminder is more than three days old. Nothing was stored.',
};

async function storeNothing(message: PushMessage): Promise<void> {
  const answer = await fetch(`/evening/${encodeURIComponent(message.tap)}?entry=0`, { method: 'POST' }).catch(
    () => null,
  );
  const outcome = OUTCOMES[answer?.status ?? 0];
  await showMessage(message, outcome ?? "Couldn't reach the server. Nothing was stored.", outcome === undefined);
}

async function openDay(day: Day | null): Promise<void> {
  const pages = await self.clients.matchAll({ type: 'window' });
  // The list begins with the page that the user focused last.
  const page = pages.find(({ url }) => new URL(url).pathname === ROUTES.journal.path) ?? pages[0];
  if (page && day !== null && (await askToOpen(page, day))) return void (await page.focus());
  await self.clients.openWindow(day === null ? ROUTES.journal.path : dayPath(day));
}

/** False if the page does not answer in time: it shows no screen of a signed-in user. */
function askToOpen(page: WindowClient, day: Day): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    setTimeout(resolve, PAGE_TIMEOUT_MS, false);
    port1.addEventListener('message', () => resolve(true), { once: true });
    port1.start();
    page.postMessage({ type: 'openDay', day } satisfies WorkerMessage, [port2]);
  });
}

async function readDevice(): Promise<DeviceInWorker | null> {
  const stored = await caches.match(PUSH_DEVICE_PATH, { cacheName: PUSH_CACHE });
  return stored ? ((await stored.json()) as DeviceInWorker) : null;
}

/** A worker has no session, so it sends the token of the device. */
async function renewSubscription(found: PushSubscription | undefined): Promise<void> {
  const device = await readDevice();
  if (!device) return;
  const options = { userVisibleOnly: true, applicationServerKey: device.publicKey };
  const subscription = found ?? (await self.registration.pushManager.subscribe(options));
  const answer = await fetch('/push/renew', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: device.renewalToken, subscription: subscription.toJSON() }),
  });
  // The device was removed, or its session has ended.
  if (answer.status === 410) await forgetDevice();
}

/** Runs also after a sign-out without a connection, which the server does not learn of. */
export async function forgetDevice(): Promise<void> {
  await caches.delete(PUSH_CACHE);
  await (await self.registration.pushManager.getSubscription())?.unsubscribe();
}
