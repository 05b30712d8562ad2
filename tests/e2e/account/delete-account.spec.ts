/** Deleting the account: the archive first, then the password, the last step, and the ways to undo the deletion. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { OWN_ACCOUNT_MESSAGES } from '#domain/account/own-account-messages.ts';
import {
  waitForMailedCode,
  waitForMailedLink,
  waitForUndoLink,
  signInByPassword,
  enterPassword,
} from '../support/sign-in.ts';
import { daysAgo, editor, headersOf } from '../support/journal.ts';
import {
  expectNoHorizontalScroll,
  inBothThemes,
  expect,
  expectToast,
  loadedFonts,
  test,
  type Person,
} from '../support/test.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const archiveStep = (page: Page) => page.getByRole('dialog', { name: 'Take your logs with you' });
const finalStep = (page: Page) => page.getByRole('dialog', { name: 'Delete your account' });
const landingNotice = (page: Page) => page.getByRole('main').getByRole('status').first();

/** A proxy answers instead of the server and asks to sign in. */
const PROXY_PAGE = { contentType: 'text/html', body: '<h1>Sign in</h1>' };

/** Deletes the account from the open profile page, without downloading a copy of the logs first. */
async function deleteAccount(page: Page, password: string): Promise<void> {
  await button(page, 'Delete account').click();
  await expect(archiveStep(page).getByLabel('Your password')).toBeFocused();
  await button(page, 'Continue without a copy').click();
  await finalStep(page).getByLabel('Your password').fill(password);
  await button(page, 'Delete my account').click();
  await expect(page).toHaveURL('/');
}

/** Asks for the deletion of the account from another device. */
async function deleteOverHttp(page: Page, person: Pick<Person, 'email' | 'password'>): Promise<void> {
  const headers = headersOf(await signInByPassword(page.request, person));
  const answer = await page.request.delete('/auth/v1/account', { headers, data: { password: person.password } });
  expect(answer.ok(), await answer.text()).toBe(true);
}

test('the account is deleted by keyboard after a download of all logs, and the landing page undoes it', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email, password } = await signUp(page, { logs: { [daysAgo(300)]: '<p>Closed the first deal</p>' } });
  await editor(page).click();
  await page.keyboard.type('Typed a moment ago');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('link', { name: 'Profile' }).click();

  await test.step('the archive needs the password and has locked logs and the newest words', async () => {
    await button(page, 'Delete account').focus();
    await page.keyboard.press('Enter');
    await expect(archiveStep(page).getByLabel('Your password')).toBeFocused();
    await page.keyboard.type('wrong horse');
    await page.keyboard.press('Enter');
    await expect(archiveStep(page).getByText(OWN_ACCOUNT_MESSAGES.passwordWrong)).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await archiveStep(page).getByLabel('Your password').fill(password);
    await page.route('**/functions/v1/archive', (route) => route.fulfill(PROXY_PAGE), { times: 1 });
    await page.keyboard.press('Enter');
    await expect(archiveStep(page).getByText(OWN_ACCOUNT_MESSAGES.notReached)).toBeVisible();
    const downloading = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^hustle-forge-\d{4}-\d\d-\d\d\.json$/);
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as { entries: { content: string }[] };
    expect(file.entries.map(({ content }) => content).join()).toMatch(/Closed the first deal.*Typed a moment ago/s);
  });

  await test.step('the last step asks for no second password', async () => {
    await expect(button(page, 'Continue')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(finalStep(page)).toContainText('In one hour your account and all your logs are gone for good.');
    await expect(finalStep(page).getByLabel('Your password')).toHaveCount(0);
    await expect(button(page, 'Cancel')).toBeFocused();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL('/');
  });

  await test.step('the browser keeps no text of the user, and the landing page offers to undo', async () => {
    const stored = () => page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    // The user's id alone stays, as after a sign-out, for tabs that are still open.
    for (const trace of [email, 'Typed a moment ago', 'auth-token']) await expect.poll(stored).not.toContain(trace);
    await expect(landingNotice(page)).toHaveText(/^Your account will be deleted at \d\d?:\d\d( [AP]M)?\. Undo$/);
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
    await page.route('**/undo-deletion', (route) => route.fulfill(PROXY_PAGE), { times: 1 });
    await button(page, 'Undo').click();
    await expect(landingNotice(page)).toContainText('Your account is still marked for deletion. Undo');
    await button(page, 'Undo').click();
    await expect(landingNotice(page)).toHaveText('Your account stays, with every log in it. Sign in');
    await expect(landingNotice(page).getByRole('link', { name: 'Sign in' })).toBeFocused();
    await page.reload();
    await expect(landingNotice(page)).toBeEmpty();
  });
  await signInByPassword(page.request, { email, password });
});

