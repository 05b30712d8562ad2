/** Signing out with unsaved text: the page asks the user first, and none of the text stays in the browser. */
import type { BrowserContext, Page } from '@playwright/test';
import { dayLabel } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { SHARED_TEXTS_PREFIX, SIGNED_OUT_KEY, sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import { editor, items, openDay, sessionOf, today } from '../support/journal.ts';
import { endSession, readAllStorage as stored, signInOverlay } from '../support/sign-in.ts';
import { inBothThemes, expect, test } from '../support/test.ts';

const SECRET = 'nobody else may read this';
const ENTRIES = '**/rest/v1/entries*';

const question = (page: Page) => page.getByRole('dialog', { name: 'You have unsaved text' });
const problem = (page: Page, text: string) => question(page).getByRole('alert').filter({ hasText: text });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const write = async (page: Page): Promise<void> => {
  await editor(page).click();
  await page.keyboard.type(SECRET);
};
const logOut = async (page: Page): Promise<void> => {
  await button(page, 'Open menu').click();
  await button(page, 'Logout').click();
};

/** Aborts all saves and nothing else. */
const refuseSaves = (context: BrowserContext): Promise<unknown> =>
  context.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()));

test.describe('while saving fails', () => {
  test.use({ expectedErrors: /net::ERR_(FAILED|INTERNET_DISCONNECTED)/ });

  test('sign-out names the unsent days, is cancelled by Escape, and sends the unsaved text when the server is reachable', async ({
    page,
    context,
    signUp,
    expectAccessible,
  }) => {
    await signUp(page);
    await refuseSaves(context);
    await write(page);
    await logOut(page);
    await expect(question(page)).toContainText(dayLabel(today()));
    await expect(button(page, 'Save and sign out')).toBeFocused();
    await inBothThemes(page, expectAccessible);
    await page.keyboard.press('Escape');
    await expect(question(page)).toHaveCount(0);
    await expect(button(page, 'Logout')).toBeFocused();

    await page.keyboard.press('Enter');
    await button(page, 'Save and sign out').click();
    await expect(problem(page, "The text couldn't be saved.")).toBeVisible();
    await button(page, 'Cancel').click();
    await page.keyboard.press('Escape');
    await expect(items(page)).toHaveText([SECRET]);

    await logOut(page);
    await expect(question(page)).toBeVisible();
    await context.unroute(ENTRIES);
    const sent = page.waitForResponse((answer) => answer.request().postData()?.includes(SECRET) ?? false);
    await button(page, 'Save and sign out').click();
    await expect(page).toHaveURL('/');
    expect((await sent).status()).toBe(201);
  });

  test('sign-out wipes discarded text in every tab', async ({ page, context, signUp }) => {
    await signUp(page);
    const { user } = await sessionOf(page);
    const other = await context.newPage();
    await refuseSaves(context);
    await openDay(other, today());
    await write(other);
    await write(page);
    await expect.poll(() => stored(page)).toContain(SECRET);
    await logOut(page);
    await button(page, 'Discard and sign out').click();
    await expect(page).toHaveURL('/');
    await expect(other).toHaveURL('/');
    await expect.poll(() => stored(page)).not.toContain(`"hustle-forge:${user.id}"`);
    const left = await stored(page);
    expect(left).not.toContain(SECRET);
    expect(left).not.toContain(user.email);
    expect(left).not.toContain('hustle-forge:draft');
  });

  test('sign-out keeps text that is typed in another tab after its last check for unsent text', async ({
    page,
    context,
    signUp,
  }) => {
    const { password } = await signUp(page);
    const other = await context.newPage();
    await openDay(other, today());
    await expect(editor(other)).toBeVisible();
    await refuseSaves(context);
    const answered = Promise.withResolvers<void>();
    const signingOut = page.waitForRequest('**/auth/v1/logout*');
    await page.route('**/auth/v1/logout*', async (route) => {
      await answered.promise;
      await route.continue();
    });
    await logOut(page);
    await signingOut;
    await write(other);
    await expect.poll(() => stored(other)).toContain(SECRET);
    answered.resolve();
    await expect(page).toHaveURL('/');

    await expect(signInOverlay(other)).toBeVisible();
    await expect(items(other)).toHaveText([SECRET]);
    await expect.poll(() => stored(other)).toContain(SECRET);
    await context.unroute(ENTRIES);
    const sent = other.waitForResponse((answer) => answer.request().postData()?.includes(SECRET) ?? false);
    await signInOverlay(other).getByLabel('Password').fill(password);
    await signInOverlay(other).getByRole('button', { name: 'Sign in', exact: true }).click();
    expect((await sent).status()).toBe(201);
  });

  test('sign-out offline sends nothing, and discards the text in every tab of this device on request', async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page);
    const other = await context.newPage();
    await openDay(other, today());
    await button(page, 'Open menu').click();
    await expect(button(page, 'Logout')).toBeVisible();
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await write(page);
    await logOut(page);
    await button(page, 'Save and sign out').click();
    await expect(problem(page, 'You are offline')).toBeVisible();
    await button(page, 'Discard and sign out').click();
    await expect(problem(page, MESSAGES.serverUnreachable)).toBeVisible();
    await expect(items(page)).toHaveText([SECRET]);
    await button(page, 'Discard and sign out on this device only').click();
    for (const tab of [page, other]) await expect.poll(() => tab.url()).not.toContain('/journal');
    await context.setOffline(false);
    // A small document of the same origin, to read its storage.
    await page.goto('/healthz');
    expect(await stored(page)).not.toContain(SECRET);
  });
});

