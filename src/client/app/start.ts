/** Entry point of the app page. Starts React once the early page's editor, if any, takes keys, fails or is late. */

/** The build preloads what the property `app` imports (scripts/vite/route-chunks.ts). */
const CODE = { app: () => import('./main.tsx') };

void start();

async function start(): Promise<void> {
  try {
    await globalThis.hustleForgeEarlyStart;
    const { startApp } = await CODE.app();
    await startApp();
  } catch (error) {
    // Fires an `error` event, after which `watchStart` (app/service-worker/watch-start.ts) may remove a service worker
    // with broken files.
    reportError(error);
  }
}
