// @vitest-environment happy-dom
import { MessageChannel } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import type { ClientConfig } from '#domain/client-config.ts';
import { startServiceWorker } from './start-service-worker.ts';

/** A controller that answers `hasFiles` with `answer`, or never, like a worker that the browser stops first. */
const createWorker = (answer: boolean | null) => ({
  postMessage(_message: unknown, [port]: readonly MessagePort[] = []) {
    if (answer !== null) port?.postMessage(answer);
  },
});

test('a new version whose worker did not answer is offered when the user comes back', async () => {
  const workers = Object.assign(new EventTarget(), {
    controller: createWorker(true),
    register: () => Promise.resolve({ update: () => Promise.resolve() }),
  });
  vi.stubGlobal('navigator', { serviceWorker: workers });
  vi.stubGlobal('MessageChannel', MessageChannel);
  vi.stubEnv('DEV', false);
  const toast = vi.fn();
  await startServiceWorker({ features: { serviceWorker: true } } as ClientConfig, toast);

  workers.controller = createWorker(null);
  workers.dispatchEvent(new Event('controllerchange'));
  workers.controller = createWorker(false);
  document.dispatchEvent(new Event('visibilitychange'));
  await expect.poll(() => toast.mock.calls.map(([{ text }]) => text)).toEqual(['A new version is ready.']);
});
