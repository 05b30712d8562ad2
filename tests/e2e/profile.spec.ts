/** The profile page: the plan, and changes of name, address and password. */
import type { Locator, Page } from '@playwright/test';
import { MESSAGES } from '#domain/messages.ts';
import { waitForMailedCode, waitForMailedLink, signInByPassword, signInOverlay } from './support/sign-in.ts';
import { headersOf, sessionOf } from './support/journal.ts';
import {
  expectNoHorizontalScroll,
  inBothThemes,
  inForcedColorsAndPrint,
  expect,
  expectToast,
  test,
} from './support/test.ts';

const update = (page: Page) => page.getByRole('button', { name: 'Update Profile' }).click();
const expectAbove = async (above: Locator, below: Locator): Promise<void> => {
  const gap = async (): Promise<number> => {
    const [first, second] = await Promise.all([above.boundingBox(), below.boundingBox()]);
    return second!.y - first!.y - first!.height;
  };
  await expect.poll(gap).toBeGreaterThanOrEqual(0);
};
const updatedMessage = (page: Page) => page.getByRole('status').filter({ hasText: 'Profile updated successfully' });

test('the profile shows the plan, rejects an invalid form, and changes name and password', async ({
  page,
  accounts,
  openAs,
  admin,
  expectAccessible,
}) => {
  const account = await accounts.create();
  await accounts.signInAgain(account);
  const { name, email } = account.person;
  await openAs(page, account, '/profile#security');
  const devices = page.getByRole('group', { name: 'Signed-in devices' }).getByRole('listitem');
  await expect(page.getByText('Subscription Details')).toBeVisible();
  await expect(page.getByText('Dabbler', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();
  await page.getByRole('button', { name: 'Maybe Later' }).click();
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeFocused();

  await test.step('an invalid form', async () => {
    await page.getByLabel('Full Name').fill('   ');
    await update(page);
    await expect(page.locator('[name="name"]:invalid')).toBeFocused();
    await page.getByLabel('Full Name').fill(name);
    await update(page);
    await expect(page.getByRole('alert').filter({ hasText: 'No changes to save' })).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await inForcedColorsAndPrint(page, expectAccessible);
    await page.setViewportSize({ width: 360, height: 620 });
    await page.getByLabel('New Password', { exact: true }).fill('a new horse');
    await update(page);
    const mismatch = page.getByRole('alert').filter({ hasText: 'Passwords do not match' });
    await expect(mismatch).toBeInViewport({ ratio: 1 });
    await expectAbove(mismatch, page.getByLabel('Full Name'));
    const isNew = await mismatch.evaluateHandle((banner) => () => !banner.isConnected);
    await update(page);
    // Only a new element is announced again.
    await expect.poll(() => isNew.evaluate((isGone) => isGone())).toBe(true);
    await expect(mismatch).toBeInViewport({ ratio: 1 });
  });

  await test.step('a new name and password, which signs the other device out', async () => {
    await expect(devices).toHaveCount(2);
    await page.getByLabel('Full Name').fill('Grace Brown');
    await page.getByLabel('Confirm New Password').fill('a new horse');
    await update(page);
    await expect(updatedMessage(page)).toBeInViewport({ ratio: 1 });
    await expectAbove(updatedMessage(page), page.getByLabel('Full Name'));
    await expect(page.getByLabel('New Password', { exact: true })).toHaveValue('');
    await expect(devices).toHaveCount(1);
    await signInByPassword(page.request, { email, password: 'a new horse' });
    await page.getByRole('link', { name: 'Back to Journal' }).click();
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(page.getByRole('dialog')).toContainText('Grace Brown');
  });

  await test.step('the plan of a Closer', async () => {
    await admin('plan:grant', email, '--days', '365');
    await page.goto('/profile');
    await expect(page.getByText("You're a Closer")).toBeVisible();
    await expect(page.getByText('Valid Until')).toBeVisible();
    await expect(page.getByText(/^[A-Z][a-z]+ \d+, \d{4}$/)).toBeVisible();
    await expectNoHorizontalScroll(page);
  });
});

test('a session older than a day needs a code from the mailbox to change the password', async ({
  page,
  accounts,
  openAs,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await accounts.ageSessions(email, 25);
  await openAs(page, account, '/profile#security');
  await page.getByLabel('New Password', { exact: true }).fill('a new horse');
  await page.getByLabel('Confirm New Password').fill('a new horse');
  await update(page);
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  const code = dialog.getByLabel('Code from your email');
  await expect(code).toBeFocused();

  const sent = await waitForMailedCode(page, email);
  await code.fill(sent === '000000' ? '000001' : '000000');
  await code.press('Enter');
  await expect(code).toHaveAttribute('aria-invalid', 'true');
  await code.fill(sent);
  await code.press('Enter');
  await expect(updatedMessage(page)).toBeVisible();
  await expect(dialog).toHaveCount(0);

  // Cancelling the dialog changes nothing.
  await page.getByLabel('New Password', { exact: true }).fill('a newer horse');
  await page.getByLabel('Confirm New Password').fill('a newer horse');
  await update(page);
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Update Profile' })).toBeFocused();
  await signInByPassword(page.request, { email, password: 'a new horse' });
});

test('an account without a password sets one, which must be hard to guess', async ({ page, accounts, openAs }) => {
  const account = await accounts.create();
  const { email } = account.person;
  await accounts.removePassword(email);
  await openAs(page, account, '/profile#security');
  await expect(page.getByRole('group', { name: 'Set a password' })).toBeVisible();
  const choose = async (password: string): Promise<void> => {
    await page.getByLabel('New Password', { exact: true }).fill(password);
    await page.getByLabel('Confirm New Password').fill(password);
    await update(page);
  };
  await choose('ada.smith.1');
  await expect(page.getByRole('alert').filter({ hasText: 'This password is easy to guess' })).toBeVisible();
  await choose('a new horse');
  await expect(updatedMessage(page)).toBeVisible();
  await expect(page.getByRole('group', { name: 'Change Password' })).toBeVisible();
  await signInByPassword(page.request, { email, password: 'a new horse' });
});

test('a new address takes effect after the links of both mails are confirmed', async ({ page, signUp }) => {
  const { email } = await signUp(page, { path: '/profile' });
  const newEmail = `new-${email}`;
  await page.getByLabel('Email Address').fill(newEmail);
  await update(page);
  await expect(page.getByText('Saved. Follow the steps above to change your email address.')).toBeVisible();
  await expect(page.getByText(`To change your email address to ${newEmail}`)).toBeVisible();
  await expect(page.getByLabel('Email Address')).toHaveValue(email);

  await page.goto(await waitForMailedLink(page, email, 'email_change'));
  await expect(page.getByText('You can enter the codes of the emails in your profile instead.')).toBeVisible();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText(MESSAGES.firstLinkAccepted)).toBeVisible();
  await page.goto(await waitForMailedLink(page, newEmail, 'email_change'));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Your email address was changed.' })).toBeVisible();
  await expect(page.getByLabel('Email Address')).toHaveValue(newEmail);
});

test('a new address takes effect after the codes of both mails are entered', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email } = await signUp(page, { path: '/profile' });
  const newEmail = `new-${email}`;
  await page.getByLabel('Email Address').fill(newEmail);
  await update(page);
  const enterCode = async (address: string): Promise<void> => {
    const code = page.getByLabel(`Code sent to ${address}`);
    await code.fill(await waitForMailedCode(page, address));
    await code.press('Enter');
  };
  await enterCode(email);
  await expectToast(page, 'Confirmed. Now enter the code that we sent to your other address.');
  await expect(page.getByText(`Confirmed: ${email}`)).toBeVisible();
  await page.reload();
  await expect(page.getByText(`Confirmed: ${email}`)).toBeVisible();
  await expect(page.getByText(`the link that we sent to ${newEmail}`)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await enterCode(newEmail);
  await expect(page.getByLabel('Email Address')).toHaveValue(newEmail);
  await expect(page.getByText('To finish the change of your email address')).toHaveCount(0);
  await expect(page.getByRole('group', { name: 'Your details' })).toBeFocused();
});

test('a pending address is mailed again, corrected and cancelled', async ({ page, context, signUp }) => {
  await page.clock.install();
  const { email } = await signUp(page, { path: '/profile' });
  const [typo, wanted] = [`typo-${email}`, `new-${email}`];
  const pending = (target: Page) => target.getByRole('group', { name: 'Your details' }).getByText(/^To change your/);
  await page.getByLabel('Email Address').fill(typo);
  await update(page);
  await expect(pending(page)).toContainText(typo);
  const link = await waitForMailedLink(page, typo, 'email_change');

  await test.step('the mails are sent again after a minute', async () => {
    await expect(page.getByRole('button', { name: /^Send again in \d+ s$/ })).toBeDisabled();
    await page.clock.fastForward(60_000);
    await page.getByRole('button', { name: 'Send Again' }).click();
    await expect(page.getByText('We sent both emails again.')).toBeVisible();
  });

  await test.step('another address replaces the first one', async () => {
    await page.getByRole('button', { name: 'Use another address' }).click();
    await expect(page.getByLabel('Email Address')).toBeFocused();
    await expect(page.getByLabel('Email Address')).toHaveValue(typo);
    await page.getByLabel('Email Address').fill(wanted);
    await update(page);
    await expect(pending(page)).toContainText(wanted);
    await expect(page.getByLabel(`Code sent to ${typo}`)).toHaveCount(0);
  });

  await test.step('a cancellation on one page reaches the others', async () => {
    const other = await context.newPage();
    await other.goto('/profile');
    await expect(pending(other)).toContainText(wanted);
    await page.getByRole('button', { name: 'Cancel the change' }).click();
    await expectToast(page, `You keep ${email}.`);
    for (const target of [page, other]) await expect(pending(target)).toHaveCount(0);
    await expect(page.getByText('Follow the steps above')).toHaveCount(0);
    await expect(page.getByRole('group', { name: 'Your details' })).toBeFocused();
    await page.goto(link);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page.getByText('This link has expired or was already used.')).toBeVisible();
  });
});

