/** Signing out with words that the server does not have: it asks, and then nothing of the user is left in the browser. */
import type { BrowserContext, Page } from '@playwright/test';
import { dayLabel } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { editor, items, openDay, sessionOf, today } from '../support/journal.ts';
import { endSession } from '../support/session.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

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

/** Saving fails; everything else works. */
const refuseSaves = (context: BrowserContext): Promise<unknown> =>
  context.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()));

/** Every word that scripts and tools can find in this browser. */
const kept = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));

test.describe('while saving fails', () => {
  test.use({ expectedErrors: /net::ERR_(FAILED|INTERNET_DISCONNECTED)/ });

  test('names the days, stays on Escape, and sends once it can', async ({
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

  test('wipes what was discarded, in every tab', async ({ page, context, signUp }) => {
    await signUp(page);
    const { user } = await sessionOf(page);
    const other = await context.newPage();
    await refuseSaves(context);
    await openDay(other, today());
    await write(other);
    await write(page);
    await expect.poll(() => kept(page)).toContain(SECRET);
    await logOut(page);
    await button(page, 'Discard and sign out').click();
    await expect(page).toHaveURL('/');
    await expect(other).toHaveURL('/');
    const left = await kept(page);
    expect(left).not.toContain(SECRET);
    expect(left).not.toContain(user.email);
    expect(left).not.toContain('hustle-forge:draft');
  });

  test('keeps what is typed in another tab after the last look for unsent words', async ({ page, context, signUp }) => {
    const { password } = await signUp(page);
    const other = await context.newPage();
    await openDay(other, today());
    await expect(editor(other)).toBeVisible();
    await refuseSaves(context);
    const told = Promise.withResolvers<void>();
    const signingOut = page.waitForRequest('**/auth/v1/logout*');
    await page.route('**/auth/v1/logout*', async (route) => {
      await told.promise;
      await route.continue();
    });
    await logOut(page);
    await signingOut;
    await write(other);
    await expect.poll(() => kept(other)).toContain(SECRET);
    told.resolve();
    await expect(page).toHaveURL('/');

    const overlay = other.getByRole('dialog', { name: 'Sign in again' });
    await expect(overlay).toBeVisible();
    await expect(items(other)).toHaveText([SECRET]);
    await expect.poll(() => kept(other)).toContain(SECRET);
    await context.unroute(ENTRIES);
    const sent = other.waitForResponse((answer) => answer.request().postData()?.includes(SECRET) ?? false);
    await overlay.getByLabel('Password').fill(password);
    await overlay.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect((await sent).status()).toBe(201);
  });

  test('says that nothing can be sent offline, and leaves this device alone when asked to', async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page);
    await button(page, 'Open menu').click();
    await expect(button(page, 'Logout')).toBeVisible();
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await write(page);
    await logOut(page);
    await button(page, 'Save and sign out').click();
    await expect(problem(page, 'You are offline')).toBeVisible();
    await button(page, 'Discard and sign out').click();
    await expect(problem(page, 'the server could not be reached')).toBeVisible();
    await expect(items(page)).toHaveText([SECRET]);
    await button(page, 'Discard and sign out on this device only').click();
    await expect.poll(() => page.url()).not.toContain('/journal');
    await context.setOffline(false);
    await page.goto(ROUTES.terms.path);
    expect(await kept(page)).not.toContain(SECRET);
  });
});

test('leaving a page whose session has ended asks as well', async ({ page, signUp }) => {
  await signUp(page);
  await write(page);
  await endSession(page);
  await button(page, 'Leave this page instead').click();
  await expect(question(page)).toContainText(dayLabel(today()));
  await button(page, 'Save and sign out').click();
  await expect(problem(page, 'Your session has ended')).toBeVisible();
  await button(page, 'Discard and sign out').click();
  await expect(page).toHaveURL('/');
  expect(await kept(page)).not.toContain(SECRET);
});

test('another user is told of unsent words that are not theirs, and can discard them', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  await write(page);
  await endSession(page);
  await expect(page.getByRole('dialog', { name: 'Sign in again' })).toBeVisible();
  await signUp(page);
  const told = page.getByRole('dialog', { name: 'Another account has unsent words here' });
  await expect(told).toContainText(dayLabel(today()));
  await expect(told).not.toContainText(SECRET);
  await inBothThemes(page, expectAccessible);
  await button(page, 'Discard them').click();
  await expect(told).toHaveCount(0);
  expect(await kept(page)).not.toContain(SECRET);
});

test('a session that ends after a second sign-in of the same user keeps the unsent words', async ({ page, signUp }) => {
  const { email, password } = await signUp(page);
  await logOut(page);
  await expect(page).toHaveURL('/');
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(editor(page)).toBeVisible();
  await write(page);
  await endSession(page);
  await expect(page.getByRole('dialog', { name: 'Sign in again' })).toBeVisible();
  await expect(items(page)).toHaveText([SECRET]);
});
