/** The whole first day on a phone, from the landing page to the first feedback of a paying user. */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { dayLabel } from '#domain/day/day.ts';
import { expectPaid, goToPaypal, offer, payNow } from '../support/billing.ts';
import { openPanel, panel, score } from '../support/coach.ts';
import { editor, expectSaved, items, status, today } from '../support/journal.ts';
import { expectNoHorizontalScroll, expect, test } from '../support/test.ts';

test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

test('a new user signs up, writes 20 items, uses a quick option, pays and asks the coach', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Start Logging' }).first().tap();
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(`${randomUUID()}@example.com`);
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('checkbox').tap();
  await page.getByRole('button', { name: 'Create account' }).tap();

  await editor(page).tap();
  await page.setViewportSize({ width: 390, height: 470 });
  await expect(page.getByRole('toolbar')).toBeVisible();
  for (let item = 1; item <= 20; item += 1) {
    if (item > 1) await page.keyboard.press('Enter');
    await page.keyboard.insertText(`Closed deal number ${item} with a customer`);
    await expect(items(page)).toHaveCount(item);
    await expect.poll(() => caretLine(page)).toBe('in sight');
  }
  await expectSaved(page);
  await page.setViewportSize({ width: 390, height: 760 });
  await expectNoHorizontalScroll(page);

  await page.getByRole('button', { name: 'Previous day' }).tap();
  await page.getByRole('button', { name: 'Distracted / Procrastinated' }).tap();
  await expect(status(page, 'Currently selected: Distracted / Procrastinated')).toBeVisible();
  await page.getByRole('heading', { level: 1 }).getByRole('button').tap();
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await expect(calendar.getByRole('button', { name: `${dayLabel(today())}, today, has entry` })).toBeVisible();
  await calendar.getByRole('button', { name: `${dayLabel(today())}, today, has entry` }).tap();
  await expect(items(page)).toHaveCount(20);

  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Upgrade to Closer' }).tap();
  await expect(offer(page)).toBeVisible();
  await goToPaypal(page);
  await payNow(page).tap();
  await expectPaid(page);

  await page.goto(`/journal?date=${today()}`);
  await expect(items(page)).toHaveCount(20);
  await expect(items(page).first()).toHaveText('Closed deal number 1 with a customer');
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'I agree' }).tap();
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).tap();
  await expect(score(page)).toBeVisible();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
});

/**
 * Returns `in sight` if the caret's line lies between the top of the screen and the formatting toolbar, else its place.
 */
function caretLine(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { anchorNode } = getSelection()!;
    const block = anchorNode instanceof Element ? anchorNode : anchorNode?.parentElement;
    const { top, bottom } = block!.getBoundingClientRect();
    const foot = document.querySelector('[role=toolbar]')!.getBoundingClientRect().top;
    return top >= 0 && bottom <= foot ? 'in sight' : `from ${top} to ${bottom}, with the toolbar at ${foot}`;
  });
}
