/**
 * Registers the service worker and watches for new versions (docs/specification/product.md 7 and 8). Loaded once the
 * page is idle.
 */
import type { ClientConfig } from '#domain/client-config.ts';
import { SERVICE_WORKER_PATH, type PageMessage } from '#client/lib/service-worker-rules.ts';
import type { Toast } from '#client/ui/toast.tsx';
import { removeServiceWorker } from './watch-start.ts';

/** A tab may stay open for days, so it checks for a new version when the user returns, at most this often. */
const UPDATE_INTERVAL_MS = 60 * 60_000;

let hasStarted = false;

export async function startServiceWorker({ features }: ClientConfig, toast: (toast: Toast) => void): Promise<void> {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  // `workers` is undefined without https, except on localhost. The development server has no worker.
  if (!workers || import.meta.env.DEV || hasStarted) return;
  hasStarted = true;
  if (!features.serviceWorker) return removeServiceWorker();

  const offerReload = (): void =>
    toast({
      kind: 'info',
      text: 'A new version is ready.',
      // Unsaved text is in a draft of this browser, which the new page restores.
      action: { label: 'Reload', run: () => location.reload() },
    });
  const offerIfOutdated = async (): Promise<void> => {
    if (!(await confirmVersion(workers))) offerReload();
  };
  workers.addEventListener('controllerchange', () => void offerIfOutdated());
  void confirmVersion(workers);

  let updatedAt = -Infinity;
  const update = async (): Promise<void> => {
    if (Date.now() - updatedAt < UPDATE_INTERVAL_MS) return;
    updatedAt = Date.now();
    try {
      const registration = await workers.register(SERVICE_WORKER_PATH, { updateViaCache: 'none' });
      await registration.update();
    } catch {
      if (await isWorkerGone()) await removeServiceWorker();
    }
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') return;
    // Asks the worker again: the earlier offer may have gone, or the worker may have been stopped before it answered.
    void offerIfOutdated();
    void update();
  });
  await update();
}

/**
 * Asks the worker whether its version has this page's scripts. If so, tells it that a page of its version is open.
 * Returns false if the worker is of another version than the page.
 */
async function confirmVersion({ controller }: ServiceWorkerContainer): Promise<boolean> {
  if (!controller) return true;
  // The sandbox and a captcha have scripts of their own, which no version contains.
  const scripts = [...document.scripts].filter(({ src }) => src.startsWith(`${location.origin}/assets/`));
  const paths = scripts.map(({ src }) => new URL(src).pathname);
  const { port1, port2 } = new MessageChannel();
  const hasFiles = await new Promise<boolean>((resolve) => {
    port1.addEventListener('message', ({ data }) => resolve(data === true), { once: true });
    port1.start();
    controller.postMessage({ type: 'hasFiles', paths } satisfies PageMessage, [port2]);
  });
  if (hasFiles) controller.postMessage({ type: 'sameVersion' } satisfies PageMessage);
  return hasFiles;
}

/** Whether the operator has removed the worker's file. A browser keeps an installed worker even then. */
async function isWorkerGone(): Promise<boolean> {
  const answer = await fetch(SERVICE_WORKER_PATH, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  return answer?.status === 404 || answer?.status === 410;
}
