/** Moving between days: quick options, the calendar, locked days, midnight, and the keys for all of it. */
import { day, dayLabel as labelOf, dayOf, MONTHS, weekdayOf } from '#domain/day/day.ts';
import {
  dayLabel,
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  storedLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

test('yesterday takes a quick option, and gives it back', async ({ page, signUp, request }) => {
  await signUp(page);
  const options = page.getByRole('region', { name: 'Quick options for this day:' });
  await expect(options).toBeHidden();
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
  await expect(options).toContainText('You can type your own entry above or select a quick option below');
  await options.getByRole('button', { name: 'I am sick' }).click();
  await expect(items(page)).toHaveText(['I am sick']);
  await expect(options).toContainText('Currently selected: I am sick');
  await expectSaved(page);
  expect(await storedLog(request, await sessionOf(page), daysAgo(1))).toBe(log('I am sick'));

  await options.getByRole('button', { name: 'Had a lazy day' }).click();
  await expect(options).toContainText('Currently selected: Had a lazy day');

  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Worked after all');
  await expect(options).toBeHidden();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Backspace');
  await expect(options).toBeVisible();
  await expect.poll(async () => storedLog(request, await sessionOf(page), daysAgo(1))).toBe(null);
});

test('the keys for days, and the address for back and forward', async ({ page, signUp }) => {
  await signUp(page);
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(2)));
  await expect(page).toHaveURL(new RegExp(`date=${daysAgo(2)}`));
  await page.keyboard.press('Alt+ArrowRight');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
  await page.goBack();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(2)));
  await page.keyboard.press('Alt+t');
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await page.keyboard.press('Alt+ArrowRight');
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
});

test('the future is out of reach', async ({ page, signUp }) => {
  await signUp(page);
  await expect(page.getByRole('button', { name: 'Next day' })).toBeDisabled();
  await openDay(page, day('2199-01-01'));
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(page).toHaveURL(`/journal?date=${today()}`);
});

test('an address without a real day gets the one that is shown, and keeps the rest', async ({ page, signUp }) => {
  await signUp(page);
  for (const bad of ['2026-02-30', '0000-12-31', 'tomorrow', '']) {
    await page.goto(`/journal?date=${bad}&from=mail`);
    await expect(dayLabel(page)).toHaveText(labelOf(today()));
    await expect(page).toHaveURL(`/journal?date=${today()}&from=mail`);
  }
});

test('nothing is asked for before the first day there is', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  const asked: string[] = [];
  page.on('request', (request) => void (request.url().includes('/rest/v1/entries') && asked.push(request.url())));
  await openDay(page, day('0001-01-01'));
  await expect(dayLabel(page)).toHaveText('Monday - January 1, 1');
  await expect(page.getByRole('button', { name: 'Previous day' })).toBeDisabled();
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(dayLabel(page)).toHaveText('Monday - January 1, 1');
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(dayLabel(page)).toHaveText('Tuesday - January 2, 1');
  await expect(page.getByRole('button', { name: 'Previous day' })).toBeEnabled();
  await expect.poll(() => asked.some((url) => url.includes('date=eq.0001-01-02'))).toBe(true);
  expect(asked.filter((url) => url.includes('date=eq.0000'))).toEqual([]);
});

test('a past day says how far back it is, asks by its name, and leads to today', async ({ page, signUp }) => {
  await signUp(page);
  await expect(page.getByRole('button', { name: 'Go to today' })).toBeHidden();
  await openDay(page, daysAgo(5));
  await expect(page.getByText('5 days ago')).toBeVisible();
  const question = editor(page).locator('ol > li > p');
  await expect(question).toHaveAttribute('data-placeholder', `What did you do on ${weekdayOf(daysAgo(5))}?`);
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoHorizontalScroll(page);
  await page.getByRole('button', { name: 'Go to today' }).click();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(question).toHaveAttribute('data-placeholder', 'What have you done today?');
});

test('the calendar shows which days have logs and opens one', async ({ page, signUp, request, expectAccessible }) => {
  await signUp(page);
  await storeLog(request, await sessionOf(page), today(), log('done'));
  await page.reload();
  await expect(items(page)).toHaveText(['done']);
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await expect(calendar).toBeVisible();
  await expect(calendar.locator('th')).toHaveText(['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa']);
  const open = calendar.getByRole('button', { name: `${labelOf(today())}, today, has entry` });
  await expect(open).toBeFocused();
  await expectAccessible(page);
  for (const text of ['Today', 'Has entries', 'Locked (Closer only)'])
    await expect(calendar.getByText(text, { exact: true })).toBeVisible();

  await page.keyboard.press('ArrowLeft');
  await expect(calendar.getByRole('button', { name: labelOf(daysAgo(1)) })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(calendar).toBeHidden();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));

  await dayLabel(page).click();
  await page.keyboard.press('Escape');
  await expect(calendar).toBeHidden();
  await expect(dayLabel(page)).toBeFocused();
});

