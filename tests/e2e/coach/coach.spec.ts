/** The coach, with the sandbox's model: every worker has its own server and model. */
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import type { SeededAccount } from '../support/accounts.ts';
import {
  failModel,
  waitUntilModelHolds,
  openPanel,
  panel,
  releaseModel,
  resetModel,
  score,
  readStoredFeedback,
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
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect } from '../support/test.ts';

test.afterEach(({ request }) => resetModel(request));

/** Observes a part of the page. Returns a function that lists the tags of all elements that have changed since. */
async function observeChanges(place: Locator): Promise<() => Promise<string[]>> {
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

test('the coach asks for consent before it sends a log, and the profile page withdraws it', async ({
  page,
  accounts,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await accounts.create();
  await storeLog(request, account.session, today(), log(...GOOD_DAY));
  await accounts.upgrade(account);
  await openAs(page, account);
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

/** A log whose second line has the number 1.1. */
const NESTED_DAY = log(...GOOD_DAY)
  .replace('</p></li><li>', '</p><ol><li>')
  .replace(/$/, '</li></ol>');

const markedLine = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...(CSS.highlights.get('cited-line') ?? [])].map((range) => (range as Range).toString()).join(''),
  );

test('feedback covers unsaved text, cites lines, is stored, and becomes outdated with an edit', async ({
  page,
  seedCloser,
  openAs,
  expectAccessible,
}) => {
  await openAs(page, await seedCloser(NESTED_DAY));
  await openPanel(page);
  await expect(panel(page)).toContainText('No feedback for this day yet.');
  await expectAccessible(page);

  // Unsaved words are saved first: the model gets three items, not two.
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

  // After a reload the feedback comes from the server.
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

test('feedback is streamed, cancelled without a trace, outdated by text typed meanwhile, and aborted by Escape', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await test.step('cancel', async () => {
    await failModel(request, { hold: 'after', after: 6 });
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await waitUntilModelHolds(request);
    const writing = panel(page).getByRole('region', { name: 'New feedback' });
    await expect(writing).toContainText('Writing...');
    await expect(writing).toHaveAttribute('aria-busy', 'true');
    await inBothThemes(page, expectAccessible);
    await panel(page).getByRole('button', { name: 'Cancel' }).click();
    await expect(panel(page).getByText('Cancelled. Nothing was saved.').first()).toBeVisible();
    await releaseModel(request);
    await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeEnabled();
    expect(await readStoredFeedback(page, request)).toBeNull();
  });

  await test.step('Escape', async () => {
    await failModel(request, { hold: 'before' });
    const aborted = page.waitForEvent('requestfailed', (failed) => failed.url().endsWith('/ai-feedback'));
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await waitUntilModelHolds(request);
    await page.keyboard.press('Escape');
    await expect(panel(page)).toBeHidden();
    expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED');
    await releaseModel(request);
    expect(await readStoredFeedback(page, request)).toBeNull();
  });

  await test.step('text typed meanwhile', async () => {
    await openPanel(page);
    await failModel(request, { hold: 'before' });
    await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
    await waitUntilModelHolds(request);
    await expect(panel(page)).toContainText('Reading your log...');
    await items(page).last().click();
    await page.keyboard.press('End');
    await page.keyboard.type(' and more');
    await expectSaved(page);
    await releaseModel(request);
    await expect(panel(page)).toContainText('Sandbox model: 2 items');
    await expect(panel(page).getByText('Analysis outdated')).toBeVisible();
  });
});

test('a failure keeps the earlier feedback and counts the attempts', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  const before = await readStoredFeedback(page, request);

  await failModel(request, { cut: 'stream', after: 4, hold: 'before' });
  await panel(page).getByRole('button', { name: 'Force Refresh' }).click();
  await waitUntilModelHolds(request);
  // The earlier feedback stays readable without a claim to be up to date.
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
  expect(await readStoredFeedback(page, request)).toBe(before);
  await panel(page).getByRole('button', { name: 'Try Again' }).click();
  await expect(panel(page).getByRole('alert')).toBeHidden();
  await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeVisible();
});

test('a line that is removed or rewritten after an analysis stays removed or rewritten on the next page', async ({
  page,
  context,
  signUpCloser,
  request,
}) => {
  const selectSecondLine = async (opened: Page) => {
    await items(opened).nth(1).click();
    await opened.keyboard.press('End');
    await opened.keyboard.press('Shift+Home');
  };
  await signUpCloser('Closed 12 of 15 tickets', 'Bob was rude');
  const session = await sessionOf(page);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();

  await test.step('an analysis with the last word unsaved', async () => {
    await selectSecondLine(page);
    await page.keyboard.type('Bob was loud');
    await panel(page).getByRole('button', { name: 'Refresh Analysis' }).click();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await expectSaved(page);
  });

  let opened = page;
  for (const [action, keys, second] of [
    ['rewrite', 'Talked with Bob', 'Talked with Bob'],
    ['remove', 'Backspace', ''],
  ] as const) {
    await test.step(`${action} the line and close the page`, async () => {
      await selectSecondLine(opened);
      if (keys === 'Backspace') await opened.keyboard.press(keys);
      else await opened.keyboard.type(keys);
      await expect(items(opened).nth(1)).toHaveText(second);
      await opened.close();
      const expected = log('Closed 12 of 15 tickets', second);
      // The closing page sends its last save. Waits until the server has it, before the next page opens.
      await expect.poll(() => readStoredLog(request, session, today())).toBe(expected);
      opened = await context.newPage();
      await openDay(opened, today());
      await expectSaved(opened);
      await expect(items(opened)).toHaveText(['Closed 12 of 15 tickets', second]);
      await expect(opened.getByRole('heading', { name: 'This day was changed somewhere else.' })).toBeHidden();
      expect(await readStoredLog(request, session, today())).toBe(expected);
      await openPanel(opened);
      await panel(opened).getByRole('button', { name: 'Refresh Analysis' }).click();
      await expect(panel(opened).getByText('Up to date')).toBeVisible();
    });
  }
});

test('the panel follows the open day, and shows feedback of another tab when the user comes back', async ({
  page,
  context,
  signUpCloser,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(panel(page)).toContainText(AI_MESSAGES.noEntry);
  await page.getByRole('button', { name: 'Next day' }).click();
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

test('a rate limit disables the button for the time of the wait and leaves the focus on it', async ({
  page,
  signUpCloser,
  request,
}) => {
  // More faults than requests. The server does not retry, because the wait of 40 seconds is too long.
  const limit = { status: 429, retryDelay: 40, times: 5 };
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await failModel(request, limit);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.rate);
  await expect(panel(page)).toContainText(/You can try again in \d+ s/);
  await expect(panel(page).getByRole('button', { name: 'Try Again' })).toBeDisabled();

  await page.goto('/reviews');
  await failModel(request, limit);
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  // The button is disabled until the entries are counted, and `press` does not wait for that.
  await expect(generate).toBeEnabled();
  await generate.press('Enter');
  await expect(page.getByText(/You can try again in \d+ s/)).toBeVisible();
  await expect(generate).toBeDisabled();
  await expect(generate).toBeFocused();
});

test.describe('a log without feedback', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_INTERNET_DISCONNECTED/ });

  test('shows why: too short, a quick option, or unsaved text', async ({ page, context, signUpCloser, request }) => {
    const analyse = panel(page).getByRole('button', { name: 'Get Fresh Analysis' });
    await signUpCloser('Too few');
    await openPanel(page);
    await analyse.click();
    await expect(panel(page).getByRole('alert')).toContainText(AI_MESSAGES.tooShort);
    // Only failures of the service count as attempts. The alert gets another text after three of them.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const refused = page.waitForResponse(/\/ai-feedback$/);
      await panel(page).getByRole('button', { name: 'Try Again' }).click();
      await refused;
      await expect(panel(page).getByRole('alert')).toHaveText(AI_MESSAGES.tooShort);
    }
    await expect(panel(page).getByText(/^Attempt/)).toBeHidden();

    // The alert disappears without a request when the log has grown.
    const requests: string[] = [];
    page.on('request', (sent) => void (sent.url().endsWith('/ai-feedback') && requests.push(sent.url())));
    await items(page).last().click();
    await page.keyboard.press('End');
    await page.keyboard.type(' words, so here are more');
    await expectSaved(page);
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await expect(analyse).toBeEnabled();
    expect(requests).toEqual([]);

    await context.setOffline(true);
    await page.keyboard.type(' on paper');
    await analyse.click();
    await expect(panel(page).getByRole('alert')).toContainText('Your latest changes are not saved yet');
    await context.setOffline(false);
    await expectSaved(page);
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await analyse.click();
    await expect(panel(page)).toContainText('Sandbox model: 1 item');

    await storeLog(request, await sessionOf(page), daysAgo(1), '<p>Had a lazy day</p>');
    await page.goto(`/journal?date=${daysAgo(1)}`);
    await openPanel(page);
    await analyse.click();
    await expect(panel(page).getByRole('alert')).toContainText(AI_MESSAGES.canned);
  });
});

