/** The editor that takes keys before React has started: the text, the caret and the drafts of its first moments. */
import type { BrowserContext, Page } from '@playwright/test';
import { DRAFT_PREFIX, sessionStorageKey, TODAY_COPY_PREFIX } from '#client/lib/session/storage-keys.ts';
import type { Accounts, SeededAccount } from '../support/accounts.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  sessionOf,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expect, test } from '../support/test.ts';
import { signInOverlay } from '../support/sign-in.ts';

const REACT = '**/assets/shell-*.js';
const WRITTEN = log('written before');

/** Holds React back until the returned function is called. */
async function holdReact(context: BrowserContext): Promise<() => void> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await context.route(REACT, async (route) => {
    await released;
    await route.continue();
  });
  return () => release();
}

/** Signs the user of an account in, in a browser that shows any page of the product. */
const storeSession = (page: Page, { session }: SeededAccount): Promise<void> =>
  page.evaluate(([key, value]) => localStorage.setItem(key, value), [
    sessionStorageKey(page.url()),
    JSON.stringify(session),
  ] as const);

/** Prepares a browser as a visit of the journal leaves it: with a session, and a copy of today's log in localStorage. */
async function seedCopy(page: Page, accounts: Accounts): Promise<SeededAccount> {
  const account = await accounts.create();
  const { session } = account;
  await accounts.writeLog(account, today(), WRITTEN);
  const answer = await page.request.get('/rest/v1/entries?select=id,revision', { headers: headersOf(session) });
  const [row] = (await answer.json()) as { id: string; revision: number }[];
  await page.goto('/healthz');
  await storeSession(page, account);
  await page.evaluate(([key, value]) => localStorage.setItem(key, value), [
    TODAY_COPY_PREFIX + session.user.id,
    JSON.stringify({ date: today(), ...row, html: WRITTEN, savedAt: Date.now() }),
  ] as const);
  return account;
}

/** False while `#root` is empty: then the page shows only the editor that works before React. */
const hasReact = (page: Page): Promise<boolean> => page.evaluate(() => document.querySelector('#root:empty') === null);

/** Lets React start on the next load, which must find the draft of a page that had none. */
async function expectFoundAfterReload(page: Page, session: SeededAccount['session'], text: string): Promise<void> {
  await page.context().unroute(REACT);
  await page.goto('/journal');
  await expect(items(page)).toHaveText([text]);
  await expectSaved(page);
  await expect.poll(() => readStoredLog(page.context().request, session, today())).toBe(log(text));
}

test('text typed before React starts is saved, and caret and undo stay where they were', async ({
  page,
  context,
  signUp,
  expectAccessible,
}) => {
  await signUp(page, { logs: { [today()]: WRITTEN } });
  const session = await sessionOf(page);
  await expect.poll(() => page.evaluate(() => Object.keys(localStorage).join())).toContain(TODAY_COPY_PREFIX);
  await page.goto('/healthz');
  const startReact = await holdReact(context);
  await page.goto('/journal', { waitUntil: 'commit' });
  await expect(editor(page)).toBeFocused();
  await expect(page.getByRole('textbox', { name: /^Log for / })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.type(', typed early');
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft');
  expect(await hasReact(page)).toBe(false);
  await page.evaluate(() => document.fonts.ready);
  const place = await editor(page).boundingBox();

  startReact();
  await expect(page.locator('#root')).toBeVisible();
  await expect(editor(page)).toHaveCount(1);
  await expect(editor(page)).toBeFocused();
  await expect.poll(() => editor(page).boundingBox()).toEqual(place);
  await page.keyboard.type('very ');
  await expect(items(page)).toHaveText(['written before, typed very early']);
  await expectSaved(page);
  await expect
    .poll(() => readStoredLog(context.request, session, today()))
    .toBe(log('written before, typed very early'));
  await page.keyboard.press('ControlOrMeta+z');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText(['written before']);
});

test('text typed before React starts is found again after a reload, and a click on the bar or a shortcut waits for React', async ({
  page,
  context,
  accounts,
}) => {
  const { session } = await seedCopy(page, accounts);
  await holdReact(context);
  await page.goto('/journal', { waitUntil: 'commit' });
  await expect(editor(page)).toBeFocused();
  await page.keyboard.type(', and lost by nobody');
  await expectFoundAfterReload(page, session, 'written before, and lost by nobody');

  await test.step('a click on the bar', async () => {
    const copied = () => page.evaluate(() => JSON.stringify(localStorage));
    await expect.poll(copied).toContain(TODAY_COPY_PREFIX);
    await expect.poll(copied).not.toContain(DRAFT_PREFIX);
    const startReact = await holdReact(context);
    await page.goto('/journal', { waitUntil: 'commit' });
    await page.getByRole('button', { name: 'Open menu' }).click();
    expect(await hasReact(page)).toBe(false);
    startReact();
    await expect(page.getByRole('dialog')).toBeVisible();
  });

  await test.step('a shortcut', async () => {
    const startReact = await holdReact(context);
    await page.goto('/journal', { waitUntil: 'commit' });
    await expect(editor(page)).toBeFocused();
    await page.keyboard.press('Alt+ArrowLeft');
    expect(await hasReact(page)).toBe(false);
    startReact();
    await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
  });
});

test('a word that is being composed stays whole, and React takes over after it', async ({
  page,
  context,
  accounts,
}) => {
  await seedCopy(page, accounts);
  const startReact = await holdReact(context);
  await page.goto('/journal', { waitUntil: 'commit' });
  await expect(editor(page)).toBeFocused();
  const devtools = await context.newCDPSession(page);
  const compose = (text: string) =>
    devtools.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await compose(' kom');
  startReact();
  await expect.poll(() => hasReact(page)).toBe(true);
  // React has rendered the day, but the early editor stays on top until the composition ends.
  await expect(page.locator('#root main')).toBeAttached();
  await compose(' kompo');
  await expect(page.locator('#root')).toBeHidden();
  await devtools.send('Input.insertText', { text: ' komposita' });
  await expect(page.locator('#root')).toBeVisible();
  await expect(items(page)).toHaveText(['written before komposita']);
  await expect(editor(page)).toBeFocused();
  await expectSaved(page);
});

test('text typed early on an ended session is kept as a draft until the user signs in again', async ({
  page,
  context,
  accounts,
}) => {
  const { person, session } = await seedCopy(page, accounts);
  const startReact = await holdReact(context);
  await page.goto('/journal', { waitUntil: 'commit' });
  await expect(editor(page)).toBeFocused();
  await page.keyboard.type(', typed after the end');
  await context.request.post('/auth/v1/logout?scope=global', { headers: headersOf(session) });
  startReact();
  const overlay = signInOverlay(page);
  await expect(overlay).toBeVisible();
  const drafts = () =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('hustle-forge:draft:')).length);
  await expect.poll(drafts).toBe(1);
  await overlay.getByLabel('Password').fill(person.password);
  await overlay.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expectSaved(page);
  const again = await sessionOf(page);
  await expect
    .poll(() => readStoredLog(context.request, again, today()))
    .toBe(log('written before, typed after the end'));
});

