/** The list of signed-in devices on the profile page. */
import type { Page } from '@playwright/test';
import { ageSessions } from '../support/database.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

const list = (page: Page) => page.getByRole('group', { name: 'Signed-in devices' });
const rows = (page: Page) => list(page).getByRole('listitem');

test('the profile lists the devices, signs one of them out and then all others', async ({
  page,
  browser,
  baseURL,
  signUp,
  expectAccessible,
}) => {
  const { email, password } = await signUp(page, { path: '/profile' });
  await expect(rows(page)).toHaveCount(1);
  await expect(list(page)).toContainText('You are signed in on this device only.');

  const signIn = async (userAgent: string): Promise<void> => {
    const answer = await page.request.post('/auth/v1/token?grant_type=password', {
      headers: { 'User-Agent': userAgent },
      data: { email, password },
    });
    expect(answer.ok()).toBe(true);
  };
  await signIn('Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0');
  await signIn('Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36');
  const context = await browser.newContext({ baseURL: baseURL! });
  const other = await context.newPage();
  await other.goto('/login');
  await other.getByLabel('Email address').fill(email);
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await expect(other).toHaveURL('/journal');

  await page.reload();
  await expect(rows(page)).toHaveCount(4);
  await expect(rows(page).first()).toContainText('This device');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await list(page)
    .getByRole('button', { name: /^Sign out Firefox on Linux, signed in/ })
    .press('Enter');
  await expect(list(page).getByRole('status')).toHaveText('Signed out: Firefox on Linux.');
  await expect(rows(page)).toHaveCount(3);
  await expect(list(page)).toBeFocused();

  await list(page).getByRole('button', { name: 'Sign out everywhere else' }).press('Enter');
  await expect(list(page).getByRole('status')).toHaveText('Signed out everywhere else.');
  await expect(rows(page)).toHaveCount(1);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
  await other.goto('/profile');
  await expect(other.getByRole('dialog', { name: 'Sign in again' })).toBeVisible();
  await context.close();
});

test('the list tells two sign-ins of one device and day apart', async ({ page, baseURL, accounts, openAs }) => {
  const account = await accounts.create();
  const { email, password } = account.person;
  const signIn = () => page.request.post('/auth/v1/token?grant_type=password', { data: { email, password } });
  await signIn();
  await ageSessions(baseURL!, email, 2);
  await signIn();
  await openAs(page, account, '/profile');
  const others = rows(page).filter({ has: page.getByRole('button') });
  await expect(others).toHaveText(Array(2).fill(/Signed in (today|yesterday) at \d\d:\d\d/));
  const [first, second] = await others.allTextContents();
  expect(first).not.toBe(second);
  const names = await others.getByRole('button').evaluateAll((all) => all.map((each) => each.ariaLabel));
  expect(new Set(names).size).toBe(2);
});

test('the list shows seconds only for sign-ins of one device within a minute', async ({ page, signUp }) => {
  const today = new Date().toDateString();
  const session = (id: string, device: string, time: string) => {
    const signedInAt = new Date(`${today} ${time}`).toISOString();
    return { id, device, created_at: signedInAt, last_seen_at: signedInAt, current: false };
  };
  const sessions = [
    session('1', 'Firefox on Linux', '00:01:05'),
    session('2', 'Firefox on Linux', '00:01:40'),
    session('3', 'Firefox on Linux', '00:02:40'),
    session('4', 'Chrome on Linux', '00:01:40'),
  ];
  await page.route('**/auth/v1/sessions', (route) => route.fulfill({ json: { sessions } }));
  await signUp(page, { path: '/profile' });
  await expect(rows(page).getByText('Signed in')).toHaveText(
    ['00:01:05', '00:01:40', '00:02', '00:01'].map((time) => `Signed in today at ${time}`),
  );
});

test('the list loses the devices that a change of the password signs out', async ({ page, accounts, openAs }) => {
  const account = await accounts.create();
  await accounts.signInAgain(account);
  await openAs(page, account, '/profile');
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel('New Password', { exact: true }).fill('battery staple 9');
  await page.getByLabel('Confirm New Password').fill('battery staple 9');
  await page.getByRole('button', { name: 'Update Profile' }).click();
  await expect(rows(page)).toHaveCount(1);
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('the list says that it could not be loaded, and loads on a second try', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await page.route('**/auth/v1/sessions', (route) => route.abort());
    await signUp(page, { path: '/profile' });
    await expect(list(page).getByRole('alert')).toHaveText("Couldn't load your devices. You stay signed in.");
    await expectAccessible(page);
    await page.unroute('**/auth/v1/sessions');
    await list(page).getByRole('button', { name: 'Try again' }).click();
    await expect(rows(page)).toHaveCount(1);
  });
});
