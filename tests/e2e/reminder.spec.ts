/** The evening reminder: its settings, the mail, and the page behind a link of the mail. */
import type { Page } from '@playwright/test';
import { openSections } from './support/settings.ts';
import { expect, inBothThemes, test } from './support/test.ts';

/** Changes a setting and waits until the server has stored it, so that a reload loses nothing. */
async function saveChange(page: Page, change: () => Promise<unknown>): Promise<void> {
  const saved = page.waitForResponse(
    (response) => response.url().includes('/rest/v1/preferences') && response.request().method() === 'POST',
  );
  await change();
  expect((await saved).ok()).toBe(true);
}

test('a reminder is turned on, sent at once, and answered with one tap', async ({
  page,
  accounts,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await openAs(page, account, '/settings');
  const reminder = page.locator('section', { has: page.getByRole('heading', { name: 'Reminder' }) });
  await openSections(page, 'Reminder', 'Weekly digest');
  await saveChange(page, () => reminder.getByRole('checkbox', { name: /^Remind me by mail/ }).check());
  await saveChange(page, () => reminder.getByRole('combobox', { name: 'At' }).selectOption({ value: '1170' }));
  await saveChange(page, () => reminder.getByRole('checkbox', { name: 'Friday' }).press('Space'));
  await saveChange(page, () => page.getByRole('checkbox', { name: 'Send me the digest' }).check());
  await inBothThemes(page, expectAccessible);

  await page.reload();
  await expect(reminder.getByText(/^0?7:30.PM, Mon, Tue, Wed, Thu$|^19:30, Mon, Tue, Wed, Thu$/)).toBeVisible();
  await openSections(page, 'Reminder');
  await expect(reminder.getByRole('combobox', { name: 'At' })).toHaveValue('1170');
  await expect(reminder.getByRole('checkbox', { name: 'Friday' })).not.toBeChecked();
  await expect(reminder.getByRole('checkbox', { name: 'Thursday' })).toBeChecked();
  await reminder.getByRole('button', { name: 'Send me one now' }).click();
  await expect(reminder.getByText(`Sent to ${email}.`)).toBeVisible();

  const mails = (await (await request.get(`/sandbox/mail/messages?to=${email}`)).json()) as { links: string[] }[];
  const mail = mails[0]!;
  const tap = mail.links.find((link) => link.endsWith('?entry=2'))!;
  await page.goto(tap);
  await expect(page.getByRole('heading', { name: 'I am sick' })).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.getByRole('button', { name: 'Log “I am sick”' }).click();
  await expect(page.getByRole('heading', { name: 'Stored' })).toBeVisible();
  await page.getByRole('link', { name: /^Open / }).click();
  await expect(page.locator('.ProseMirror')).toHaveText('I am sick');

  await page.goto(mail.links.find((link) => link.includes('/unsubscribe/'))!);
  await page.getByRole('button', { name: 'Turn off' }).click();
  await expect(page.getByRole('heading', { name: 'Turned off' })).toBeVisible();
  await page.getByRole('link', { name: 'Open the settings' }).click();
  await expect(page.getByText('On Fridays')).toBeVisible();
  await openSections(page, 'Reminder', 'Weekly digest');
  await expect(page.getByRole('checkbox', { name: 'Send me the digest' })).toBeChecked();
  await expect(reminder.getByRole('checkbox', { name: /^Remind me by mail/ })).not.toBeChecked();
});

test('a reply to the reminder becomes the log of its day, a stranger’s does not', async ({
  page,
  accounts,
  openAs,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await openAs(page, account, '/settings');
  const reminder = page.locator('section', { has: page.getByRole('heading', { name: 'Reminder' }) });
  await openSections(page, 'Reminder');
  await saveChange(page, () => reminder.getByRole('checkbox', { name: /^Remind me by mail/ }).check());
  await reminder.getByRole('button', { name: 'Send me one now' }).click();
  await expect(reminder.getByText(`Sent to ${email}.`)).toBeVisible();

  const reply = async (words: string, way: string): Promise<void> => {
    await page.goto(`/sandbox/mail?to=${encodeURIComponent(email)}`);
    const mail = page.locator('article').last();
    await mail.getByText('Reply', { exact: true }).click();
    await mail.getByRole('textbox', { name: 'Your words' }).fill(words);
    await mail.getByRole('combobox', { name: 'sent by' }).selectOption(way);
    await mail.getByRole('button', { name: 'Send' }).click();
  };
  await reply('A forged line', 'a stranger');
  await expect(page.getByText(/^Refused: .*550/)).toBeVisible();
  await reply('Shipped the billing page\nReviewed two pull requests', 'SMTP');
  await expect(page.getByText(/^The server said: 250/)).toBeVisible();
  await expect(async () => {
    await page.reload();
    await expect(page.getByText('Added to your log of')).toBeVisible({ timeout: 1 });
  }).toPass();
  await reply('Answered by webhook', 'Postmark');
  await expect(page.getByText('The webhook answered 200')).toBeVisible();

  await page.goto('/journal');
  await expect(page.locator('.ProseMirror li')).toHaveText([
    'Shipped the billing page',
    'Reviewed two pull requests',
    'Answered by webhook',
  ]);
});

test('a browser in another place asks before the reminder follows it', async ({
  page,
  accounts,
  openAs,
  browser,
  baseURL,
}) => {
  const account = await accounts.create();
  const visit = async (timezoneId: string) => {
    const context = await browser.newContext({ timezoneId, ...(baseURL !== undefined && { baseURL }) });
    const visited = await context.newPage();
    await openAs(visited, account, '/settings');
    return visited;
  };
  const lisbon = await visit('Europe/Lisbon');
  await openSections(lisbon, 'Reminder');
  await saveChange(lisbon, () => lisbon.getByRole('checkbox', { name: /^Remind me by mail/ }).check());
  await expect(lisbon.getByText('in Lisbon', { exact: true })).toBeVisible();

  const tokyo = await visit('Asia/Tokyo');
  const question = tokyo.getByText(/^You seem to be in Tokyo now\. Remind you at .+ there\?$/);
  await expect(question).toBeVisible();
  await tokyo.getByRole('button', { name: 'Keep Lisbon' }).click();
  await expect(tokyo.getByText('in Lisbon', { exact: true })).toBeVisible();
  await expect(question).toBeHidden();
  await tokyo.reload();
  await expect(question).toBeVisible();
  await saveChange(tokyo, () => tokyo.getByRole('button', { name: /in Tokyo$/ }).click());
  await expect(tokyo.getByText('in Tokyo', { exact: true })).toBeVisible();
  await tokyo.reload();
  await openSections(tokyo, 'Reminder');
  await expect(tokyo.getByText('in Tokyo', { exact: true })).toBeVisible();
  await Promise.all([lisbon.context().close(), tokyo.context().close(), page.close()]);
});
