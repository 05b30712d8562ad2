/** A premium user reads old days, the calendar, Find and the last review without the server. */
import type { BrowserContext, Page } from '@playwright/test';
import { dayLabel as labelOf } from '#domain/day/day.ts';
import { test } from '../support/coach.ts';
import { dayLabel, daysAgo, editor, items, log, status } from '../support/journal.ts';
import { expect } from '../support/test.ts';

const APIS = /\/(rest|functions)\/v1\//;
const FROM_THIS_DEVICE = /^From this device, as of \d\d?:\d\d( [AP]M)?$/;

const rejectAnswers = (context: BrowserContext): Promise<unknown> => context.route(APIS, (route) => route.abort());
const find = (page: Page) => page.getByRole('dialog', { name: 'Find' });

async function openReviews(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Hustle Reviews' }).click();
}

async function findWord(page: Page, word: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox', { name: 'Find words or a date' }).fill(word);
}

/** On a busy machine, the page may get idle time late. */
const WHEN_IDLE = { timeout: 30_000 };

const hasStoredPlan = (page: Page): Promise<boolean> =>
  page.evaluate(() => Object.keys(localStorage).some((key) => key.startsWith('hustle-forge:profile:')));

// The plan is stored, and removed, in idle time.
test.use({ isIdle: true, expectedErrors: /net::ERR_FAILED/ });

test('old days, dates, Find and the last review come from this device, and leave it with the plan', async ({
  page,
  context,
  accounts,
  admin,
  openAs,
  seedCloser,
  expectAccessible,
}) => {
  const account = await seedCloser(log('Shipped the billing report'));
  await accounts.writeLog(account, daysAgo(40), log('a needle of long ago'));
  await openAs(page, account, `/journal?date=${daysAgo(40)}`);
  await expect(items(page)).toHaveText(['a needle of long ago']);
  await page.getByRole('button', { name: 'Go to today' }).click();
  await expect(items(page)).toHaveText(['Shipped the billing report']);
  await openReviews(page);
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const review = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(review).toBeVisible();
  const analysis = await review.getByRole('paragraph').nth(1).textContent();
  await expect.poll(() => hasStoredPlan(page), WHEN_IDLE).toBe(true);

  await rejectAnswers(context);
  await page.reload();
  const kept = page.getByRole('region', { name: 'Last review' });
  await expect(kept).toContainText(analysis!);
  await expect(kept.getByText(FROM_THIS_DEVICE)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(kept).toHaveCount(0);

  await page.goto(`/journal?date=${daysAgo(40)}`);
  await expect(items(page)).toHaveText(['a needle of long ago']);
  await dayLabel(page).click();
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await expect(calendar.getByText(FROM_THIS_DEVICE)).toBeVisible();
  await expect(calendar.getByRole('button', { name: `${labelOf(daysAgo(40))}, has entry` })).toBeVisible();
  await page.keyboard.press('Escape');
  await findWord(page, 'need');
  await expect(find(page).getByRole('option')).toHaveText([`${labelOf(daysAgo(40))}a needle of long ago`]);
  await expect(status(page, '1 daySearched on this device only: 2 days')).toBeVisible();
  await expectAccessible(page);

  await test.step('the plan has ended', async () => {
    await context.unroute(APIS);
    await admin('plan:revoke', account.person.email);
    // The page asks for the plan again when the user comes back to it.
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect.poll(() => hasStoredPlan(page), WHEN_IDLE).toBe(false);
    await rejectAnswers(context);
    await page.goto('/journal');
    // The early page is editable before the journal has started, which knows the key of Find.
    await expect(page.getByText(FROM_THIS_DEVICE)).toBeVisible();
    await findWord(page, 'need');
    await expect(status(page, 'Nothing foundSearched on this device only: 1 day')).toBeVisible();
    await page.keyboard.press('Escape');
    await openReviews(page);
    await expect(status(page, "We couldn't load your plan.")).toBeVisible();
    await expect(kept).toHaveCount(0);
  });
});

test('a journal without a server says in one line that the text is not saved', async ({ page, context, signUp }) => {
  await signUp(page);
  await rejectAnswers(context);
  await page.reload();
  await editor(page).click();
  await page.keyboard.type('kept');
  await expect(status(page, 'Not saved – retrying')).toBeVisible();
  await page.getByRole('button', { name: 'Open menu' }).click();
  const unread = page.getByText("We couldn't load your plan.");
  // The menu shows the failure once the page has stopped retrying.
  await expect(unread.first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(status(page, 'Not saved – retrying')).toBeVisible();
  await expect(unread).toHaveCount(0);
});
