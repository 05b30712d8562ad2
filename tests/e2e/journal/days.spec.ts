/** Moving between days: quick options, the calendar, locked days, midnight, and the keys. */
import { dateLabel, day, dayLabel as labelOf, dayOf, MONTHS, weekdayOf } from '#domain/day/day.ts';
import {
  dayLabel,
  daysAgo,
  editor,
  expectSaved,
  holdWrites,
  items,
  log,
  openDay,
  sessionOf,
  readStoredLog,
  status,
  storePreferences,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, inForcedColorsAndPrint, expect, test } from '../support/test.ts';

test('a quick option becomes the log of yesterday, is replaced by another one, and returns when the log is emptied', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await signUp(page);
  const options = page.getByRole('region', { name: 'Quick options for this day:' });
  await expect(options).toBeHidden();
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
  await expect(options).toContainText('You can type your own entry above or select a quick option below');
  const sick = options.getByRole('button', { name: 'I am sick' });
  const width = async () => (await sick.boundingBox())!.width;
  const widthBefore = await width();
  await sick.click();
  await expect(items(page)).toHaveText(['I am sick']);
  await expect(options).toContainText('Currently selected: I am sick');
  await expect(sick).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(width).toBe(widthBefore);
  await expectSaved(page);
  await expect.poll(async () => readStoredLog(request, await sessionOf(page), daysAgo(1))).toBe(log('I am sick'));

  await options.getByRole('button', { name: 'Had a lazy day' }).click();
  await expect(options).toContainText('Currently selected: Had a lazy day');

  await test.step('with reduced motion the new day has no animation, and with the toolbar it is accessible', async () => {
    expect(await page.getByRole('article').evaluate((article) => getComputedStyle(article).animationName)).toBe('none');
    await editor(page).press('Shift+Home');
    await expect(page.getByRole('toolbar')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await inForcedColorsAndPrint(page, expectAccessible);
  });

  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Worked after all');
  await expect(options).toBeHidden();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Backspace');
  await expect(options).toBeVisible();
  await expect.poll(async () => readStoredLog(request, await sessionOf(page), daysAgo(1))).toBe(null);
});

test('quick options disappear with the first typed word, before it is saved, and return when it is deleted', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page, { path: `/journal?date=${daysAgo(1)}` });
  const session = await sessionOf(page);
  const release = await holdWrites(page);
  const options = page.getByRole('region', { name: 'Quick options for this day:' });
  await expect(options).toBeVisible();
  await editor(page).click();
  // A blank is no word. The status line shows that the page has received it.
  await page.keyboard.type(' ');
  await expect(status(page, 'Writing...')).toBeVisible();
  await expect(options).toBeVisible();
  await page.keyboard.type('wrote the offer');
  await expect(options).toBeHidden();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Backspace');
  await expect(options).toBeVisible();
  await page.keyboard.type('I am sick');
  await expect(options).toContainText('Currently selected: I am sick');
  await page.keyboard.type(' of offers');
  await expect(options).toBeHidden();
  await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toBe(null);
  release();
  await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toContain('I am sick of offers');
});

test('keys, buttons and addresses open a day, and an invalid date in the URL is replaced by the shown day', async ({
  page,
  signUp,
}) => {
  const goToToday = page.getByRole('button', { name: 'Go to today' });
  await test.step('a future day and an impossible day', async () => {
    const expectToday = async (): Promise<void> => {
      await expect(dayLabel(page)).toHaveText(labelOf(today()));
      await expect(page).toHaveURL(`/journal?date=${today()}&from=mail`);
    };
    await signUp(page, { path: '/journal?date=2199-01-01&from=mail' });
    await test.step('the controls name their keys', async () => {
      for (const [name, title] of [
        ['Previous day', 'Previous day (Alt+←)'],
        ['Next day', 'Next day (Alt+→)'],
      ] as const)
        await expect(page.getByRole('button', { name })).toHaveAttribute('title', title);
      await expect(dayLabel(page)).toHaveAttribute('title', 'Calendar (Alt+C)');
    });
    await expectToday();
    await page.goto('/journal?date=2026-02-30&from=mail');
    await expectToday();
  });

  await test.step('keys and history', async () => {
    await expect(page.getByRole('button', { name: 'Next day' })).toBeDisabled();
    await expect(goToToday).toBeHidden();
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

  await test.step('a past day', async () => {
    await openDay(page, daysAgo(5));
    await expect(page.getByText('5 days ago')).toBeVisible();
    const question = editor(page).locator('ol > li > p');
    await expect(question).toHaveAttribute('data-placeholder', `What did you do on ${weekdayOf(daysAgo(5))}?`);
    await expectNoHorizontalScroll(page);
    await goToToday.click();
    await expect(dayLabel(page)).toHaveText(labelOf(today()));
    await expect(question).toHaveAttribute('data-placeholder', 'What have you done today?');
  });

  await test.step('the focus stays on "Next day" when it is disabled', async () => {
    const next = page.getByRole('button', { name: 'Next day' });
    await page.getByRole('button', { name: 'Previous day' }).click();
    await next.focus();
    await page.keyboard.press('Enter');
    await expect(dayLabel(page)).toHaveText(labelOf(today()));
    await expect(next).toBeDisabled();
    await expect(next).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(dayLabel(page)).toHaveText(labelOf(today()));
  });
});

test('a premium user opens the day after the last log, and no request is sent for a day before the calendar', async ({
  page,
  signUp,
}) => {
  await signUp(page, { isCloser: true, logs: { [daysAgo(40)]: log('long ago') } });
  await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(39)));
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['long ago']);

  const requests: string[] = [];
  page.on('request', (asked) => void (asked.url().includes('/rest/v1/entries') && requests.push(asked.url())));
  await openDay(page, day('0001-01-01'));
  await expect(dayLabel(page)).toHaveText('Monday - January 1, 1');
  await expect(page.getByRole('button', { name: 'Previous day' })).toBeDisabled();
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(dayLabel(page)).toHaveText('Monday - January 1, 1');
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(dayLabel(page)).toHaveText('Tuesday - January 2, 1');
  await expect(page.getByRole('button', { name: 'Previous day' })).toBeEnabled();
  await expect.poll(() => requests.some((url) => url.includes('date=eq.0001-01-02'))).toBe(true);
  expect(requests.filter((url) => url.includes('date=eq.0000'))).toEqual([]);
});

