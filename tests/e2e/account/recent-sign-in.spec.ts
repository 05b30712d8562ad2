/** Changes of how an account signs in that need a recent sign-in: an older session is confirmed with a mailed code. */
import { isolate } from '#domain/isolate.ts';
import { MESSAGES } from '#domain/messages.ts';
import { waitForMailedCode, consentAt, addAuthenticator, appCode, seedApp } from '../support/sign-in.ts';
import { inBothThemes, expect, expectToast, loseAnswer, test } from '../support/test.ts';

test('a session older than a day is confirmed by mail before a passkey, an app or a provider is added', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await addAuthenticator(page, { verifiesUser: true });
  await accounts.ageSessions(email, 25);
  await openAs(page, account, '/profile#security');
  const code = page.getByRole('dialog', { name: 'Confirm that it is you' }).getByLabel('Code from your email');
  const enterMailedCode = async (count: number): Promise<void> => {
    await code.fill(await waitForMailedCode(page, email, count));
    await page.keyboard.press('Enter');
  };

  await page.getByRole('button', { name: 'Set up: Passkeys' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(code).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await enterMailedCode(1);
  await expect(page.getByText('The passkey was added. From now on it can sign you in.')).toBeVisible();

  await page.getByRole('button', { name: 'Set up: Two-step verification' }).click();
  await page.getByRole('button', { name: 'Use an authenticator app' }).click();
  await enterMailedCode(2);
  await expect(page.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  const panel = page.getByRole('group', { name: 'Add an authenticator app' });
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('button', { name: 'Use an authenticator app' })).toBeVisible();

  await page.getByRole('button', { name: /: Linked sign-ins$/ }).click();
  await page.getByRole('button', { name: 'Link Google' }).click();
  await enterMailedCode(3);
  await consentAt(page, 'Google', `${crypto.randomUUID()}@example.com`);
  await expectToast(page, 'You can now sign in with Google.');
});

test('a session older than a day is confirmed by mail before a passkey is renamed or removed', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await addAuthenticator(page, { verifiesUser: true });
  await openAs(page, account, '/profile#security');
  await page.getByRole('button', { name: 'Set up: Passkeys' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const name = page.getByLabel('Name of this passkey');
  await expect(name).toBeFocused();
  await accounts.ageSessions(email, 25);

  const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' });
  const code = confirm.getByLabel('Code from your email');
  await name.fill('Laptop');
  await page.keyboard.press('Enter');
  await expect(code).toBeFocused();
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  await expect(name).toHaveValue('Laptop');
  await page.getByRole('button', { name: 'Save name' }).click();
  await code.fill(await waitForMailedCode(page, email, 2));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Rename Laptop' })).toBeFocused();

  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove “Laptop”?' });
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(code).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await code.fill(await waitForMailedCode(page, email, 3));
  await page.keyboard.press('Enter');
  await expectToast(page, `Removed: ${isolate('Laptop')}.`);
  await expect(page.getByRole('button', { name: 'Add a passkey' })).toBeVisible();
});

test.describe('a change that gets no answer', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('is reported after the proof, and can be repeated', async ({ page, request, accounts, openAs }) => {
    const { account, secret } = await seedApp(request, await accounts.create());
    await accounts.ageSessions(account.person.email, 25);
    await openAs(page, account, '/settings');
    await page.getByRole('button', { name: 'Manage tokens' }).click();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('Terminal');
    const make = page.getByRole('button', { name: 'Make token' });
    await make.click();
    const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' });
    const code = confirm.getByLabel('Code from your authenticator app');
    await expect(code).toBeFocused();
    await page.route('**/auth/v1/tokens', loseAnswer, { times: 1 });
    await code.fill(appCode(secret, 1));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert').filter({ hasText: MESSAGES.unexpected })).toBeVisible();
    await expect(confirm).toHaveCount(0);
    await make.click();
    await expect(page.getByText(/^hforge_/)).toBeVisible();

    await page.getByRole('button', { name: 'Done' }).click();
    const tokens = page.getByRole('list', { name: 'Your access tokens' }).getByRole('listitem');
    await expect(tokens, 'one whose answer was lost too').toHaveCount(2);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('Script');
    await page.route('**/auth/v1/tokens', loseAnswer, { times: 1 });
    await make.click();
    await expect(page.getByRole('alert').filter({ hasText: MESSAGES.unexpected })).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(tokens).toHaveCount(3);
  });
});
