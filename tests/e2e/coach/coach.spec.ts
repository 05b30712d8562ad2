/**
 * The coach, with the sandbox's model behind it. All stories that ask it are in this file and run one after another: the
 * sandbox has one model, and a fault that one story puts in line would meet another's question.
 */
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import {
  failModel,
  heldModel,
  openPanel,
  panel,
  releaseModel,
  resetModel,
  score,
  storedFeedback,
  test,
  withdrawConsent,
} from '../support/coach.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  openDay,
  sessionOf,
  storeLog,
  storedLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect } from '../support/test.ts';

test.describe.configure({ mode: 'default' });
test.afterEach(({ request }) => resetModel(request));

/** Begins to watch; answers the elements whose content has changed since, each kind once. */
async function changesIn(place: Locator): Promise<() => Promise<string[]>> {
  const seen = await place.evaluateHandle((element) => {
    const kinds = new Set<string>();
    new MutationObserver((changes) => {
      for (const { target } of changes) kinds.add((target instanceof Element ? target : target.parentElement!).tagName);
    }).observe(element, { childList: true, characterData: true, attributes: true, subtree: true });
    return kinds;
  });
  return () => seen.evaluate((kinds) => [...kinds]);
}

const GOOD_DAY = ['Shipped the billing reconciliation with 0 open differences', 'Looked at some stuff'] as const;

test('asks before the first word leaves, and is taken back on the profile page', async ({
  page,
  signUp,
  admin,
  request,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await storeLog(request, await sessionOf(page), today(), log(...GOOD_DAY));
  await admin('plan:grant', email);
  await page.goto(`/journal?date=${today()}`);
  await openPanel(page);
  await expect(panel(page)).toContainText("the logs it needs are sent to the sandbox's own model on this machine.");
  await expect(panel(page)).toContainText('Nothing leaves this machine.');
  await inBothThemes(page, expectAccessible);
  await panel(page).getByRole('button', { name: 'I agree' }).click();
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeVisible();

  await page.goto('/profile');
  const choice = page.getByRole('checkbox', { name: 'The coach may read my logs' });
  await expect(choice).toBeChecked();
  await expect(page.getByText("sent to the sandbox's own model on this machine.")).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await choice.click();
  await expect(choice).not.toBeChecked();
  await page.goto(`/journal?date=${today()}`);
  await openPanel(page);
  await expect(panel(page).getByRole('button', { name: 'I agree' })).toBeVisible();
});

/** The second of these lines is `1.1` on the page. */
const NESTED_DAY = log(...GOOD_DAY)
  .replace('</p></li><li>', '</p><ol><li>')
  .replace(/$/, '</li></ol>');

const markedLine = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...(CSS.highlights.get('cited-line') ?? [])].map((range) => (range as Range).toString()).join(''),
  );

test('reads what the user sees, cites it, and knows when it has changed', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser();
  await storeLog(request, await sessionOf(page), today(), NESTED_DAY);
  await openDay(page, today());
  await openPanel(page);
  await expect(panel(page)).toContainText('No feedback for this day yet.');
  await expectAccessible(page);

  // Words that are not saved yet are saved first: three items, not two.
  await items(page).last().click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Closed 12 of 15 tickets');
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page)).toContainText('Sandbox model: 3 items');
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  await expect(score(page)).toContainText(/of 10 · (Strong|Solid|Thin|Poor)/);
  await expect(panel(page).getByRole('heading', { name: 'Missing detail' })).toBeVisible();
  await expect(
    panel(page)
      .getByRole('status')
      .filter({ hasText: /Feedback is ready\. \d+ of 10/ }),
  ).toBeAttached();
  await inBothThemes(page, expectAccessible);

  await panel(page).getByRole('button', { name: '1.1, show item 1.1 in your log' }).first().click();
  await expect.poll(() => markedLine(page)).toBe('Looked at some stuff');

  // The same after a reload, from what is stored.
  await page.reload();
  await openPanel(page);
  await expect(panel(page)).toContainText('Sandbox model: 3 items');
  await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeVisible();

  await items(page).first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' at last');
  await expect(panel(page).getByText('Analysis outdated')).toBeVisible();
  await expect(panel(page).getByRole('button', { name: /in your log$/ })).toHaveCount(0);
  await expectSaved(page);
  await panel(page).getByRole('button', { name: 'Refresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
});