test("the mail's page and a sign-in undo the deletion, and the sign-in says so once", async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email, password } = await signUp(page, { path: '/profile' });
  await deleteAccount(page, password);
  const link = await waitForUndoLink(page, email);

  await test.step('the page waits for a click', async () => {
    await page.goto(link);
    await expect(page.getByRole('heading', { name: 'Keep your account?' })).toBeVisible();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'contrast');
    await expectNoHorizontalScroll(page);
    await expect.poll(() => loadedFonts(page)).toEqual(['Instrument Sans', 'Newsreader']);
    await button(page, 'Keep my account').click();
    await expect(page.getByRole('heading', { name: 'Your account stays' })).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('a second deletion is undone by signing in', async () => {
    await deleteOverHttp(page, { email, password });
    await page.getByRole('link', { name: 'Sign in' }).click();
    await enterPassword(page, { email, password });
    await expectToast(page, OWN_ACCOUNT_MESSAGES.deletionUndone);
    await expect(page).toHaveURL('/journal');
    await page.reload();
    await expect(editor(page)).toBeVisible();
    await expect(page.getByText(OWN_ACCOUNT_MESSAGES.deletionUndone)).toHaveCount(0);
  });
});

test('a mailed sign-in link and a new password undo the deletion and say so', async ({ page, accounts }) => {
  const { person } = await accounts.create();
  const requestMail = async (path: string): Promise<void> => {
    const data = { email: person.email, create_user: false };
    expect((await page.request.post(`/auth/v1${path}`, { data })).ok()).toBe(true);
  };

  await test.step('the link of a sign-in mail', async () => {
    await deleteOverHttp(page, person);
    await requestMail('/otp');
    await page.goto(await waitForMailedLink(page, person.email, 'magiclink'));
    await button(page, 'Confirm').click();
    await button(page, 'Continue').click();
    await expectToast(page, OWN_ACCOUNT_MESSAGES.deletionUndone);
    await expect(page).toHaveURL('/journal');
  });

  await test.step('the link of a recovery mail', async () => {
    await deleteOverHttp(page, person);
    await page.evaluate(() => [localStorage, sessionStorage].forEach((storage) => storage.clear()));
    await requestMail('/recover');
    await page.goto(await waitForMailedLink(page, person.email, 'recovery'));
    await button(page, 'Continue').click();
    await page.getByLabel('New password', { exact: true }).fill('another long horse');
    await page.getByLabel('Confirm new password').fill('another long horse');
    await button(page, 'Update Password').click();
    await expectToast(page, OWN_ACCOUNT_MESSAGES.deletionUndone);
    await expect(page).toHaveURL('/journal');
  });
});

test('an account without a password confirms the deletion with a code from the mailbox', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await accounts.removePassword(email);
  await openAs(page, account, '/profile');
  // The code was mailed for another change a moment ago, and the server mails one a minute.
  const headers = { Authorization: `Bearer ${account.session.access_token}` };
  expect((await page.request.get('/auth/v1/reauthenticate', { headers })).ok()).toBe(true);
  const limit = { error_code: 'over_email_send_rate_limit', msg: 'For security purposes, wait 58 seconds.' };
  await page.route('**/auth/v1/reauthenticate', (route) => route.fulfill({ status: 429, json: limit }));
  await button(page, 'Delete account').click();
  await button(page, 'Send code').click();
  const code = await waitForMailedCode(page, email);
  await archiveStep(page).getByLabel(`Code sent to ${email}`).fill(code);
  await inBothThemes(page, expectAccessible);
  const downloading = page.waitForEvent('download');
  await button(page, 'Download all my logs').click();
  await downloading;
  await button(page, 'Continue').click();
  await button(page, 'Delete my account').click();
  await expect(page).toHaveURL('/');
  await expect(landingNotice(page)).toContainText('Your account will be deleted at');
});