test('the calendar shows which days have logs, opens one by keyboard, and changes its month', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page, { logs: { [today()]: log('done') } });
  await expect(items(page)).toHaveText(['done']);
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await expect(calendar).toBeVisible();
  await expect(calendar.locator('th')).toHaveText(['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa']);
  const current = calendar.getByRole('button', { name: `${labelOf(today())}, today, has entry` });
  await expect(current).toBeFocused();
  await inBothThemes(page, expectAccessible);
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

  await dayLabel(page).click();
  const shown = new Date(`${daysAgo(1)}T12:00`);
  await expect(calendar.getByText(`${MONTHS[shown.getMonth()]} ${shown.getFullYear()}`)).toBeVisible();
  const before = new Date(shown.getFullYear(), shown.getMonth() - 1, 1);
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
  await expect.poll(smallest, 'pixels of the smallest target').toBeGreaterThanOrEqual(24);
});

test('the heading of the calendar opens months and years, by keyboard and by tap, and leads to a day far away', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await page.clock.setFixedTime('2026-11-28T12:30:00Z');
  await page.setViewportSize({ width: 360, height: 620 });
  await signUp(page, {
    isCloser: true,
    path: '/journal?date=2026-11-28',
    logs: { [day('2019-03-14')]: log('long ago'), [day('2026-11-28')]: log('now') },
  });
  await expect(items(page)).toHaveText(['now']);
  await page.keyboard.press('Alt+c');
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  const button = (name: string) => calendar.getByRole('button', { name, exact: true });
  await button('November 2026').click();
  await expect(button('November 2026, has entries')).toBeFocused();
  await expect(button('December 2026')).toBeDisabled();
  await inBothThemes(page, expectAccessible);
  await expect.poll(() => calendar.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);

  // Up and down move by a row of three months, over the end of a year too.
  for (let row = 0; row < 4; row += 1) await page.keyboard.press('ArrowUp');
  await expect(button('November 2025')).toBeFocused();
  await page.keyboard.press('PageDown');
  await page.keyboard.press('ArrowRight');
  await expect(button('November 2026, has entries')).toBeFocused();

  await button('2019').click();
  await expect(button('2019')).toHaveAttribute('aria-pressed', 'true');
  await button('March 2019, has entries').click();
  await expect(button('March 2019')).toBeVisible();
  await expect(button('Sunday - March 31, 2019')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dayLabel(page)).toHaveText('Sunday - March 31, 2019');

  await dayLabel(page).click();
  await button('March 2019').click();
  await button('2019, back to the days').click();
  await expect(button('Sunday - March 31, 2019')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(calendar).toBeHidden();
});

test('a user of the free plan sees which locked days have a log, and the page does not request locked days', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const requests: string[] = [];
  page.on('request', (asked) => {
    const date = /entries\?.*date=eq\.([\d-]+)/.exec(asked.url())?.[1];
    if (date !== undefined) requests.push(date);
  });
  await signUp(page, { path: `/journal?date=${daysAgo(30)}`, logs: { [daysAgo(30)]: log('long ago') } });
  await expect(page.getByText('This log is locked. Upgrade to Closer to access historical logs.')).toBeVisible();
  await expect(
    page.getByText(/^Historical Log Locked: This log is older than 30 days\. Upgrade to Closer/),
  ).toBeVisible();
  await expect(editor(page)).toHaveCount(0);
  await expectAccessible(page);
  await test.step('the menu of a locked day offers no earlier versions', async () => {
    await page.getByRole('button', { name: 'Actions for this day' }).click();
    await expect(page.getByRole('menuitem')).toHaveText(['Deleted days…']);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
  });

  await test.step('the neighbours of an open day are prefetched, a locked one is not', async () => {
    await page.getByRole('button', { name: 'Next day' }).click();
    await expect(editor(page)).toBeVisible();
    await expect.poll(() => requests).toContain(daysAgo(28));
    await expect.poll(() => requests).toContain(today());
    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(30)));
    expect(requests).not.toContain(daysAgo(30));
  });

  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(page.getByText('Nothing was logged on this day.')).toBeVisible();
  await expect(page.getByText('This log is locked')).toHaveCount(0);
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