test('is written while it is read; cancelling stores nothing', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await failModel(request, { hold: 'after', after: 6 });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await heldModel(request);
  const writing = panel(page).getByRole('region', { name: 'New feedback' });
  await expect(writing).toContainText('Writing...');
  await expect(writing).toHaveAttribute('aria-busy', 'true');
  await inBothThemes(page, expectAccessible);
  await panel(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(panel(page).getByText('Cancelled. Nothing was saved.').first()).toBeVisible();
  await releaseModel(request);
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeEnabled();
  expect(await storedFeedback(page, request)).toBeNull();
});

test('words typed while it reads make it outdated', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await failModel(request, { hold: 'before' });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await heldModel(request);
  await expect(panel(page)).toContainText('Reading your log...');
  await items(page).last().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' and more');
  await expectSaved(page);
  await releaseModel(request);
  await expect(panel(page)).toContainText('Sandbox model: 2 items');
  await expect(panel(page).getByText('Analysis outdated')).toBeVisible();
});

test('Escape closes the panel and ends the question', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await failModel(request, { hold: 'before' });
  const ended = page.waitForEvent('requestfailed', (asked) => asked.url().endsWith('/ai-feedback'));
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await heldModel(request);
  await page.keyboard.press('Escape');
  await expect(panel(page)).toBeHidden();
  expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED');
  await releaseModel(request);
  expect(await storedFeedback(page, request)).toBeNull();
});

test('whatever fails, the feedback before stays, and the tries are counted', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  const before = await storedFeedback(page, request);

  await failModel(request, { cut: 'stream', after: 4, hold: 'before' });
  await panel(page).getByRole('button', { name: 'Force Refresh' }).click();
  await heldModel(request);
  // It stays readable, and nobody says of it what is not known any more.
  await expect(panel(page).getByRole('region', { name: 'Previous feedback' })).toContainText('Sandbox model: 2 items');
  await expect(panel(page).getByText('Earlier analysis')).toBeVisible();
  await expect(panel(page).getByText('Up to date')).toBeHidden();
  await inBothThemes(page, expectAccessible);
  await releaseModel(request);
  await expect(panel(page).getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.network);
  await expect(panel(page)).toContainText('Sandbox model: 2 items');
  await inBothThemes(page, expectAccessible);

  for (const attempt of [2, 3, 4]) {
    await failModel(request, { reply: 'safety', after: 2 });
    await panel(page).getByRole('button', { name: 'Try Again' }).click();
    await expect(panel(page)).toContainText(`Attempt ${attempt}.`);
    const text = attempt > 3 ? AI_MESSAGES.unavailableNote : ANALYSIS_PROBLEMS.general;
    await expect(panel(page).getByRole('alert')).toHaveText(text);
  }
  expect(await storedFeedback(page, request)).toBe(before);
  await panel(page).getByRole('button', { name: 'Try Again' }).click();
  await expect(panel(page).getByRole('alert')).toBeHidden();
  await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeVisible();
});

test.describe('an analysis never costs a word', () => {
  const selectSecondLine = async (page: Page) => {
    await items(page).nth(1).click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
  };

  test.beforeEach(async ({ page, signUpCloser }) => {
    await signUpCloser('Closed 12 of 15 tickets', 'Bob was rude');
    await openPanel(page);
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
  });

  for (const [done, keys, second] of [
    ['taken out', 'Backspace', ''],
    ['written anew', 'Talked with Bob', 'Talked with Bob'],
  ] as const) {
    test(`a line ${done} after it stays so, however fast the page goes`, async ({ page, context, request }) => {
      const session = await sessionOf(page);
      await selectSecondLine(page);
      if (keys === 'Backspace') await page.keyboard.press(keys);
      else await page.keyboard.type(keys);
      await expect(items(page).nth(1)).toHaveText(second);
      await page.close();
      const wanted = log('Closed 12 of 15 tickets', second);
      // Another device has it before this one is opened again.
      await expect.poll(() => storedLog(request, session, today())).toBe(wanted);
      const next = await context.newPage();
      await openDay(next, today());
      await expectSaved(next);
      await expect(items(next)).toHaveText(['Closed 12 of 15 tickets', second]);
      await expect(next.getByRole('heading', { name: 'This day was changed somewhere else.' })).toBeHidden();
      expect(await storedLog(request, session, today())).toBe(wanted);
    });
  }

  test('the next one may be asked for with the last word still unsaved', async ({ page }) => {
    await selectSecondLine(page);
    await page.keyboard.type('Talked with Bob');
    await panel(page).getByRole('button', { name: 'Refresh Analysis' }).click();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await expectSaved(page);
  });
});

