/** Passkeys on the profile page: added, named and removed, and what the page shows when that fails. */
import { isolate } from '#domain/isolate.ts';
import { editor } from '../support/journal.ts';
import { addAuthenticator, endSession, signInOverlay } from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, loseAnswer, test } from '../support/test.ts';

test.use({ expectedErrors: /status of 502|net::ERR_FAILED/ });

test('the owner adds, names and removes a passkey, which signs in meanwhile', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const authenticator = await addAuthenticator(page, { verifiesUser: true });
  await signUp(page, { path: '/profile#security' });
  const open = page.getByRole('button', { name: 'Set up: Passkeys' });
  await open.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Close: Passkeys' })).toBeFocused();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByText('The passkey was added. From now on it can sign you in.')).toBeVisible();
  expect(await authenticator.listCredentials()).toHaveLength(1);

  await test.step('a new passkey asks for a name', async () => {
    const name = page.getByLabel('Name of this passkey');
    await expect(name).toBeFocused();
    await inBothThemes(page, expectAccessible);
    await name.fill(' ');
    await page.keyboard.press('Enter');
    await expect(name).toHaveAccessibleDescription(/Enter a name/);
    await name.fill('Work laptop');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('list', { name: 'Your passkeys' })).toContainText('Work laptop');
    await expect(page.getByRole('button', { name: 'Rename Work laptop' })).toBeFocused();
  });

  await test.step('a device holds one passkey for an account', async () => {
    await page.getByRole('button', { name: 'Add another passkey' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'This device already has a passkey' })).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
  });

  await test.step('the passkey signs in', async () => {
    await page.evaluate(() => localStorage.clear());
    // Loading the page is enough: the simulated authenticator accepts at once what the page's autofill offers.
    await page.goto('/login');
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    // The sign-in overlay offers passkeys to an account that is known to have one.
    await endSession(page);
    const overlay = signInOverlay(page);
    await overlay.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(overlay).toHaveCount(0);
    await page.goto('/profile#security');
    await expect(page.getByText('1 passkey', { exact: true })).toBeVisible();
  });

  await test.step('a removal asks first', async () => {
    await page.getByRole('button', { name: 'Change: Passkeys' }).click();
    await expect(page.getByText(/Last used/)).toBeVisible();
    const remove = page.getByRole('button', { name: 'Remove Work laptop' });
    await remove.click();
    const dialog = page.getByRole('dialog', { name: 'Remove “Work laptop”?' });
    await expect(dialog).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expect(remove).toBeFocused();
    await remove.click();
    // Pages of a proxy: one without its server, and one that asks to sign in.
    for (const status of [502, 200]) {
      const answer = { status, contentType: 'text/html', body: '<h1>A proxy</h1>' };
      await page.route('**/passkeys/*', (route) => route.fulfill(answer), { times: 1 });
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await expect(dialog.getByRole('alert').filter({ hasText: /./ }).first()).toBeVisible();
    }
    await page.route('**/passkeys/*', loseAnswer, { times: 1 });
    const failed = page.waitForEvent('requestfailed');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await failed;
    // It is gone, although its answer was lost.
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await expectToast(page, `Removed: ${isolate('Work laptop')}.`);
    await expect(page.getByRole('button', { name: 'Add a passkey' })).toBeVisible();
  });
});