test('past midnight the day stays open and the new day is offered, and stays open if the clock is set back', async ({
  page,
  signUp,
}) => {
  const now = new Date();
  const beforeMidnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 23, 30);
  const yesterday = dayOf(beforeMidnight);
  await page.clock.install({ time: beforeMidnight });
  await signUp(page);
  await expect(dayLabel(page)).toHaveText(labelOf(yesterday));
  await page.keyboard.type('late work');
  const offer = page.getByRole('button', { name: `It is ${labelOf(today()).split(' ')[0]} now` });
  // Again, if the page has not yet set its timer for midnight.
  await expect(async () => {
    await page.clock.fastForward('31:00');
    await expect(offer).toBeVisible({ timeout: 5_000 });
  }).toPass();
  await expect(dayLabel(page)).toHaveText(labelOf(yesterday));
  await expect(items(page)).toHaveText(['late work']);
  await offer.click();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(items(page)).toHaveText(['']);

  await page.keyboard.type('early work');
  await page.clock.setSystemTime(beforeMidnight);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.keyboard.type(' goes on');
  await expect(items(page)).toHaveText(['early work goes on']);
  await page.clock.runFor(3_000);
  await expect(status(page, /^Saved /)).toBeVisible();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
});

test('where days end at 03:00, an open and a new page stay on the day until then, and offer the new one after', async ({
  page,
  signUp,
  request,
}) => {
  const now = new Date();
  const beforeMidnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 23, 30);
  const ending = labelOf(dayOf(beforeMidnight));
  await page.clock.install({ time: beforeMidnight });
  await signUp(page);
  await storePreferences(request, await sessionOf(page), { day_ends_at: 3 });
  await page.reload();
  const stored = () => page.evaluate(() => localStorage.getItem('hustle-forge:day-ends-at'));
  await expect.poll(stored).toBe('3');
  await page.keyboard.type('late work');
  await page.clock.runFor(3_000);
  await expect(status(page, /^Saved /)).toBeVisible();
  const offer = page.getByRole('button', { name: /^It is .* now$/ });
  const hourOf = () => page.evaluate(() => new Date().getHours());

  await page.clock.fastForward('03:15:00');
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  expect(await hourOf()).toBe(2);
  await expect(dayLabel(page)).toHaveText(ending);
  await expect(offer).toBeHidden();
  await page.reload();
  await expect(dayLabel(page)).toHaveText(ending);
  await expect(items(page)).toHaveText(['late work']);
  await expect(page.getByRole('button', { name: 'Next day' })).toBeDisabled();

  await expect(async () => {
    await page.clock.fastForward('15:00');
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect(offer).toBeVisible({ timeout: 5_000 });
  }).toPass();
  expect(await hourOf()).toBeGreaterThanOrEqual(3);
  await offer.click();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
});

test('a tab left over night becomes today unless it has unsaved text, and a toast goes back', async ({
  page,
  signUp,
}) => {
  const now = new Date();
  const evening = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 21, 0);
  const left = dayOf(evening);
  await page.clock.install({ time: evening });
  const behaviour = page.waitForResponse(/page-behaviour/);
  await signUp(page);
  await behaviour;
  await expect(page).toHaveURL('/journal');
  const release = await holdWrites(page);
  await page.keyboard.type('evening work');
  await page.clock.fastForward('11:00:00');
  await expect(async () => {
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect(page.getByRole('button', { name: /^It is .* now$/ })).toBeVisible({ timeout: 5_000 });
  }).toPass();
  await expect(items(page)).toHaveText(['evening work']);

  await test.step('input on the next morning, and a save', async () => {
    await page.mouse.move(200, 300);
    release();
    await expectSaved(page);
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect(dayLabel(page)).toHaveText(labelOf(left));
  });

  await test.step('another night', async () => {
    await page.clock.fastForward('23:00:00');
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    const shown = dayOf(new Date(await page.evaluate(() => Date.now())));
    await expect(dayLabel(page)).toHaveText(labelOf(shown));
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeFocused();
    await page.keyboard.type('morning work');
    const toast = status(page, `Showing today instead of ${dateLabel(left)}.`);
    // The toast stays while the pointer is on it.
    await toast.getByRole('button', { name: 'Go back' }).hover();
    await expect(items(page)).toHaveText(['morning work']);
    await toast.getByRole('button', { name: 'Go back' }).click();
    await expect(items(page)).toHaveText(['evening work']);
    await expect(page).toHaveURL(`/journal?date=${left}`);
  });

  await test.step('a day that the address names stays', async () => {
    await page.clock.fastForward('23:00:00');
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect(page.getByText('3 days ago')).toBeVisible();
    await expect(items(page)).toHaveText(['evening work']);
  });
});
