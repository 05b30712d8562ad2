/** A change of password in a session that is older than a day: a code from the mailbox comes first. */
import { waitForMailedCode } from '../../../scripts/screenshots/sandbox-mail.ts';
import { ageSessions } from '../support/database.ts';
import { expectSignsIn } from '../support/session.ts';
import { expect, test } from '../support/test.ts';

test('whoever signed in long ago proves it with a code before a password changes', async ({
  page,
  signUp,
  baseURL,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await ageSessions(baseURL!, email, 25);
  await page.goto('/profile');
  await page.getByLabel('New Password', { exact: true }).fill('a new horse');
  await page.getByLabel('Confirm New Password').fill('a new horse');
  const update = page.getByRole('button', { name: 'Update Profile' });
  await update.click();
  await expect(
    page.getByRole('alert').filter({ hasText: 'You signed in a while ago. Enter the code that we sent you' }),
  ).toBeVisible();
  const code = page.getByLabel('Code from your e-mail');
  await expect(code).toBeFocused();
  await expectAccessible(page);

  const sent = await waitForMailedCode(page, email);
  expect(sent, 'the code in the mail').toMatch(/^\d{6}$/);

  await code.fill(sent === '000000' ? '000001' : '000000');
  await update.click();
  await expect(code).toHaveAttribute('aria-invalid', 'true');
  await code.fill(sent);
  await update.click();
  await expect(page.getByText('Profile updated successfully')).toBeVisible();
  await expect(code).toBeHidden();

  await expectSignsIn(page, email, 'a new horse');
});
