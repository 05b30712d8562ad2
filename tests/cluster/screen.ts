/** A real Chromium page whose user types all the time. Records every text of its status line (save-status.ts). */
import { chromium, type Page, type Request } from '@playwright/test';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import { ensureTestBrowser } from '../../scripts/browser.ts';
import { createClient, signUp } from './client.ts';
import { HOST_NAME, PUBLIC_URL } from './front.ts';
import { addressOf } from './network.ts';

const TYPE_MS = 2_500;
const SAVED_MS = 60_000;
/** Longer than the longest backoff of a save. */
const SAVED_POLL = { timeout: SAVED_MS };

export type Status = { at: number; kind: string; text: string };

export type Screen = {
  readonly userId: string;
  /** The texts that the status line began to show at or after `since`, in milliseconds since 1970. */
  statusesSince(since: number): Promise<Status[]>;
  /** Whether a save of the page failed at or after `since`, in milliseconds since 1970. */
  hasFailedSince(since: number): boolean;
  /** Stops typing, waits until the page says that all is saved, and returns the items on the screen. */
  finish(): Promise<string[]>;
  close(): Promise<void>;
};

/** Runs in the page. */
function recordStatuses(): void {
  const seen: { at: number; kind: string; text: string }[] = [];
  Object.assign(window, { seenStatuses: seen });
  new MutationObserver(() => {
    const line = document.querySelector('[role=status][data-kind]');
    const [kind, text] = [line?.getAttribute('data-kind') ?? '', line?.textContent ?? ''];
    if (line && seen.at(-1)?.text !== text) seen.push({ at: Date.now(), kind, text });
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
}

export async function openScreen(certificate: string, clientIndex: number): Promise<Screen> {
  const client = createClient(clientIndex, certificate);
  const session = await signUp(client, 'screen');
  client.close();
  const browser = await chromium.launch({
    executablePath: await ensureTestBrowser(),
    args: [`--host-resolver-rules=MAP ${HOST_NAME} ${addressOf('balancer')}`, '--ignore-certificate-errors'],
    // Otherwise Playwright ends this process at a signal, before it has removed the cluster.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
  const context = await browser.newContext({ baseURL: PUBLIC_URL, ignoreHTTPSErrors: true });
  const page = await context.newPage();
  let failedAt = -Infinity;
  const noteFailure = (request: Request, isFailed: boolean): void => {
    if (isFailed && request.method() !== 'GET' && request.url().includes('/rest/v1/entries')) failedAt = Date.now();
  };
  page.on('requestfailed', (request) => noteFailure(request, true));
  page.on('response', (response) => noteFailure(response.request(), response.status() >= 500));
  const entry = { key: sessionStorageKey(PUBLIC_URL), value: JSON.stringify(session) };
  await page.addInitScript(({ key, value }) => localStorage.setItem(key, value), entry);
  await page.addInitScript(recordStatuses);
  await page.goto('/journal');
  const editor = page.locator('.ProseMirror[contenteditable=true]');
  await editor.waitFor();
  let isTyping = true;
  const typing = typeItems(page, () => isTyping);
  return {
    userId: session.user.id,
    statusesSince: async (since) => {
      const all = await page.evaluate(() => (window as unknown as { seenStatuses: Status[] }).seenStatuses);
      return all.filter(({ at }) => at >= since);
    },
    hasFailedSince: (since) => failedAt >= since,
    async finish() {
      isTyping = false;
      await typing;
      await page.locator('[role=status][data-kind=saved]').waitFor(SAVED_POLL);
      return editor.locator('li').allTextContents();
    },
    async close() {
      isTyping = false;
      await typing.catch(() => undefined);
      await browser.close();
    },
  };
}

async function typeItems(page: Page, isGoingOn: () => boolean): Promise<void> {
  const editor = page.locator('.ProseMirror[contenteditable=true]');
  for (let count = 1; isGoingOn(); count += 1) {
    await editor.press('ControlOrMeta+End');
    await page.keyboard.type(count === 1 ? 'screen 1' : `\nscreen ${String(count)}`);
    await page.waitForTimeout(TYPE_MS);
  }
}
