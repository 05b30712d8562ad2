/** A phone number on the profile page: added, changed and removed, and signed in with by a texted code. */
import type { Page } from '@playwright/test';
import { waitForMailedCode, waitForTextedCode, newNumber } from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

const codeField = (page: Page) => page.getByLabel('Code from your text message');
const section = (page: Page) =>
  page.locator('section', { has: page.getByRole('heading', { name: 'Phone number' }) }).last();

async function enterNumber(page: Page, phone: string): Promise<void> {
  await section(page)
    .getByRole('textbox', { name: /phone number/i })
    .fill(phone);
  await page.keyboard.press('Enter');
}

/** Asks for a code to the number on the profile page. */
async function addNumber(page: Page, phone: string): Promise<void> {
  await page.getByRole('button', { name: 'Set up: Phone number' }).click();
  await enterNumber(page, phone);
}

async function enterCode(page: Page, code: string): Promise<void> {
  await codeField(page).fill(code);
  await page.keyboard.press('Enter');
}

test('a number that was added on the profile page signs in with a texted code', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  const [phone, next] = [newNumber(), newNumber()];
  await page.clock.install();

  await test.step('a session older than a day is confirmed by mail first', async () => {
    await accounts.ageSessions(email, 25);
    await openAs(page, account, '/profile#security');
    await expect(section(page)).toContainText('None');
    await page.getByRole('button', { name: 'Set up: Phone number' }).click();
    await enterNumber(page, '0151 23');
    const field = page.getByLabel('Phone number', { exact: true });
    await expect(field).toHaveAccessibleDescription(/Start with a plus sign/);
    await inBothThemes(page, expectAccessible);
    await enterNumber(page, phone.replace(/^\+49/, '0049 '));
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByLabel('Code from your email').fill(await waitForMailedCode(page, email));
    await page.keyboard.press('Enter');
    await expect(codeField(page)).toBeFocused();
  });

  await test.step('the code can be wrong, and is sent again after a minute', async () => {
    const code = await waitForTextedCode(page, phone);
    await enterCode(page, code === '000000' ? '000001' : '000000');
    await expect(codeField(page)).toHaveAccessibleDescription(/wrong or has expired.+request a new one/);
    await expect(page.getByRole('button', { name: /^Send again in \d+ s$/ })).toBeDisabled();
    await inBothThemes(page, expectAccessible);
    await page.clock.runFor(60_000);
    await page.getByRole('button', { name: 'Send Again' }).click();
    await expect(page.getByText('We texted you another code.')).toBeVisible();
    await enterCode(page, await waitForTextedCode(page, phone, 2));
    await expectToast(page, 'Texted codes can now sign you in.');
    await expect(section(page)).toContainText(phone);
    await expect(page.getByRole('listitem').filter({ hasText: 'Signed in' })).toHaveCount(1);
  });

  await test.step('another number replaces it, and a cancelled change keeps it', async () => {
    await page.getByRole('button', { name: 'Change the number' }).click();
    await enterNumber(page, phone);
    await expect(page.getByLabel('New phone number')).toHaveAccessibleDescription(/This is your number already/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(section(page)).toContainText(phone);
    await accounts.ageSessions(email, -25);
    await page.getByRole('button', { name: 'Change the number' }).click();
    await expect(page.getByLabel('New phone number')).toBeFocused();
    await enterNumber(page, next);
    await enterCode(page, await waitForTextedCode(page, next));
    await expectToast(page, 'Your phone number was changed.');
    await expect(section(page)).toContainText(next);
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
  });

  await test.step('the texted code opens the page that needed the sign-in', async () => {
    await page.evaluate(() => localStorage.clear());
    await page.goto('/profile');
    await expect(page).toHaveURL('/login');
    await page.getByText('More ways to sign in').click();
    await page.getByRole('button', { name: 'Text me a code' }).click();
    await page.getByLabel('Phone number').fill(next);
    await page.getByRole('button', { name: 'Text me a code' }).click();
    await enterCode(page, await waitForTextedCode(page, next, 2));
    await expect(page).toHaveURL('/profile');
    await page.getByRole('button', { name: 'Show security' }).click();
  });

  await test.step('the number is removed', async () => {
    await page.getByRole('button', { name: 'Change: Phone number' }).click();
    await page.getByRole('button', { name: 'Remove the number' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expectToast(page, 'Removed: Phone.');
    await expect(section(page)).not.toContainText(next);
    await expect(page.getByLabel('Phone number', { exact: true })).toBeVisible();
  });
});

test('a number that cannot be added says so, without naming another account', async ({
  page,
  accounts,
  signUp,
  expectAccessible,
}) => {
  const phone = newNumber();
  await accounts.givePhone((await accounts.create()).person.email, phone);
  await signUp(page, { path: '/profile#security' });
  await addNumber(page, phone);
  await enterCode(page, await waitForTextedCode(page, phone));
  await expect(page.getByText("This number can't be added to your account. Use another number.")).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Use another number' }).click();
  await expect(section(page)).toContainText('None');
  // The simulated provider cannot deliver to this number.
  await enterNumber(page, '+15005550001');
  await expect(page.getByLabel('Phone number', { exact: true })).toHaveAccessibleDescription(
    /couldn't text this number/,
  );
  await expectNoHorizontalScroll(page);
});

test("a stranger's code for the number of the user changes nothing here", async ({ page, accounts, signUp }) => {
  const phone = newNumber();
  await signUp(page, { path: '/profile#security' });
  await addNumber(page, phone);
  await waitForTextedCode(page, phone);
  const { session: stranger } = await accounts.create();
  const headers = { authorization: `Bearer ${stranger.access_token}` };
  expect((await page.request.put('/auth/v1/user', { headers, data: { phone } })).ok()).toBe(true);
  await enterCode(page, await waitForTextedCode(page, phone, 2));
  await expect(page.getByText(/This code was not for your account/)).toBeVisible();
  await page.reload();
  await expect(section(page)).toContainText('None');
});
