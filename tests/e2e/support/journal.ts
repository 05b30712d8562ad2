/** Helpers for tests of the journal: the editor, the status line, days, and the stored log. */
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import { addDays, dayLabel as labelOf, dayOf, type Day } from '#domain/day/day.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import { AUTO_SAVE_DELAY_MS } from '#domain/log/entry.ts';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { expect } from './test.ts';

export const today = (): Day => dayOf(new Date());
export const daysAgo = (count: number): Day => addDays(today(), -count);

export const editor = (page: Page): Locator => page.locator('.ProseMirror[contenteditable=true]');
export const items = (page: Page): Locator => editor(page).locator('li');
export const status = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('status').filter({ hasText: text });
export const dayLabel = (page: Page): Locator => page.getByRole('heading', { level: 1 }).getByRole('button');

export async function expectSaved(page: Page): Promise<void> {
  await expect(status(page, /^Saved \d\d?:\d\d( [AP]M)?$/)).toBeVisible();
}

/** Skips the two seconds between the last keystroke and the save. For pages with `page.clock.install()`. */
export const skipToSave = (page: Page): Promise<void> => page.clock.fastForward(AUTO_SAVE_DELAY_MS);

/** Skips the backoff of a failed save, 7.5 s at most while the page is visible. For pages with `page.clock.install()`. */
export const skipToRetry = (page: Page): Promise<void> => page.clock.fastForward(30_000);

/** Opens a day and waits until it is editable. */
export async function openDay(page: Page, date: Day): Promise<void> {
  await page.goto(`/journal?date=${date}`);
  await expect(editor(page)).toBeVisible();
}

export type Session = { access_token: string; refresh_token: string; user: { id: string; email: string } };

/** Waits for the session of the page's user, for API requests outside the page. */
export async function sessionOf(page: Page): Promise<Session> {
  let session: Session | null = null;
  await expect(async () => {
    const json = await page.evaluate((key) => localStorage.getItem(key), sessionStorageKey(page.url()));
    session = JSON.parse(json!) as Session | null;
    expect(session).not.toBeNull();
  }).toPass({ timeout: 20_000 });
  return session!;
}

export const headersOf = ({ access_token: token }: Session) => ({
  apikey: PUBLISHABLE_KEY,
  authorization: `Bearer ${token}`,
  prefer: 'return=representation',
});

/** The stored log of a day without its header; null if the day has no log. */
export async function readStoredLog(request: APIRequestContext, session: Session, date: Day): Promise<string | null> {
  const answer = await request.get(`/rest/v1/entries?select=content&date=eq.${date}`, { headers: headersOf(session) });
  const rows = (await answer.json()) as { content: string }[];
  return rows[0]?.content.replace(/^<h2[^>]*>.*?<\/h2>/, '') ?? null;
}

/** Stores a day as another device of the same user would. */
export async function storeLog(request: APIRequestContext, session: Session, date: Day, html: string): Promise<void> {
  const answer = await request.post('/rest/v1/entries?on_conflict=user_id,date', {
    headers: { ...headersOf(session), prefer: 'resolution=merge-duplicates' },
    data: { user_id: session.user.id, date, content: html },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** Stores preferences as another device of the same user would. */
export async function storePreferences(
  request: APIRequestContext,
  session: Session,
  preferences: Partial<Preferences>,
): Promise<void> {
  const answer = await request.post('/rest/v1/preferences', {
    headers: { ...headersOf(session), prefer: 'resolution=merge-duplicates' },
    data: { user_id: session.user.id, ...preferences },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** A numbered list, as the editor writes it. */
export const log = (...texts: string[]): string =>
  `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

/** Dispatches a paste event with these clipboard formats. */
export async function paste(page: Page, formats: Record<string, string>): Promise<void> {
  await editor(page).evaluate((element, given) => {
    const clipboardData = new DataTransfer();
    for (const [type, text] of Object.entries(given)) clipboardData.setData(type, text);
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, formats);
}

/** Simulates a tab that is hidden or shown: the browser of the tests shows every page. */
export const setHidden = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate(
    (visibilityState) => {
      Object.defineProperty(document, 'visibilityState', { value: visibilityState, configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    },
    isHidden ? 'hidden' : 'visible',
  );

/** Kills the page's renderer process, so that the page gets no `pagehide` or `beforeunload`. */
export async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  // Never answered: the renderer ends first.
  session.send('Page.crash').catch(() => {});
  await crashed;
  await page.close();
}

/** Holds back the writes of a page. Returns the function that lets them go. */
export async function holdWrites(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/rest/v1/entries*', async (route) => {
    if (route.request().method() !== 'GET') await promise;
    await route.fallback();
  });
  return resolve;
}

export const moveDialog = (page: Page): Locator => page.getByRole('dialog', { name: 'Move this log' });

/** Chooses the day `to` for the log of `from`, whose month is shown first. `to` is at most one month away. */
export async function chooseDay(page: Page, from: Day, to: Day): Promise<void> {
  const dialog = moveDialog(page);
  if (to.slice(0, 7) !== from.slice(0, 7))
    await dialog.getByRole('button', { name: to < from ? /previous month/i : /next month/i }).click();
  await dialog.getByRole('button', { name: new RegExp(`^${labelOf(to)}(, today)?$`) }).click();
}
