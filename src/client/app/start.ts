/** Entry point of the app page. If the boot script opens an editor (early-page.ts), React starts once it takes keys. */

/** The build preloads what the property `app` imports (scripts/vite/route-chunks.ts). */
const CODE = { app: () => import('./main.tsx') };

void start();

async function start(): Promise<void> {
  try {
    await globalThis.hustleForgeEarlyStart;
    const { startApp } = await CODE.app();
    await startApp();
  } catch (error) {
    // Fires an `error` event. `watchStart` (app/service-worker/watch-start.ts) then removes a service worker with
    // broken files.
    reportError(error);
  }
}
