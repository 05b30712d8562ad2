/** The coach's feedback on a day, with the sandbox's model: every worker has its own server and model. */
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import type { Page } from '@playwright/test';
import { readOwnRows } from '../support/billing.ts';
import {
  failModel,
  GOOD_DAY,
  waitUntilModelHolds,
  openPanel,
  panel,
  analyseElsewhere,
  releaseModel,
  resetModel,
  score,
  readStoredFeedback,
  test,
} from '../support/coach.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  storeLog,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect } from '../support/test.ts';

test.afterEach(({ request }) => resetModel(request));

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
  await choice.click();
  await expect(choice).not.toBeChecked();
  const isGiven = async () => (await readOwnRows<{ ai_consent: boolean }>(page, 'profiles'))[0]!.ai_consent;
  await expect.poll(isGiven).toBe(false);
  await page.getByRole('link', { name: 'Back to Journal' }).click();
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
    await expect(panel(page).getByText(AI_MESSAGES.cancelled).first()).toBeVisible();
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

test('lines that are removed or rewritten after an analysis stay removed or rewritten on the next page', async ({
  page,
  context,
  signUpCloser,
  request,
}) => {
  const selectLine = async (index: number) => {
    await items(page).nth(index).click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
  };
  await signUpCloser('Closed 12 of 15 tickets', 'Bob was rude', 'Anna was late');
  const session = await sessionOf(page);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();

  await test.step('an analysis with the last word unsaved', async () => {
    await selectLine(1);
    await page.keyboard.type('Bob was loud');
    await panel(page).getByRole('button', { name: 'Refresh Analysis' }).click();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await expectSaved(page);
  });

  await selectLine(1);
  await page.keyboard.type('Talked with Bob');
  await selectLine(2);
  await page.keyboard.press('Backspace');
  const lines = ['Closed 12 of 15 tickets', 'Talked with Bob', ''];
  await expect(items(page)).toHaveText(lines);
  await page.close();
  // The closing page sends its last save. Waits until the server has it, before the next page opens.
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...lines));
  const next = await context.newPage();
  await openDay(next, today());
  await expectSaved(next);
  await expect(items(next)).toHaveText(lines);
  await expect(next.getByRole('heading', { name: 'This day was changed somewhere else.' })).toBeHidden();
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...lines));
  await openPanel(next);
  await panel(next).getByRole('button', { name: 'Refresh Analysis' }).click();
  await expect(panel(next).getByText('Up to date')).toBeVisible();
});

test('the panel follows the open day, shows feedback of another device, and is printed below the log', async ({
  page,
  signUpCloser,
  request,
  expectAccessible,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(panel(page)).toContainText(AI_MESSAGES.noEntry);
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(panel(page)).toContainText('No feedback for this day yet.');
  await analyseElsewhere(request, await sessionOf(page), today());
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(panel(page).getByText('Up to date')).toBeVisible();

  await test.step('in print', async () => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 794, height: 1123 });
    await expect(panel(page)).toContainText('Sandbox model: 2 items');
    const pixelsBelowLog = async (): Promise<number> => {
      const [day, feedback] = [await items(page).last().boundingBox(), await panel(page).boundingBox()];
      return feedback!.y - day!.y - day!.height;
    };
    await expect.poll(pixelsBelowLog).toBeGreaterThan(0);
    // The feedback begins directly below the log, not on the next printed page.
    expect(await pixelsBelowLog()).toBeLessThan(200);
    for (const name of ['Close', 'Force Refresh'])
      await expect(panel(page).getByRole('button', { name, exact: true })).toBeHidden();
    await expectNoHorizontalScroll(page);
    await expectAccessible(page);
  });
});

test('beside the panel the shortcuts work, and feedback on a log that changed since is outdated at once', async ({
  page,
  signUpCloser,
}) => {
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date')).toBeVisible();

  await test.step('shortcuts', async () => {
    await page.keyboard.press('Alt+ArrowLeft');
    await expect(page).toHaveURL(new RegExp(`date=${daysAgo(1)}`));
    await page.keyboard.press('Alt+t');
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await page.keyboard.press('ControlOrMeta+k');
    await expect(page.getByRole('combobox')).toBeFocused();
    // A modal dialog blocks them.
    await page.keyboard.press('Alt+ArrowLeft');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('combobox')).toBeHidden();
    await expect(panel(page).getByText('Up to date')).toBeVisible();
  });

  await test.step('a change while the panel is closed', async () => {
    await panel(page).getByRole('button', { name: 'Close' }).click();
    await items(page).first().click();
    await page.keyboard.press('End');
    await page.keyboard.type(' at last');
    await expectSaved(page);
    // Without an answer the panel knows it from the revision of the open log.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/rest/v1/entries?*ai_feedback*', async (route) => {
      await released;
      await route.continue();
    });
    await openPanel(page);
    await expect(panel(page).getByText('Analysis outdated')).toBeVisible();
    await expect(panel(page).getByRole('button', { name: 'Refresh Analysis' })).toBeVisible();
    release();
  });
});

test.describe('a log without feedback', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_INTERNET_DISCONNECTED/ });

  test('shows why: too short, a quick option, or unsaved text', async ({ page, context, signUpCloser, request }) => {
    const analyse = panel(page).getByRole('button', { name: 'Get Fresh Analysis' });
    await signUpCloser('Too few');
    await storeLog(request, await sessionOf(page), daysAgo(1), '<p>Had a lazy day</p>');
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

    await page.getByRole('button', { name: 'Previous day' }).click();
    await analyse.click();
    await expect(panel(page).getByRole('alert')).toContainText(AI_MESSAGES.canned);
  });
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
  await expectAccessible(page);
  await expectNoHorizontalScroll(page);
  await page.keyboard.press('Escape');
  await expect(panel(page)).toBeHidden();
  await expect(editor(page)).toBeVisible();

  await page.setViewportSize({ width: 390, height: 500 });
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Looked at some stuff, show this line in your log' }).first().click();
  await expect(panel(page)).toBeHidden();
  await expect.poll(() => markedLine(page)).toBe('Looked at some stuff');
  await expect(editor(page).getByText('Looked at some stuff')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Open feedback' })).toBeFocused();
});

test('the feedback on a deleted day is back when the deletion is undone', async ({ page, signUpCloser, request }) => {
  await signUpCloser(...GOOD_DAY);
  const session = await sessionOf(page);
  await analyseElsewhere(request, session, today());
  await openPanel(page);
  await expect(score(page)).toBeVisible();
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await expect(score(page)).toHaveCount(0);
  await expect.poll(() => readStoredLog(request, session, today())).toBeNull();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(panel(page)).toContainText('Up to date');
  await expect(score(page)).toBeVisible();
});
