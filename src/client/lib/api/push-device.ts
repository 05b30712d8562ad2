/**
 * This browser as a device that shows the user's reminders (docs/specification/habit.md 6). The server ends it with the
 * session, so it is registered again after the user has signed in again.
 */
import type { ClientConfig } from '#domain/client-config.ts';
import type { PushDevice } from '#domain/habit/push-message.ts';
import type { Supabase } from './supabase.ts';
import {
  PUSH_CACHE,
  PUSH_DEVICE_PATH,
  SERVICE_WORKER_PATH,
  type DeviceInWorker,
} from '#client/lib/service-worker-rules.ts';
import { PUSH_DEVICE_PREFIX } from '../session/storage-keys.ts';
import { readClaims } from '../session/stored-session.ts';

/** `install`: iOS shows notifications of installed apps alone. */
export type PushSupport = 'ready' | 'denied' | 'install' | 'unsupported';

export const isIos = (): boolean =>
  /\b(?:iPhone|iPad|iPod)\b/.test(navigator.userAgent) ||
  // An iPad names itself a Mac.
  (/\bMacintosh\b/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

export function pushSupport(): PushSupport {
  const isSupported = 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
  // The development server has no service worker.
  if (!isSupported || import.meta.env.DEV) return isIos() ? 'install' : 'unsupported';
  return Notification.permission === 'denied' ? 'denied' : 'ready';
}

type StoredDevice = { id: string; sessionId: string };

export function storedDevice(userId: string): StoredDevice | null {
  const text = localStorage.getItem(PUSH_DEVICE_PREFIX + userId);
  return text === null ? null : (JSON.parse(text) as StoredDevice);
}

/** Why this device cannot be turned on, as a message for the user. */
export class PushDeviceError extends Error {
  override name = 'PushDeviceError';
}

/** Asks for the permission, so call it from a click. Throws a PushDeviceError, or an error of the browser. */
export async function turnOn(supabase: Supabase, userId: string): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new PushDeviceError('This browser was not allowed to show notifications.');
  await register(supabase, userId);
}

async function register(supabase: Supabase, userId: string): Promise<void> {
  const { publicKey } = (await callPush(supabase, {})) as { publicKey: string };
  const registration = await navigator.serviceWorker.register(SERVICE_WORKER_PATH, { updateViaCache: 'none' });
  await navigator.serviceWorker.ready;
  const subscription = await subscribe(registration, publicKey);
  const { id, renewalToken } = (await callPush(supabase, { subscription: subscription.toJSON() })) as PushDevice;
  const device: DeviceInWorker = { renewalToken, publicKey };
  await (await caches.open(PUSH_CACHE)).put(PUSH_DEVICE_PATH, Response.json(device));
  const sessionId = await readSessionId(supabase);
  localStorage.setItem(PUSH_DEVICE_PREFIX + userId, JSON.stringify({ id, sessionId } satisfies StoredDevice));
}

async function subscribe({ pushManager }: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription> {
  const applicationServerKey = decodeBase64Url(publicKey);
  const existing = await pushManager.getSubscription();
  // A subscription belongs to one key. If the server's key has changed since, the subscription must be renewed.
  if (existing && !hasKey(existing, applicationServerKey)) await existing.unsubscribe();
  try {
    return await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  } catch {
    throw new PushDeviceError("Couldn't reach the push service of this browser. Please try again.");
  }
}

function hasKey({ options }: PushSubscription, key: Uint8Array): boolean {
  const current = new Uint8Array(options.applicationServerKey ?? []);
  return current.length === key.length && current.every((byte, index) => byte === key[index]);
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (letter) => letter.codePointAt(0)!);
}

async function callPush({ callFunction }: Supabase, body: object): Promise<unknown> {
  const answer = await callFunction('push-subscription', body);
  if (answer.success) return answer;
  throw new PushDeviceError(answer.error);
}

/** Ends the notifications in this browser. The caller removes the row of the device from the server. */
export async function turnOff(userId: string): Promise<void> {
  localStorage.removeItem(PUSH_DEVICE_PREFIX + userId);
  await caches.delete(PUSH_CACHE);
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/**
 * Registers this device again if its session is no longer the user's current one, or if its subscription is lost. Not
 * with SERVICE_WORKER=off: each page would register the worker that removes itself, and its subscription with it.
 */
export async function followSession(
  supabase: Supabase,
  userId: string,
  { serviceWorker }: Pick<ClientConfig['features'], 'serviceWorker'>,
): Promise<void> {
  if (!serviceWorker) return;
  const device = storedDevice(userId);
  if (device === null || pushSupport() !== 'ready' || Notification.permission !== 'granted') return;
  if (device.sessionId === (await readSessionId(supabase)) && !(await isSubscriptionLost())) return;
  await register(supabase, userId);
}

/**
 * A subscription ends with its service worker, which `removeServiceWorker` removes. False for a device that another one
 * has turned off: the worker then deletes the cache.
 */
async function isSubscriptionLost(): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration();
  return !(await registration?.pushManager.getSubscription()) && caches.has(PUSH_CACHE);
}

async function readSessionId({ loadAuth }: Supabase): Promise<string> {
  const token = (await (await loadAuth()).getSession()).data.session?.access_token ?? '';
  return readClaims(token)?.session_id ?? '';
}
