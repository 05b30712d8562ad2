/** The shortest proof that everything is wired together: pages, styles, headers, account, journal. */
import { dayOf } from '#domain/day/day.ts';
import { expect, test } from './support/test.ts';

test('a visitor finds the landing page and reaches the sign-up form', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.getByRole('link', { name: 'Start Logging' }).first().click();
  await expect(page).toHaveURL('/signup');
  await expect(page.getByLabel('Email address')).toBeVisible();
});

test('somebody who has signed up can write at once', async ({ page, signUp }) => {
  await signUp(page);
  await expect(page.locator('.ProseMirror')).toBeEditable();
});

test('an address that does not exist leads home', async ({ page }) => {
  await page.goto('/no-such-page');
  await expect(page).toHaveURL('/');
});

test('what the early script has asked for is not asked for again', async ({ page, signUp }) => {
  await signUp(page);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/rest/v1/')) asked.push(request.url());
  });
  await page.reload();
  await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
  // What shows the plan and the days that have logs has asked for them by then, or found them asked for.
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog', { name: 'Menu' }).getByText('Dabbler')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  // An address of the script's that differs from the app's by a letter would be sent beside it.
  expect(asked.filter((url) => url.includes(`date=eq.${dayOf(new Date())}`))).toHaveLength(1);
  expect(asked.filter((url) => url.includes('select=date'))).toHaveLength(1);
  expect(asked.filter((url) => url.includes('/profiles'))).toHaveLength(1);
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
});
