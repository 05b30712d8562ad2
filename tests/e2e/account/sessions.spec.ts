/** The list of signed-in devices on the profile page. */
import type { Page } from '@playwright/test';
import { expectNoHorizontalScroll, inBothThemes, expect, reportNoIdleTime, test } from '../support/test.ts';
import { signInOverlay } from '../support/sign-in.ts';

const list = (page: Page) => page.getByRole('group', { name: 'Signed-in devices' });
const rows = (page: Page) => list(page).getByRole('listitem');

test('the profile lists the devices, signs one of them out and then all others', async ({
  page,
  browser,
  baseURL,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email, password } = account.person;
  await openAs(page, account, '/profile#security');
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
  const other = await accounts.signInAgain(account);

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
  const device = await browser.newContext({ baseURL: baseURL! });
  await device.addInitScript(reportNoIdleTime);
  const otherPage = await device.newPage();
  await openAs(otherPage, other, '/profile#security');
  await expect(signInOverlay(otherPage)).toBeVisible();
  await device.close();
});

test('security is one folded section that sums itself up, keeps what was begun, and opens by a link', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  await page.setViewportSize({ width: 360, height: 620 });
  const account = await accounts.create();
  await accounts.signInAgain(account);
  await openAs(page, account, '/profile');
  await expect(page.getByText('Two-step verification off, no passkeys, 2 devices')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Two-step verification' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Show security' }).press('Enter');
  for (const name of [
    'Two-step verification',
    'Passkeys',
    'Phone number',
    'Linked sign-ins',
    'Where you are signed in',
  ])
    await expect(page.getByRole('heading', { name, level: 3 })).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  const phone = page.getByLabel('Phone number', { exact: true });
  await page.getByRole('button', { name: 'Set up: Phone number' }).click();
  await phone.fill('+4915123');
  await page.getByRole('button', { name: 'Hide security' }).click();
  await expect(phone).toBeHidden();
  await expect(page.getByRole('button', { name: 'Show security' })).toBeFocused();
  await page.getByRole('button', { name: 'Show security' }).click();
  await expect(phone).toHaveValue('+4915123');

  await list(page).getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(page.getByText('Two-step verification off, no passkeys, 1 device')).toBeVisible();
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('the lists of devices and passkeys say that they could not be loaded, and load on a second try', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await page.route('**/auth/v1/sessions', (route) => route.abort());
    await page.route('**/auth/v1/passkeys', (route) => route.fulfill({ status: 400, body: '{}' }));
    await signUp(page, { path: '/profile#security' });
    await page.getByRole('button', { name: 'Set up: Passkeys' }).click();
    await expect(page.getByText("Couldn't load your passkeys. They still work.")).toBeVisible();
    await expect(list(page).getByRole('alert')).toHaveText("Couldn't load your devices. You stay signed in.");
    await inBothThemes(page, expectAccessible);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await expect(page.getByText("Couldn't load your passkeys.")).toHaveCount(0);

    await page.route('**/auth/v1/sessions', (route) => route.fulfill({ json: { sessions: sameMinuteSessions() } }));
    await list(page).getByRole('button', { name: 'Try again' }).click();
    await test.step('the list shows seconds only for sign-ins of one device within a minute', async () => {
      await expect(rows(page).getByText('Signed in')).toHaveText(
        ['12:01:05 AM', '12:01:40 AM', '12:02 AM', '12:01 AM'].map((time) => `Signed in today at ${time}`),
      );
      const names = await rows(page)
        .getByRole('button')
        .evaluateAll((all) => all.map((each) => each.ariaLabel));
      expect(new Set(names).size, 'names that tell the buttons apart').toBe(4);
    });
  });
});

function sameMinuteSessions() {
  const today = new Date().toDateString();
  const session = (id: string, device: string, time: string) => {
    const signedInAt = new Date(`${today} ${time}`).toISOString();
    return { id, device, created_at: signedInAt, last_seen_at: signedInAt, current: false };
  };
  return [
    session('1', 'Firefox on Linux', '00:01:05'),
    session('2', 'Firefox on Linux', '00:01:40'),
    session('3', 'Firefox on Linux', '00:02:40'),
    session('4', 'Chrome on Linux', '00:01:40'),
  ];
}