test('consent, session or plan that ended elsewhere is asked for again', async ({
  page,
  signUpCloser,
  admin,
  request,
  expectAccessible,
}) => {
  const { password } = await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).focus();
  await test.step('consent', async () => {
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

  await test.step('session', async () => {
    const { access_token } = await sessionOf(page);
    const FEEDBACK = /\/functions\/v1\/ai-feedback$/;
    await page.route(FEEDBACK, (route) =>
      route.fulfill({ status: 401, json: { code: 'UNAUTHORIZED_INVALID_JWT', success: false, error: 'Invalid JWT' } }),
    );
    const ended = await request.post('/auth/v1/logout?scope=global', {
      headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${access_token}` },
    });
    expect(ended.ok()).toBe(true);
    await page.keyboard.press('Enter');
    const signIn = page.getByRole('dialog', { name: 'Sign in again' });
    await expect(signIn.getByLabel('Password', { exact: true })).toBeVisible();
    await expect(page.getByText('Invalid JWT')).toBeHidden();
    await page.unroute(FEEDBACK);
    await signIn.getByLabel('Password', { exact: true }).fill(password);
    await signIn.getByLabel('Password', { exact: true }).press('Enter');
    await expect(signIn).toHaveCount(0);
  });

  await test.step('plan', async () => {
    const { user } = await sessionOf(page);
    await admin('plan:revoke', user.email);
    await panel(page)
      .getByRole('button', { name: /^(Force Refresh|Try Again|Refresh Analysis)$/ })
      .press('Enter');
    await expect(panel(page)).toContainText(AI_MESSAGES.premium);
    await expect(panel(page).getByRole('button', { name: 'Upgrade to Closer' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await inBothThemes(page, expectAccessible);
  });
});

test('the print of a day has the open feedback below the log', async ({ page, signUpCloser, expectAccessible }) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 794, height: 1123 });
  await expect(panel(page)).toContainText('Sandbox model: 2 items');
  const [day, feedback] = [await items(page).last().boundingBox(), await panel(page).boundingBox()];
  expect(feedback!.y).toBeGreaterThan(day!.y + day!.height);
  // The feedback begins directly below the log, not on the next printed page.
  expect(feedback!.y).toBeLessThan(day!.y + day!.height + 200);
  for (const name of ['Close', 'Force Refresh'])
    await expect(panel(page).getByRole('button', { name, exact: true })).toBeHidden();
  await expectNoHorizontalScroll(page);
  await expectAccessible(page);
});

test('on a phone the panel fills the screen, keeps the focus, and a citation closes it and shows its line', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const rest = Array.from({ length: 20 }, (_, index) => `Closed ${index + 5} tickets of the backlog`);
  await openAs(page, await seedCloser(`${log(...rest)}<p>Looked at some stuff</p>`));
  await openPanel(page);
  await expect.poll(() => panel(page).boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).focus();
  await failModel(request, { hold: 'before' });
  await page.keyboard.press('Enter');
  await waitUntilModelHolds(request);
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

  await page.setViewportSize({ width: 390, height: 500 });
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Looked at some stuff, show this line in your log' }).first().click();
  await expect(panel(page)).toBeHidden();
  expect(await markedLine(page)).toBe('Looked at some stuff');
  await expect(editor(page).getByText('Looked at some stuff')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Open feedback' })).toBeFocused();
});

test('a review is generated and stored for each period, and a failed retry keeps it', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  for (const back of [1, 2, 12])
    await storeLog(request, account.session, daysAgo(back), log('Sent the offer to two customers'));
  await openAs(page, account, '/reviews');
  await failModel(request, { hold: 'after', after: 3 });
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await waitUntilModelHolds(request);
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

test('a review that fails or is cancelled shows it, counts the attempts, and asks for an ended session', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  const { password } = account.person;
  await openAs(page, account, '/reviews');
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  const failure = page.getByRole('region', { name: 'Analysis Error' });
  await test.step('cancel', async () => {
    await failModel(request, { hold: 'before' });
    await generate.click();
    await waitUntilModelHolds(request);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Cancelled. Nothing was saved.' })).toBeVisible();
    await expect(result).toBeHidden();
    await expect(generate).toBeEnabled();
    await inBothThemes(page, expectAccessible);
    await releaseModel(request);
  });

  await test.step('the session ended while the page was open', async () => {
    await page.route('**/auth/v1/token?grant_type=refresh_token', (route) =>
      route.fulfill({ status: 400, json: { code: 'refresh_token_not_found', message: 'Invalid Refresh Token' } }),
    );
    await page.route('**/functions/v1/trend-analysis', (route) =>
      route.fulfill({ status: 401, json: { success: false, code: 'UNAUTHORIZED_INVALID_JWT', error: 'Invalid JWT' } }),
    );
    await generate.click();
    const signIn = page.getByRole('dialog');
    await expect(signIn.getByLabel('Password', { exact: true })).toBeVisible();
    await page.unrouteAll();
    await signIn.getByLabel('Password', { exact: true }).fill(password);
    await signIn.getByLabel('Password', { exact: true }).press('Enter');
    await expect(signIn).toBeHidden();
    await expect(failure).toHaveCount(0);
  });

  await test.step('failures', async () => {
    for (const attempt of [1, 2]) {
      await failModel(request, { reply: 'safety' });
      await generate.click();
      await expect(failure.getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.general);
      await expect(failure.getByText(`Attempt ${attempt}.`)).toBeVisible({ visible: attempt > 1 });
    }
    await inBothThemes(page, expectAccessible);
  });

  await generate.click();
  await expect(result).toBeVisible();
});

test('the focus moves with the buttons of the panel and the reviews, by keyboard alone', async ({
  page,
  signUpCloser,
  request,
}) => {
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
  await waitUntilModelHolds(request);
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
  await waitUntilModelHolds(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await releaseModel(request);
  await press('Generate 7-Day Analysis');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await failModel(request, { hold: 'before' });
  await press('Regenerate Analysis');
  await waitUntilModelHolds(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await releaseModel(request);
});

test('the age of an analysis is updated without an announcement to screen readers', async ({ page, signUpCloser }) => {
  await page.clock.install();
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date · Just now')).toBeVisible();
  const inPanel = await observeChanges(panel(page));
  await page.clock.fastForward('02:00');
  await expect(panel(page).getByText('Up to date · 2m ago')).toBeVisible();
  expect(await inPanel()).toEqual(['TIME']);

  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  // The page's clock is two minutes ahead of the server's.
  await expect(result).toContainText('Generated 2m ago');
  const inReviews = await observeChanges(page.getByRole('main'));
  await page.clock.fastForward('01:01:00');
  await expect(result).toContainText('Generated 1h ago');
  expect(await inReviews()).toEqual(['TIME']);
});

test('the scores of a period are a plot that arrow keys navigate, and a table', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await seedCloser();
  await storeLog(request, account.session, daysAgo(1), log('A day without a score'));
  await scoreDays(request, account, [2, 0]);
  await openAs(page, account, '/reviews');
  const points = page.getByRole('group', { name: /^HustleScores by day/ }).getByRole('link');
  await expect(points).toHaveCount(2);
  await expectAccessible(page);
  const { width, height } = page.viewportSize()!;
  await expectNoHorizontalScroll(page);
  await page.setViewportSize({ width, height });
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

/** Scores days through the API, as another device of the user would. */
async function scoreDays(
  request: APIRequestContext,
  { session }: SeededAccount,
  back: readonly number[],
): Promise<void> {
  for (const days of back) {
    await storeLog(request, session, daysAgo(days), log(`Shipped part ${days} of the billing reconciliation`));
    const answer = await request.post('/functions/v1/ai-feedback', {
      headers: headersOf(session),
      data: { date: daysAgo(days) },
    });
    expect(await answer.text()).toContain('event: done');
  }
}

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('a regenerated review, or its error, is scrolled into view', async ({ page, seedCloser, openAs, request }) => {
    const account = await seedCloser(log(...GOOD_DAY));
    for (const back of [1, 2, 3, 4, 5, 6])
      await storeLog(request, account.session, daysAgo(back), log('Sent two offers'));
    await openAs(page, account, '/reviews');
    await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
    const again = page.getByRole('button', { name: 'Regenerate Analysis' });
    await expect(again).toBeEnabled();
    // Scrolls the button to the lower edge of the window, its lowest clickable position.
    await again.evaluate((button) => button.scrollIntoView({ block: 'end' }));

    await failModel(request, { hold: 'after', after: 3 });
    await again.click();
    await waitUntilModelHolds(request);
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

  test('a tap on the plot selects the day under the finger and offers to open it', async ({
    page,
    seedCloser,
    openAs,
    request,
    expectAccessible,
  }) => {
    const account = await seedCloser(log(...GOOD_DAY));
    await scoreDays(request, account, [11, 10, 9, 8]);
    await openAs(page, account, '/reviews');
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

test('the wins of a review replace the first lines of the logs, and appear once', async ({
  page,
  seedCloser,
  openAs,
  request,
}) => {
  await openAs(page, await seedCloser(log('Looked at some stuff')), '/reviews');
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
