/** Entry point of the app page: starts React once the early page takes keys (lib/boot/early-page.ts). */

/** On a slow connection the code of the editor may take longer. React's journal says so. */
const MAX_WAIT_MS = 3_000;

async function start(): Promise<void> {
  const limit = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
  await Promise.race([globalThis.hustleForgeEarlyStart, limit]);
  await import('./main.tsx');
}

// `watchStart` of the boot script hears of a failure.
start().catch(reportError);
