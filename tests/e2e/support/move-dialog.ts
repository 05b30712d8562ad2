/** The dialog "Move this log". */
import type { Locator, Page } from '@playwright/test';
import { dayLabel, type Day } from '#domain/day/day.ts';

export const moveDialog = (page: Page): Locator => page.getByRole('dialog', { name: 'Move this log' });

/** Chooses the day `to` for the log of `from`, whose month is shown first. `to` is at most one month away. */
export async function chooseDay(page: Page, from: Day, to: Day): Promise<void> {
  const dialog = moveDialog(page);
  if (to.slice(0, 7) !== from.slice(0, 7))
    await dialog.getByRole('button', { name: to < from ? /previous month/i : /next month/i }).click();
  await dialog.getByRole('button', { name: new RegExp(`^${dayLabel(to)}(, today)?$`) }).click();
}
