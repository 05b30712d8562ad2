/** Two devices of one user: browsers with a session each, and what all of them must agree on in the end. */
import type { APIRequestContext, BrowserContext, BrowserContextOptions, Page } from '@playwright/test';
import type { Day } from '#domain/day/day.ts';
import type { SeededAccount } from '../support/accounts.ts';
import { editor, expectSaved, headersOf, items, log, status, today } from '../support/journal.ts';
import { expect, reportNoIdleTime, test as base } from '../support/test.ts';

type Fixtures = {
  account: SeededAccount;
  /** Opens a day on two devices, today if not given, and waits until both show its items. `texts` are seeded before. */
  openPair: (texts: readonly string[], date?: Day) => Promise<Pair>;
  /** Opens the journal in a browser of its own, with a session of its own. Seed the account's logs before. */
  openDevice: (options?: DeviceOptions) => Promise<Page>;
};

/** Two devices that show the same day. They read changes only when the user comes back to them. */
type Pair = {
  desk: Page;
  other: Page;
  /** See `expectAgreement`. `pages`: the pages to compare, those of both devices if not given. */
  expectAgreed: (typed: readonly string[], pages?: readonly Page[]) => Promise<void>;
};

type DeviceOptions = BrowserContextOptions & {
  /** Runs before the page is opened. */
  prepare?: (page: Page) => Promise<unknown>;
  /** The day that the journal opens on, today if not given. */
  date?: Day;
  /** With `false`, the device reads changes only when the user comes back to it: live updates start in idle time. */
  isLive?: boolean;
};

export const test = base.extend<Fixtures>({
  account: async ({ accounts }, use) => use(await accounts.create()),

  openDevice: async ({ account, accounts, baseURL, browser, openAs, watchPage }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async ({ prepare, date, isLive = true, ...options } = {}) => {
      const context = await browser.newContext({ baseURL: baseURL!, ...options });
      contexts.push(context);
      if (!isLive) await context.addInitScript(reportNoIdleTime);
      const page = await context.newPage();
      await watchPage(page);
      await prepare?.(page);
      await openAs(page, await accounts.signInAgain(account), date && `/journal?date=${date}`);
      await expect(editor(page)).toBeVisible();
      return page;
    });
    for (const context of contexts) await context.close();
  },

  openPair: async ({ account, accounts, openDevice, request }, use) => {
    await use(async (texts, date = today()) => {
      if (texts.length > 0) await accounts.writeLog(account, date, log(...texts));
      const open = () => openDevice({ isLive: false, date });
      const [desk, other] = await Promise.all([open(), open()]);
      for (const page of [desk, other]) await expect(items(page)).toHaveText(texts.length > 0 ? texts : ['']);
      return {
        desk,
        other,
        async expectAgreed(typed, pages = [desk, other]) {
          // A session of its own, because a test may have ended the others.
          const reader = await accounts.signInAgain(account);
          await expectAgreement(
            request,
            reader,
            { [date]: typed },
            pages.map((page) => [page, date]),
          );
        },
      };
    });
  },
});

/** The part of TipTap's editor that tells where the caret is. */
type Caret = { editor: { state: { selection: { to: number }; doc: { content: { size: number } } } } };

/** Places the caret at the end of the log, even if an item of another device is added there meanwhile. */
async function moveToEnd(page: Page): Promise<void> {
  await expect(async () => {
    await editor(page).press('ControlOrMeta+End');
    // The editor learns in a later task that the caret has moved. Until then, typed text goes to the old position.
    const behindCaret = await editor(page).evaluate((element) => {
      const { selection, doc } = (element as unknown as Caret).editor.state;
      return doc.content.size - selection.to;
    });
    // Three positions follow the last letter: the ends of the paragraph, of the item and of the list.
    expect(behindCaret).toBeLessThanOrEqual(3);
  }).toPass({ intervals: [10] });
}

/** Types a new item at the end of the log. */
export async function addItem(page: Page, text: string): Promise<void> {
  const texts = await items(page).allTextContents();
  await moveToEnd(page);
  await page.keyboard.type(texts.join('') === '' ? text : `\n${text}`);
  await expect(items(page).getByText(text, { exact: true })).toBeVisible();
}

/** Deletes these letters at the end of the log and types others. */
export async function replaceEnding(page: Page, from: string, to: string): Promise<void> {
  await expect(items(page).last()).toHaveText(new RegExp(`${from}$`));
  await moveToEnd(page);
  for (let left = from.length; left > 0; left -= 1) await page.keyboard.press('Backspace');
  await page.keyboard.type(to);
  await expect(items(page).last()).toHaveText(new RegExp(`${to}$`));
}

/** Dispatches the event of a return to the page, which then sends unsaved text and reads its day again. */
export const comeBack = (page: Page): Promise<void> =>
  page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));

/** Sends unsaved text at once. */
export async function saveDay(page: Page): Promise<void> {
  await comeBack(page);
  await expectSaved(page);
}

/** Adds an item and saves it at once. */
export async function saveItem(page: Page, text: string): Promise<void> {
  await addItem(page, text);
  await saveDay(page);
}

const itemsOf = (html: string): string[] => [...html.matchAll(/<p>(.*?)<\/p>/g)].map(([, text]) => text!);

/** The items of every day on the server. */
async function readItems(request: APIRequestContext, session: SeededAccount['session']) {
  const answer = await request.get('/rest/v1/entries?select=date,content&order=date', { headers: headersOf(session) });
  const rows = (await answer.json()) as { date: Day; content: string }[];
  return Object.fromEntries(rows.map(({ date, content }) => [date, itemsOf(content)]));
}

/**
 * Waits until each typed item is on the server exactly once, and every page shows its day as the server has it, saved,
 * when the user comes back to it. `typed` has the items of each day, in any order.
 */
export async function expectAgreement(
  request: APIRequestContext,
  { session }: SeededAccount,
  typed: Readonly<Record<Day, readonly string[]>>,
  pages: readonly (readonly [Page, Day])[],
): Promise<void> {
  await expect(async () => {
    const stored = await readItems(request, session);
    const sorted = Object.entries(stored).map(([date, texts]) => [date, texts.toSorted()] as const);
    expect(Object.fromEntries(sorted)).toEqual(
      Object.fromEntries(Object.entries(typed).map(([date, texts]) => [date, texts.toSorted()])),
    );
    for (const [page, date] of pages) {
      expect(new URL(page.url()).searchParams.get('date') ?? date).toBe(date);
      await comeBack(page);
      await expect(items(page)).toHaveText(stored[date]!, { timeout: 1_000 });
      await expect(status(page, /^Saved /)).toBeVisible({ timeout: 1_000 });
    }
    // No late request has changed a day while the pages were compared.
    expect(await readItems(request, session)).toEqual(stored);
  }).toPass({ timeout: 60_000 });
}
