/**
 * Large text and small windows: nothing sticks out of a phone at 200 % text, or of a window at 400 % zoom (WCAG 1.4.4,
 * 1.4.10).
 */
import type { Page } from '@playwright/test';
import { addDays } from '#domain/day/day.ts';
import { editor, log, today } from './support/journal.ts';
import { expect, test } from './support/test.ts';

/** The pixels by which the page, or an open dialog, is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const roots = [document.documentElement, ...document.querySelectorAll('dialog[open]')];
    return Math.max(...roots.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  });

/** The pixels between the date of the day bar and the nearer of its arrows; negative if they overlap. */
const freePlace = (page: Page): Promise<number> =>
  page.getByRole('heading', { level: 1 }).evaluate((heading) => {
    const date = document.createRange();
    date.selectNodeContents(heading);
    const { left, right } = date.getBoundingClientRect();
    const [previous, next] = [heading.previousElementSibling!, heading.nextElementSibling!];
    return Math.min(left - previous.getBoundingClientRect().right, next.getBoundingClientRect().left - right);
  });

/** 1280 by 1024 pixels at 400 % zoom; a phone with text of twice the size. */
const SIZES = [
  { name: '400 % zoom', width: 320, height: 256, font: '' },
  { name: '200 % text', width: 360, height: 620, font: '212.5%' },
] as const;

async function expectFits(page: Page, what: string): Promise<void> {
  for (const { name, width, height, font } of SIZES) {
    await page.setViewportSize({ width, height });
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), font);
    await expect.poll(() => overflow(page), `${what} at ${name}`).toBeLessThanOrEqual(0);
  }
  await page.evaluate(() => (document.documentElement.style.fontSize = ''));
}

test('the journal, its dialogs and the other screens fit their window', async ({ page, signUp }) => {
  const date = '2026-09-30' as const;
  await signUp(page, {
    isCloser: true,
    logs: { [addDays(today(), -1)]: log('Shipped the billing migration #billing') },
  });
  await expectFits(page, 'today');
  for (const [open, dialog] of [
    ['Open menu', 'Menu'],
    ['Open feedback', 'HAI Feedback'],
  ] as const) {
    await page.getByRole('button', { name: open }).click();
    await expect(page.getByRole('dialog', { name: dialog })).toBeVisible();
    await expectFits(page, dialog);
    await page.keyboard.press('Escape');
  }
  await page.getByRole('heading', { level: 1 }).getByRole('button').click();
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  await expectFits(page, 'calendar');
  await page.goto(`/journal?date=${date}`);
  await expect(editor(page)).toBeVisible();
  await expectFits(page, 'a day with a long label');
  await page.evaluate(() => (document.documentElement.style.fontSize = '212.5%'));
  await expect.poll(() => freePlace(page), 'pixels between the date and its arrows').toBeGreaterThanOrEqual(0);
  for (const [path, ready] of [
    ['/settings', 'Choose Files'],
    ['/profile', 'Update Profile'],
    ['/wins', 'Collect my wins'],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole('button', { name: ready })).toBeVisible();
    await expectFits(page, path);
  }
});
