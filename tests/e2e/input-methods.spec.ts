/**
 * Enter that accepts a candidate of an input method submits nothing. Safari ends the composition before it sends that
 * key, so the key's code, 229, alone tells it from an Enter of the user.
 */
import type { Locator, Page } from '@playwright/test';
import { items, log, today } from './support/journal.ts';
import { expect, test } from './support/test.ts';

/** Presses Enter as Safari reports it. Chromium submits a form for the typed character, so this tests forms too. */
async function acceptCandidate(field: Locator): Promise<void> {
  await field.focus();
  const devtools = await field.page().context().newCDPSession(field.page());
  const enter = { key: 'Enter', code: 'Enter' };
  await devtools.send('Input.dispatchKeyEvent', { type: 'keyDown', ...enter, windowsVirtualKeyCode: 229, text: '\r' });
  await devtools.send('Input.dispatchKeyEvent', { type: 'keyUp', ...enter, windowsVirtualKeyCode: 229 });
  await devtools.detach();
}

/** Counts what forms have sent since. */
function countSent(page: Page): () => number {
  let sent = 0;
  page.on('request', (request) => (sent += /auth\/v1\/(token|recover)/.test(request.url()) ? 1 : 0));
  return () => sent;
}

test('accepting a candidate leaves the landing page open, and the next Enter continues', async ({ page }) => {
  await page.goto('/');
  const line = page.getByLabel('What have you done today?');
  await line.pressSequentially('日本');
  await expect(page.getByText('Saved for your first log.')).toBeVisible();
  await acceptCandidate(line);
  await expect(line).toHaveValue('日本');
  await expect(page).toHaveURL('/');
  await line.press('Enter');
  await expect(page).toHaveURL('/signup');
});

test('accepting a candidate sends no form, and the next Enter does', async ({ page, accounts }) => {
  const { email } = (await accounts.create()).person;
  const sent = countSent(page);
  await test.step('sign in', async () => {
    await page.goto('/login');
    await page.getByLabel('Email address').fill(email);
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('not the password');
    await acceptCandidate(password);
    expect(sent()).toBe(0);
    await password.press('Enter');
    await expect(page.getByText('The email or password you entered is incorrect.')).toBeVisible();
    expect(sent()).toBe(1);
  });

  await test.step('an address', async () => {
    await page.goto('/forgot-password');
    const address = page.getByLabel('Email address');
    await address.fill(email);
    await acceptCandidate(address);
    expect(sent()).toBe(1);
    await address.press('Enter');
    await expect(page.getByText('Password reset email sent!')).toBeVisible();
    expect(sent()).toBe(2);
  });

  await test.step('a code', async () => {
    const code = page.getByLabel('Code from your email');
    await code.fill('123');
    await acceptCandidate(code);
    await expect(code).toHaveValue('123');
    await expect(code).toHaveAccessibleDescription('');
    await code.press('Enter');
    await expect(code).toHaveAccessibleDescription('Enter the six-digit code from the email.');
  });
});

test('accepting a candidate opens no day in Find, and the next Enter does', async ({ page, signUp }) => {
  await signUp(page, { logs: { [today()]: log('日本 one') } });
  await expect(items(page)).toHaveText(['日本 one']);
  await page.keyboard.press('ControlOrMeta+k');
  const find = page.getByRole('combobox', { name: 'Find words or a date' });
  await find.fill('yesterday');
  await expect(page.getByRole('option')).toHaveCount(1);
  await acceptCandidate(find);
  await expect(find).toBeVisible();
  await find.press('Enter');
  await expect(find).toBeHidden();
});
