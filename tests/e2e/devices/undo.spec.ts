/**
 * Schedules of two devices: one deletes, moves or replaces the whole log and takes that back, while the other one has
 * unsent text. At the end every item is on the server exactly once, and both devices show the same without a question.
 */
import type { Page } from '@playwright/test';
import { dayLabel as labelOf, type Day } from '#domain/day/day.ts';
import { dayLabel, daysAgo, editor, items, status, storeLog, log, chooseDay } from '../support/journal.ts';
import { expect } from '../support/test.ts';
import { addItem, comeBack, saveDay, saveItem, test } from './devices.ts';

test.use({ expectedErrors: /net::ERR_/ });

const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

/** Adds an item offline. Returns the function that goes online and saves it. */
async function addOffline(page: Page, text: string): Promise<() => Promise<void>> {
  await page.context().setOffline(true);
  await addItem(page, text);
  return async () => {
    await page.context().setOffline(false);
    await saveDay(page);
  };
}

test('an undone deletion brings the log back beside the item that the other device has sent meanwhile', async ({
  openPair,
}) => {
  const { desk, other, expectAgreed } = await openPair(['one', 'two']);
  const sendItem = await addOffline(other, 'on the train');
  await editor(desk).press('ControlOrMeta+a');
  await desk.keyboard.press('Delete');
  await comeBack(desk);
  // The toast stays while its button has the focus.
  await undo(desk).focus();
  await expect(status(desk, 'Nothing written yet')).toBeVisible();
  await sendItem();
  await expect(items(other)).toHaveText(['on the train']);
  await undo(desk).press('Enter');
  await expectAgreed(['one', 'two', 'on the train']);
});

test('a log that is moved, continued and moved back takes the item of the other device, which missed all of it', async ({
  openPair,
}) => {
  const [from, to] = [daysAgo(1), daysAgo(2)];
  const { desk, other, expectAgreed } = await openPair(['shared'], from);
  const sendItem = await addOffline(other, 'on the train');
  const move = async (one: Day, another: Day): Promise<void> => {
    await desk.keyboard.press('Alt+m');
    await chooseDay(desk, one, another);
    await expect(dayLabel(desk)).toHaveText(labelOf(another));
  };
  await move(from, to);
  await saveItem(desk, 'on the wrong day');
  await move(to, from);
  await sendItem();
  await expectAgreed(['shared', 'on the wrong day', 'on the train']);
});

test('an earlier version that is brought back, and its undo, keep the item of the other device', async ({
  account,
  openPair,
  request,
}) => {
  const date = daysAgo(1);
  const long = ['called Ann', 'fixed the import', 'paid the bills'];
  const { desk, other, expectAgreed } = await openPair(long, date);
  // This save drops most items, so the server keeps them as a version.
  await storeLog(request, account.session, date, log('rested'));
  for (const page of [desk, other]) {
    await comeBack(page);
    await expect(items(page)).toHaveText(['rested']);
  }
  const sendItem = await addOffline(other, 'on the train');
  await desk.getByRole('button', { name: 'Actions for this day' }).click();
  await desk.getByRole('menuitem', { name: 'Earlier versions…' }).click();
  await desk.getByRole('button', { name: 'Bring back this version' }).click();
  await undo(desk).focus();
  await expect(items(desk)).toHaveText(long);
  await sendItem();
  await comeBack(desk);
  await expect(items(desk).getByText('on the train')).toBeVisible();
  await expect(items(desk)).toHaveCount(4);
  await undo(desk).press('Enter');
  await expectAgreed(['rested', 'on the train']);
});