test('a session that has ended, on the server or in the browser, asks for the password over the profile', async ({
  page,
  signUp,
}) => {
  const { password } = await signUp(page, { path: '/profile' });
  const headers = headersOf(await sessionOf(page));
  // The session ends with the click: the page may notice an earlier end by itself, and its overlay would catch the
  // click.
  const updates = {
    'Grace Jones': async () => {
      let hasEnded = false;
      await page.route('/auth/v1/user', async (route) => {
        if (route.request().method() === 'PUT' && !hasEnded) {
          hasEnded = true;
          expect((await page.request.post('/auth/v1/logout?scope=global', { headers })).ok()).toBe(true);
        }
        await route.continue();
      });
      await update(page);
    },
    'Grace Brown': () =>
      page.getByRole('button', { name: 'Update Profile' }).evaluate((button: HTMLElement) => {
        localStorage.clear();
        button.click();
      }),
  };
  for (const [name, updateWithoutSession] of Object.entries(updates)) {
    await page.getByLabel('Full Name').fill(name);
    await updateWithoutSession();
    const overlay = signInOverlay(page);
    await expect(overlay).toBeVisible();
    await expect(page.getByText('No user is signed in')).toBeVisible();
    await overlay.getByLabel('Password').fill(password);
    await overlay.getByRole('button', { name: 'Sign in' }).click();
    await expect(overlay).toHaveCount(0);
    await expect(page.getByText('No user is signed in')).toHaveCount(0);
    await update(page);
    await expect(updatedMessage(page)).toBeVisible();
  }
});
