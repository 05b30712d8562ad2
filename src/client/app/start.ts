/** Entry point of the app page. If the boot script opens an editor (early-page.ts), React starts once it takes keys. */

/** The build preloads what the property `app` imports (scripts/vite/route-chunks.ts). */
const CODE = { app: () => import('./main.tsx') };

/** On a slow connection the editor's code may take longer. React then starts and shows "Loading editor...". */
const MAX_WAIT_MS = 3_000;

void start();

async function start(): Promise<void> {
  try {
    const limit = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
    await Promise.race([globalThis.hustleForgeEarlyStart, limit]);
    const { startApp } = await CODE.app();
    await startApp();
  } catch (error) {
    // Fires an `error` event. `watchStart` (app/service-worker/watch-start.ts) then removes a service worker with broken
    // files.
    reportError(error);
  }
}