test('a sign-out works in a browser whose storage is full', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  });
  await logOut(page);
  await expect(page).toHaveURL('/');
  expect(await stored(page)).not.toContain(email);
});

test('a session that has ended keeps unsent text from another user, and asks before its page is left', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  const { user } = await sessionOf(page);
  await write(page);
  await page.evaluate(
    ([key, text]) => localStorage.setItem(key!, JSON.stringify([text])),
    [`${SHARED_TEXTS_PREFIX}${user.id}`, SECRET],
  );
  await endSession(page);
  await expect(signInOverlay(page)).toBeVisible();

  await test.step('another user is told about text of another account, without reading it', async () => {
    await signUp(page);
    const notice = page.getByRole('dialog', { name: 'Unsent text from another account' });
    await expect(notice.getByRole('listitem')).toHaveText([dayLabel(today()), 'Text shared from another app']);
    await expect(notice).not.toContainText(SECRET);
    await inBothThemes(page, expectAccessible);
    await button(page, 'Discard it').click();
    await expect(notice).toHaveCount(0);
    expect(await stored(page)).not.toContain(SECRET);
  });

  await test.step('leaving the page asks about unsent text', async () => {
    await write(page);
    await endSession(page);
    await button(page, 'Sign out and leave this page').click();
    await expect(question(page)).toContainText(dayLabel(today()));
    await button(page, 'Save and sign out').click();
    await expect(problem(page, 'Your session has ended')).toBeVisible();
    await button(page, 'Discard and sign out').click();
    await expect(page).toHaveURL('/');
    expect(await stored(page)).not.toContain(SECRET);
  });
});

test('a session that ends after a second sign-in of the same user keeps the unsent text', async ({
  page,
  accounts,
}) => {
  const { person, session } = await accounts.create();
  await page.goto('/login');
  // The first sign-out has left this.
  await page.evaluate(
    ([key, value]) => localStorage.setItem(key!, value!),
    [SIGNED_OUT_KEY, `${session.user.id} ${Date.now()}`],
  );
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(editor(page)).toBeVisible();
  await write(page);
  await endSession(page);
  await expect(signInOverlay(page)).toBeVisible();
  await expect(items(page)).toHaveText([SECRET]);
});

test('a tab that gets the broadcast of a sign-out before its storage event shows the overlay until that event', async ({
  page,
  context,
  signUp,
}) => {
  await signUp(page);
  const { user } = await sessionOf(page);
  const key = sessionStorageKey(page.url());
  // A small document of the same origin acts as the tab that signs out.
  const other = await context.newPage();
  await other.goto('/healthz');
  // Browsers deliver a broadcast and a storage change of another tab in any order.
  await other.evaluate((name) => {
    localStorage.removeItem(name);
    new BroadcastChannel(name).postMessage({ event: 'SIGNED_OUT', session: null });
  }, key);
  await expect(signInOverlay(page)).toBeVisible();
  await other.evaluate(
    ([name, value]) => localStorage.setItem(name!, value!),
    [SIGNED_OUT_KEY, `${user.id} ${Date.now()}`],
  );
  await expect(page).toHaveURL('/');
});

test('a tab that misses the broadcasts of another tab follows its storage events', async ({
  page,
  context,
  signUp,
}) => {
  await signUp(page);
  const session = JSON.stringify(await sessionOf(page));
  const key = sessionStorageKey(page.url());
  const other = await context.newPage();
  await other.goto('/healthz');
  await other.evaluate((name) => localStorage.removeItem(name), key);
  await expect(signInOverlay(page)).toBeVisible();
  await other.evaluate(([name, value]) => localStorage.setItem(name!, value!), [key, session]);
  await expect(signInOverlay(page)).toHaveCount(0);
});
