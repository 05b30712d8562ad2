// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PUSH_CACHE } from '#client/lib/service-worker-rules.ts';
import { followSession, storedDevice } from './push-device.ts';
import type { Supabase } from './supabase.ts';
import { PUSH_DEVICE_PREFIX } from '../session/storage-keys.ts';

const KEY = new Uint8Array([1, 2, 3]);
const ON = { serviceWorker: true };
const token = (session: string): string => `.${btoa(JSON.stringify({ session_id: session }))}.`;

let cacheNames: Set<string>;
let subscription: { toJSON: () => object; options: { applicationServerKey: Uint8Array } } | null;

const supabase = (session: string) =>
  ({
    callFunction: async (_name: string, body: object) =>
      'subscription' in body
        ? { success: true, id: 'new', renewalToken: 'token' }
        : { success: true, publicKey: btoa(String.fromCodePoint(...KEY)) },
    loadAuth: async () => ({ getSession: async () => ({ data: { session: { access_token: token(session) } } }) }),
  }) as unknown as Supabase;

beforeEach(() => {
  cacheNames = new Set([PUSH_CACHE]);
  const options = { applicationServerKey: KEY };
  subscription = { toJSON: () => ({}), options };
  const pushManager = {
    getSubscription: async () => subscription,
    subscribe: async () => (subscription = { toJSON: () => ({}), options }),
  };
  const registration = { pushManager };
  vi.stubGlobal('navigator', {
    serviceWorker: {
      getRegistration: async () => registration,
      register: async () => registration,
      ready: registration,
    },
  });
  vi.stubGlobal('PushManager', {});
  vi.stubGlobal('Notification', { permission: 'granted' });
  vi.stubGlobal('caches', {
    has: async (name: string) => cacheNames.has(name),
    open: async (name: string) => ({ put: async () => void cacheNames.add(name) }),
  });
  vi.stubEnv('DEV', false);
  localStorage.setItem(`${PUSH_DEVICE_PREFIX}ada`, JSON.stringify({ id: 'old', sessionId: 'first' }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  localStorage.clear();
});

test('a device is registered again after a new sign-in', async () => {
  await followSession(supabase('first'), 'ada', ON);
  expect(storedDevice('ada')).toEqual({ id: 'old', sessionId: 'first' });
  await followSession(supabase('second'), 'ada', ON);
  expect(storedDevice('ada')).toEqual({ id: 'new', sessionId: 'second' });
});

test('a device is registered again if its subscription has ended with the service worker', async () => {
  subscription = null;
  await followSession(supabase('first'), 'ada', ON);
  expect(storedDevice('ada')?.id).toBe('new');
  expect(subscription).not.toBeNull();
});

test('a device that another one has turned off stays off', async () => {
  subscription = null;
  cacheNames.clear();
  await followSession(supabase('first'), 'ada', ON);
  expect(storedDevice('ada')?.id).toBe('old');
  expect(subscription).toBeNull();
});

test('a device is not registered again while the server has turned the service worker off', async () => {
  subscription = null;
  await followSession(supabase('second'), 'ada', { serviceWorker: false });
  expect(storedDevice('ada')?.id).toBe('old');
  expect(subscription).toBeNull();
});