test('what another tab has asked for is there once this one is looked at', async ({ page, context, signUpCloser }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await expect(panel(page)).toContainText('No feedback for this day yet.');
  const other = await context.newPage();
  await openDay(other, today());
  await openPanel(other);
  await panel(other).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(other).getByText('Up to date')).toBeVisible();
  await other.close();
  await page.bringToFront();
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(panel(page).getByText('Up to date')).toBeVisible();
});

test('a limit of the service is waited for', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  // As often as the server itself may try again.
  await failModel(request, { status: 429, retryDelay: 40, times: 5 });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.rate);
  await expect(panel(page)).toContainText(/You can try again in \d+ s/);
  await expect(panel(page).getByRole('button', { name: 'Try Again' })).toBeDisabled();
});

test('says why it does not speak of a day', async ({ page, signUpCloser, request }) => {
  await signUpCloser('Too few');
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByRole('alert')).toContainText(AI_MESSAGES.tooShort);
  // A short log is not the service's fault, however often it is asked about.
  for (let tries = 0; tries < 4; tries += 1) {
    const refused = page.waitForResponse(/\/ai-feedback$/);
    await panel(page).getByRole('button', { name: 'Try Again' }).click();
    await refused;
    await expect(panel(page).getByRole('alert')).toHaveText(AI_MESSAGES.tooShort);
  }
  await expect(panel(page).getByText(/^Attempt/)).toBeHidden();
  // Nor does it stay said of a log that has grown; nobody is asked for that.
  const asked: string[] = [];
  page.on('request', (sent) => void (sent.url().endsWith('/ai-feedback') && asked.push(sent.url())));
  await items(page).last().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' words, so here are more');
  await expectSaved(page);
  await expect(panel(page).getByRole('alert')).toBeHidden();
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeEnabled();
  expect(asked).toEqual([]);
  await storeLog(request, await sessionOf(page), daysAgo(1), '<p>Had a lazy day</p>');
  await page.goto(`/journal?date=${daysAgo(1)}`);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByRole('alert')).toContainText(AI_MESSAGES.canned);
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_INTERNET_DISCONNECTED/ });

  test('it does not ask about words that could not be saved', async ({ page, signUpCloser, context }) => {
    await signUpCloser(...GOOD_DAY);
    await openPanel(page);
    await expect(panel(page)).toContainText('No feedback for this day yet.');
    await context.setOffline(true);
    await items(page).last().click();
    await page.keyboard.type('on paper ');
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await expect(panel(page).getByRole('alert')).toContainText('Your latest changes are not saved yet');
    await context.setOffline(false);
    await expectSaved(page);
    // What stood in the way is gone, and so is what said so.
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await expect(panel(page)).toContainText('Sandbox model: 2 items');
  });
});