test.describe('in a browser without a copy of today', () => {
  /** Opens the journal of a user whose session alone is in the browser, without React. */
  async function openFirst(page: Page, accounts: Accounts, text: string | null) {
    const account = await accounts.create();
    if (text !== null) await accounts.writeLog(account, today(), log(text));
    await page.goto('/healthz');
    await storeSession(page, account);
    const startReact = await holdReact(page.context());
    return { ...account, startReact };
  }

  for (const [day, text, typed] of [
    ['a day with a log', 'written elsewhere', 'written elsewhere, typed early'],
    ['an empty day', null, ', typed early'],
  ] as const)
    test(`text typed on ${day} before React starts is saved`, async ({ page, context, accounts }) => {
      const { session, startReact } = await openFirst(page, accounts, text);
      await page.goto('/journal', { waitUntil: 'commit' });
      await expect(editor(page)).toBeFocused();
      await page.keyboard.type(', typed early');
      expect(await hasReact(page)).toBe(false);
      startReact();
      await expect(page.locator('#root')).toBeVisible();
      await expect(editor(page)).toBeFocused();
      await expect(items(page)).toHaveText([typed]);
      await expectSaved(page);
      await expect.poll(() => readStoredLog(context.request, session, today())).toBe(log(typed));
    });

  test('text typed on an empty day is found again if React never starts', async ({ page, accounts }) => {
    const { session } = await openFirst(page, accounts, null);
    await page.goto('/journal', { waitUntil: 'commit' });
    await expect(editor(page)).toBeFocused();
    await page.keyboard.type('lost by nobody');
    // The draft is newer than the server's answer, so React opens the day.
    await expectFoundAfterReload(page, session, 'lost by nobody');
  });

  test('React opens the journal if the answer is not of the server', async ({ page, context, accounts }) => {
    const { startReact } = await openFirst(page, accounts, 'written elsewhere');
    await context.route('**/rest/v1/entries?*', (route) => route.fulfill({ json: { portal: 'Sign in' } }), {
      times: 1,
    });
    await page.goto('/journal', { waitUntil: 'commit' });
    await expect(page.getByRole('button', { name: 'Open menu' })).toBeVisible();
    startReact();
    await expect(items(page)).toHaveText(['written elsewhere']);
  });
});

test('the copy of another user is never shown', async ({ page, context, accounts }) => {
  await seedCopy(page, accounts);
  await storeSession(page, await accounts.create());

  const startReact = await holdReact(context);
  const held = page.waitForRequest(REACT);
  await page.goto('/journal', { waitUntil: 'commit' });
  await held;
  await expect(items(page)).toHaveText(['']);
  startReact();
  await expect(page.locator('#root')).toBeVisible();
  await expect(items(page)).toHaveText(['']);
  await expect(page.getByText('written before')).toHaveCount(0);
  const copies = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes(':today:')).length);
  await expect.poll(copies).toBe(0);
});