test('the calendar knows no future and turns its months', async ({ page, signUp }) => {
  await signUp(page);
  await dayLabel(page).click();
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  const now = new Date();
  await expect(calendar.getByText(`${MONTHS[now.getMonth()]} ${now.getFullYear()}`)).toBeVisible();
  const before = new Date(now.getFullYear(), now.getMonth() - 1, 1);
  await calendar.getByRole('button', { name: /previous month/i }).click();
  await expect(calendar.getByText(`${MONTHS[before.getMonth()]} ${before.getFullYear()}`)).toBeVisible();
  const smallest = () =>
    calendar
      .getByRole('gridcell')
      .getByRole('button')
      .evaluateAll((buttons) => {
        const sizes = buttons.map((button) => button.getBoundingClientRect());
        return Math.min(...sizes.flatMap(({ width, height }) => [width, height]));
      });
  await expect.poll(smallest).toBeGreaterThanOrEqual(24);
});

test('a lapsed Closer sees which locked days have a log', async ({
  page,
  signUp,
  admin,
  request,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await storeLog(request, await sessionOf(page), daysAgo(30), log('long ago'));
  await admin('plan:revoke', email);

  await page.goto(`/journal?date=${daysAgo(30)}`);
  await expect(page.getByText('This log is locked. Upgrade to Closer to access historical logs.')).toBeVisible();
  await expect(
    page.getByText(/^Historical Log Locked: This log is older than 30 days\. Upgrade to Closer/),
  ).toBeVisible();
  await expect(editor(page)).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await expect(page.getByText('This log is locked')).toHaveCount(0);
  await expectAccessible(page);

  await dayLabel(page).click();
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await expect(calendar).toBeVisible();
  const locked = calendar.getByRole('button', { name: `${labelOf(daysAgo(30))}, has entry, locked, Closer only` });
  const isSameMonth = daysAgo(31).slice(0, 7) === daysAgo(30).slice(0, 7);
  if (!isSameMonth) await calendar.getByRole('button', { name: /next month/i }).click();
  await expect(locked.locator('svg')).toBeVisible();
  await locked.click();
  const offer = page.getByRole('dialog', { name: /Premium Feature/ });
  await expect(offer.getByText('1 of your logs is waiting.')).toBeVisible();
});

test('a Closer goes on where the last log ended', async ({ page, signUp, request, admin }) => {
  const person = await signUp(page);
  await admin('plan:grant', person.email);
  const session = await sessionOf(page);
  await storeLog(request, session, daysAgo(40), log('long ago'));
  await page.goto('/journal');
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(39)));
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['long ago']);
});

test('past midnight the page stays, and the new day is offered', async ({ page, signUp }) => {
  const now = new Date();
  const beforeMidnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 23, 30);
  const yesterday = dayOf(beforeMidnight);
  await page.clock.install({ time: beforeMidnight });
  await signUp(page);
  await expect(dayLabel(page)).toHaveText(labelOf(yesterday));
  await page.keyboard.type('late work');
  await page.clock.fastForward('31:00');
  const offer = page.getByRole('button', { name: `It is ${labelOf(today()).split(' ')[0]} now` });
  await expect(offer).toBeVisible();
  await expect(dayLabel(page)).toHaveText(labelOf(yesterday));
  await expect(items(page)).toHaveText(['late work']);
  await offer.click();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(items(page)).toHaveText(['']);
});

test('the line from the landing page is the first item of the first log', async ({ page, signUp }) => {
  await page.addInitScript(() => {
    if (sessionStorage.getItem('visited')) return;
    sessionStorage.setItem('visited', 'yes');
    localStorage.setItem('hustle-forge:first-line', 'Shipped <the> thing & more');
  });
  await signUp(page);
  await expect(items(page)).toHaveText(['Shipped <the> thing & more']);
  await expectSaved(page);
  await page.reload();
  await expect(items(page)).toHaveText(['Shipped <the> thing & more']);
});