test.describe('what ends elsewhere meanwhile', () => {
  test.beforeEach(async ({ page, signUpCloser }) => {
    await signUpCloser(...GOOD_DAY);
    await openPanel(page);
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).focus();
  });

  test('an agreement is asked for again', async ({ page, request }) => {
    await withdrawConsent(page, request);
    await page.keyboard.press('Enter');
    await expect(panel(page).getByRole('button', { name: 'I agree' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await page.keyboard.press('Enter');
    await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await page.keyboard.press('Enter');
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeFocused();
  });

  test('a plan is offered again', async ({ page, admin }) => {
    const { user } = await sessionOf(page);
    await admin('plan:revoke', user.email);
    await page.keyboard.press('Enter');
    await expect(panel(page)).toContainText(AI_MESSAGES.premium);
    await expect(panel(page).getByRole('button', { name: 'Upgrade to Closer' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
  });

  test('a session has its owner sign in', async ({ page, request }) => {
    const { access_token } = await sessionOf(page);
    await page.route(/\/functions\/v1\/ai-feedback$/, (route) =>
      route.fulfill({ status: 401, json: { code: 'UNAUTHORIZED_INVALID_JWT', success: false, error: 'Invalid JWT' } }),
    );
    const ended = await request.post('/auth/v1/logout?scope=global', {
      headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${access_token}` },
    });
    expect(ended.ok()).toBe(true);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog').getByLabel('Password', { exact: true })).toBeVisible();
    await expect(page.getByText('Invalid JWT')).toBeHidden();
  });
});

test.describe('a proxy before the server', () => {
  test.use({ expectedErrors: /status of 502/ });

  test('its page is a matter of the network', async ({ page, signUpCloser }) => {
    await signUpCloser(...GOOD_DAY);
    await openPanel(page);
    await page.route(/\/functions\/v1\/ai-feedback$/, (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
    );
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await expect(panel(page).getByRole('alert')).toHaveText(ANALYSIS_PROBLEMS.network);
  });
});

test('signs of Markdown are not shown, and nothing leads anywhere', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  const feedback = [
    '## Wins',
    '> You shipped `billing` [1], see ![a chart](https://x.example/a.png) and [the guide](https://x.example).',
    '```js',
    'const open = 0;',
    '```',
    '| Day | Done |',
    '|-----|------|',
    '| Mon | 12 |',
  ].join('\n');
  await failModel(request, { text: JSON.stringify({ score: 7, feedback, cited: [1], missingFact: '' }) });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  const said = panel(page).getByRole('region', { name: 'Feedback', exact: true });
  await expect(said).toContainText('You shipped billing 1, see a chart and the guide.');
  await expect(said).toContainText('Mon · 12');
  await expect(said).not.toContainText(/[`|>#]|---|x\.example/);
  await expect(said.locator('a, img')).toHaveCount(0);
});

test('a printed day has the feedback that is open beside it', async ({ page, signUpCloser, expectAccessible }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 794, height: 1123 });
  await expect(panel(page)).toContainText('Sandbox model: 2 items');
  const [day, feedback] = [await items(page).last().boundingBox(), await panel(page).boundingBox()];
  expect(feedback!.y).toBeGreaterThan(day!.y + day!.height);
  // Right under it, not on a sheet of its own.
  expect(feedback!.y).toBeLessThan(day!.y + day!.height + 200);
  for (const name of ['Close', 'Force Refresh'])
    await expect(panel(page).getByRole('button', { name, exact: true })).toBeHidden();
  await expectNoHorizontalScroll(page);
  await expectAccessible(page);
});

test('on a phone it is a page of its own', async ({ page, signUpCloser, request, expectAccessible }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await expect.poll(() => panel(page).boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).focus();
  await failModel(request, { hold: 'before' });
  await page.keyboard.press('Enter');
  await heldModel(request);
  await page.keyboard.press('Tab');
  await expect(panel(page).getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeFocused();
  await releaseModel(request);
  await page.keyboard.press('Enter');
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.keyboard.press('Escape');
  await expect(panel(page)).toBeHidden();
  await expect(editor(page)).toBeVisible();
});

test('on a phone a tap on a citation closes it and shows the line', async ({ page, signUpCloser, request }) => {
  await page.setViewportSize({ width: 390, height: 500 });
  await signUpCloser();
  const rest = Array.from({ length: 20 }, (_, index) => `Closed ${index + 5} tickets of the backlog`);
  await storeLog(request, await sessionOf(page), today(), `${log(...rest)}<p>Looked at some stuff</p>`);
  await openDay(page, today());
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await panel(page).getByRole('button', { name: 'Looked at some stuff, show this line in your log' }).first().click();
  await expect(panel(page)).toBeHidden();
  expect(await markedLine(page)).toBe('Looked at some stuff');
  await expect(editor(page).getByText('Looked at some stuff')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Open feedback' })).toBeFocused();
});

test('the panel follows the day that is open beside it', async ({ page, signUpCloser }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await expect(panel(page)).toContainText('No feedback for this day yet.');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(panel(page)).toContainText(AI_MESSAGES.noEntry);
});

test('a review is written, kept apart by period, and made again', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  const session = await sessionOf(page);
  for (const back of [1, 2, 12])
    await storeLog(request, session, daysAgo(back), log('Sent the offer to two customers'));
  await page.goto('/reviews');
  await failModel(request, { hold: 'after', after: 3 });
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await heldModel(request);
  await expect(page.getByRole('button', { name: 'Analyzing Your Hustle...' })).toHaveAttribute('aria-disabled', 'true');
  await releaseModel(request);
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(result.getByRole('heading', { name: '7-Day Hustle Review' })).toBeVisible();
  await expect(result).toContainText('3 entries analyzed');
  await expect(result).toContainText('Generated Just now');
  await expect(result).toContainText('Sandbox model: 3 days');
  await expectAccessible(page);

  await expect(result).not.toContainText(/\d{4}-\d\d-\d\d/);

  await failModel(request, { status: 500, times: 5 });
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  await expect(page.getByRole('region', { name: 'Analysis Error' })).toBeVisible();
  await expect(result).toContainText('Sandbox model: 3 days');
  await resetModel(request);
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  await expect(page.getByRole('region', { name: 'Analysis Error' })).toBeHidden();

  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(result).toBeHidden();
  await page.getByRole('button', { name: 'Generate 30-Day Analysis' }).click();
  await expect(result).toContainText('4 entries analyzed');
});

test('a review that fails says why, and counts the tries', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await page.goto('/reviews');
  const failure = page.getByRole('region', { name: 'Analysis Error' });
  for (const attempt of [1, 2]) {
    await failModel(request, { reply: 'safety' });
    await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
    await expect(failure.getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.general);
    await expect(failure.getByText(`Attempt ${attempt}.`)).toBeVisible({ visible: attempt > 1 });
  }
  await inBothThemes(page, expectAccessible);
});

test('a review that is called off leaves nothing', async ({ page, signUpCloser, request, expectAccessible }) => {
  await signUpCloser(...GOOD_DAY);
  await page.goto('/reviews');
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  await failModel(request, { hold: 'before' });
  await generate.click();
  await heldModel(request);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Cancelled. Nothing was saved.' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Analysis', exact: true })).toBeHidden();
  await expect(generate).toBeEnabled();
  await inBothThemes(page, expectAccessible);
  await releaseModel(request);
});

test('with keys alone nobody is thrown back to the start of the page', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await withdrawConsent(page, request);
  const press = async (name: string) => {
    await expect(page.getByRole('button', { name })).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await page.reload();
  await page.getByRole('button', { name: 'Open feedback' }).focus();
  await press('Open feedback');
  await expect(panel(page).getByRole('button', { name: 'Close' })).toBeFocused();
  await panel(page).getByRole('button', { name: 'I agree' }).focus();
  await press('I agree');
  await failModel(request, { hold: 'before' });
  await press('Get Fresh Analysis');
  await heldModel(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeFocused();
  await releaseModel(request);

  await withdrawConsent(page, request);
  await page.goto('/reviews');
  await page.getByRole('button', { name: 'I agree' }).focus();
  await press('I agree');
  await failModel(request, { hold: 'before' });
  await press('Generate 7-Day Analysis');
  await heldModel(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await releaseModel(request);
  await press('Generate 7-Day Analysis');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await failModel(request, { hold: 'before' });
  await press('Regenerate Analysis');
  await heldModel(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await releaseModel(request);
});

test('how long ago it was said goes on by itself, and is read out to nobody', async ({ page, signUpCloser }) => {
  await page.clock.install();
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date · Just now')).toBeVisible();
  const inPanel = await changesIn(panel(page));
  await page.clock.fastForward('02:00');
  await expect(panel(page).getByText('Up to date · 2m ago')).toBeVisible();
  expect(await inPanel()).toEqual(['TIME']);

  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  // The page's clock goes two minutes before the server's by now.
  await expect(result).toContainText('Generated 2m ago');
  const inReviews = await changesIn(page.getByRole('main'));
  await page.clock.fastForward('01:01:00');
  await expect(result).toContainText('Generated 1h ago');
  expect(await inReviews()).toEqual(['TIME']);
});

test('the scores of a period are a plot that keys can walk, and a table', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  const session = await sessionOf(page);
  await storeLog(request, session, daysAgo(2), log('Looked at some stuff'));
  await storeLog(request, session, daysAgo(1), log('A day without a score'));
  for (const back of [2, 0]) {
    await page.goto(`/journal?date=${daysAgo(back)}`);
    await openPanel(page);
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
  }
  await page.goto('/reviews');
  const points = page.getByRole('group', { name: /^HustleScores by day/ }).getByRole('link');
  await expect(points).toHaveCount(2);
  await expectAccessible(page);
  await points.last().focus();
  await page.keyboard.press('ArrowLeft');
  await expect(points.first()).toBeFocused();
  await expect(points.first()).toHaveAccessibleName(/: \d+ of 10, (Strong|Solid|Thin|Poor)$/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`date=${daysAgo(2)}$`));

  await page.goto('/reviews');
  await expect(page.getByRole('table', { name: 'HustleScores by day' }).getByRole('row')).toHaveCount(3);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(points).toHaveCount(0);
  await expect(page.getByRole('table', { name: 'HustleScores by day' })).toBeVisible();
  await expectAccessible(page);
  await expectNoHorizontalScroll(page);
});

/** Has the coach score days of so many days ago, as their owner would on another device. */
async function scoreDays(page: Page, request: APIRequestContext, back: readonly number[]): Promise<void> {
  const session = await sessionOf(page);
  for (const days of back) {
    await storeLog(request, session, daysAgo(days), log(`Shipped part ${days} of the billing reconciliation`));
    const answer = await request.post('/functions/v1/ai-feedback', {
      headers: headersOf(session),
      data: { date: daysAgo(days) },
    });
    expect(await answer.text()).toContain('event: done');
  }
}

test('scores leave the page as wide as its window', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await scoreDays(page, request, [0]);
  await page.goto('/reviews');
  await expect(page.getByRole('group', { name: /^HustleScores by day/ })).toBeVisible();
  await expectNoHorizontalScroll(page);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('a review made again is written in sight, and so is why it was not', async ({ page, signUpCloser, request }) => {
    await signUpCloser(...GOOD_DAY);
    const session = await sessionOf(page);
    for (const back of [1, 2, 3, 4, 5, 6]) await storeLog(request, session, daysAgo(back), log('Sent two offers'));
    await page.goto('/reviews');
    await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
    const again = page.getByRole('button', { name: 'Regenerate Analysis' });
    await expect(again).toBeEnabled();
    // As low on the screen as it can stand and still be pressed.
    await again.evaluate((button) => button.scrollIntoView({ block: 'end' }));

    await failModel(request, { hold: 'after', after: 3 });
    await again.click();
    await heldModel(request);
    await expect(page.getByRole('region', { name: 'New analysis' }).getByText('Writing...')).toBeInViewport();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByText('Cancelled. Nothing was saved.')).toBeInViewport();
    await expect(again).toBeFocused();
    await releaseModel(request);

    await failModel(request, { status: 500, times: 5 });
    await again.click();
    await expect(page.getByRole('region', { name: 'Analysis Error' }).getByRole('alert')).toBeInViewport({ ratio: 1 });
    await expect(again).toBeFocused();
  });

  test('a tap on the plot tells of the day under the finger, and offers to open it', async ({
    page,
    signUpCloser,
    request,
    expectAccessible,
  }) => {
    await signUpCloser(...GOOD_DAY);
    await scoreDays(page, request, [11, 10, 9, 8]);
    await page.goto('/reviews');
    await page.getByRole('radio', { name: /Last 30 Days/ }).check();
    const points = page.getByRole('group', { name: /^HustleScores by day/ }).getByRole('link');
    await expect(points).toHaveCount(4);
    for (const [index, back] of [11, 10, 9, 8].entries()) {
      const dot = points.nth(index).locator('circle').last();
      await dot.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await dot.boundingBox())!;
      await page.touchscreen.tap(x + width / 2, y + height / 2);
      await expect(page.getByRole('link', { name: `Open ${shortDate(daysAgo(back))}` })).toBeVisible();
    }
    await expectAccessible(page);
    await page.getByRole('link', { name: `Open ${shortDate(daysAgo(8))}` }).tap();
    await expect(page).toHaveURL(new RegExp(`date=${daysAgo(8)}$`));
  });
});

test('a button that has to wait for a limit keeps the focus', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  await page.goto('/reviews');
  // As often as the server itself may try again.
  await failModel(request, { status: 429, retryDelay: 40, times: 5 });
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  await generate.press('Enter');
  await expect(page.getByText(/You can try again in \d+ s/)).toBeVisible();
  await expect(generate).toBeDisabled();
  await expect(generate).toBeFocused();
});

test('the wins of a review stand once, and only where it names some', async ({ page, signUpCloser, request }) => {
  await signUpCloser('Looked at some stuff');
  await page.goto('/reviews');
  await expect(page.getByRole('heading', { name: 'First lines of your logs' })).toBeVisible();
  await expect(page.getByRole('main').getByText('Looked at some stuff')).toHaveCount(1);
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await expect(page.getByText('No wins found in this period.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'First lines of your logs' })).toBeHidden();
  await expect(page.getByRole('button', { name: 'Copy' })).toBeHidden();

  await storeLog(request, await sessionOf(page), daysAgo(1), log(GOOD_DAY[0]));
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(result.getByRole('heading', { name: 'Wins' })).toBeVisible();
  await expect(result.getByRole('term')).toHaveText([shortDate(daysAgo(1))]);
  await expect(result.getByText('**Wins**')).toHaveCount(0);
  await expect(page.getByRole('main').getByText(GOOD_DAY[0])).toHaveCount(1);
  // The other device's day was read: it is counted as well.
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toHaveAccessibleName(/2 entries/);
});

test.describe('when the server says nothing that can be read', () => {
  test.use({ expectedErrors: /status of 50\d/ });

  test('a review says that it failed', async ({ page, signUpCloser }) => {
    await signUpCloser(...GOOD_DAY);
    await page.route('**/functions/v1/trend-analysis', (route) => route.fulfill({ status: 500, body: '<h1>500</h1>' }));
    await page.goto('/reviews');
    await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
    await expect(page.getByRole('region', { name: 'Analysis Error' }).getByRole('alert')).toContainText(
      AI_MESSAGES.trendFailed,
    );
  });
});

test('a session that ended while the page was open is asked for again, and the review is made', async ({
  page,
  signUpCloser,
}) => {
  const { password } = await signUpCloser(...GOOD_DAY);
  await page.goto('/reviews');
  await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeEnabled();
  await page.route('**/auth/v1/token?grant_type=refresh_token', (route) =>
    route.fulfill({ status: 400, json: { code: 'refresh_token_not_found', message: 'Invalid Refresh Token' } }),
  );
  await page.route('**/functions/v1/trend-analysis', (route) =>
    route.fulfill({ status: 401, json: { success: false, code: 'UNAUTHORIZED_INVALID_JWT', error: 'Invalid JWT' } }),
  );
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const signIn = page.getByRole('dialog');
  await expect(signIn.getByLabel('Password', { exact: true })).toBeVisible();
  await page.unrouteAll();
  await signIn.getByLabel('Password', { exact: true }).fill(password);
  await signIn.getByLabel('Password', { exact: true }).press('Enter');
  await expect(signIn).toBeHidden();
  await expect(page.getByRole('region', { name: 'Analysis Error' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await expect(page.getByRole('region', { name: 'Analysis', exact: true })).toBeVisible();
});
