/**
 * Two devices of a user write on the same day: their versions are merged, and the user is asked only if both rewrote
 * most lines.
 */
import {
  editor,
  expectSaved,
  holdWrites,
  items,
  log,
  openDay,
  sessionOf,
  skipToSave,
  status,
  readStoredLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expect, expectToast, reportNoIdleTime, test } from '../support/test.ts';
import type { Locator, Page } from '@playwright/test';

const MERGED_TWICE = 'A line was edited here and somewhere else. Both versions are kept, one below the other.';

const conflict = (page: Page): Locator => page.getByRole('heading', { name: 'This day was changed somewhere else.' });

test.beforeEach(({ page }) => page.clock.install());

/** Types behind the last line. */
async function append(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(text);
}

test('lines and edits of two devices become one day without a question, and the caret stays', async ({
  page,
  browser,
  baseURL,
  signUp,
  request,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('shared');
  await skipToSave(page);
  await expectSaved(page);
  const phone = await browser.newContext({ baseURL: baseURL!, storageState: await page.context().storageState() });
  await phone.clock.install();
  // Without live updates, the other device reads the day only when the user comes back to it.
  await phone.addInitScript(reportNoIdleTime);
  const other = await phone.newPage();
  await openDay(other, today());
  await expect(items(other)).toHaveText(['shared']);

  await test.step('both add a line, and this device goes on typing in its own', async () => {
    const release = await holdWrites(page);
    await append(page, '\nfrom the desk');
    await append(other, '\nfrom the phone');
    await Promise.all([skipToSave(page), skipToSave(other)]);
    await expect.poll(() => readStoredLog(request, session, today())).toContain('from the phone');
    release();
    await expect(items(page)).toHaveText(['shared', 'from the desk', 'from the phone']);
    await page.keyboard.type(' and more');
    await expect(items(page)).toHaveText(['shared', 'from the desk and more', 'from the phone']);
    await skipToSave(page);
    await expectSaved(page);
    const merged = log('shared', 'from the desk and more', 'from the phone');
    await expect.poll(() => readStoredLog(request, session, today())).toBe(merged);
  });

  await test.step('undo takes back what was typed here, and nothing of the other device', async () => {
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ControlOrMeta+z');
    await expect(items(page).last()).toHaveText('from the phone');
    await expect(items(page).getByText('and more')).toHaveCount(0);
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ControlOrMeta+Shift+z');
    await expect(items(page)).toHaveText(['shared', 'from the desk and more', 'from the phone']);
    await skipToSave(page);
    await expectSaved(page);
  });

  await test.step('the other device shows the merged day when the user comes back to it', async () => {
    await other.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
    await expect(items(other)).toHaveText(['shared', 'from the desk and more', 'from the phone']);
  });

  await test.step('an item that both edited is kept twice, and one message says so', async () => {
    const release = await holdWrites(page);
    await append(page, ' and the desk');
    await append(other, ' and a walk');
    await Promise.all([skipToSave(page), skipToSave(other)]);
    await expect.poll(() => readStoredLog(request, session, today())).toContain('and a walk');
    release();
    const both = ['shared', 'from the desk and more', 'from the phone and the desk', 'from the phone and a walk'];
    await expect(items(page)).toHaveText(both);
    await expectToast(page, MERGED_TWICE);
    await expectSaved(page);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...both));
    await expect(page.getByText(MERGED_TWICE)).toHaveCount(1);
    await page.keyboard.type('!');
    await expect(items(page).nth(2)).toHaveText('from the phone and the desk!');
  });
  await phone.close();
});

test('a day that both devices rewrote asks: both can be kept, or the other one taken and undone', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  const texts = ['first', 'second', 'third', 'fourth'];
  await signUp(page, { logs: { [today()]: log(...texts) } });
  const session = await sessionOf(page);

  /** Both devices edit every line. */
  const rewrite = async (lines: readonly string[], here: string, there: string): Promise<void> => {
    const release = await holdWrites(page);
    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+Home');
    for (const [index] of lines.entries()) {
      if (index > 0) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('End');
      await page.keyboard.insertText(` ${here}`);
    }
    await storeLog(request, session, today(), log(...lines.map((line) => `${there} ${line}`)));
    await skipToSave(page);
    release();
    await expect(conflict(page)).toBeVisible();
  };

  const both = texts.flatMap((text) => [`${text} desk`, `phone ${text}`]);
  await test.step('keep both', async () => {
    await rewrite(texts, 'desk', 'phone');
    await expect(status(page, 'Not saved – changed elsewhere')).toBeVisible();
    // A stray click beside the two versions writes in neither.
    await expect(page.getByRole('article')).toHaveAttribute('data-writable', 'false');
    // The bars fade while the user writes and return with the pointer.
    await page.mouse.move(300, 300);
    await expectAccessible(page);
    await expect
      .poll(() => readStoredLog(request, session, today()))
      .toBe(log(...texts.map((text) => `phone ${text}`)));
    await page.getByRole('button', { name: 'Keep both' }).click();
    await expect(items(page)).toHaveText(both);
    await expectSaved(page);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...both));
  });

  await test.step('use the other one, and undo', async () => {
    await rewrite(both, 'again', 'anew');
    await page.getByRole('button', { name: 'Use the other one' }).click();
    await expect(items(page)).toHaveText(both.map((line) => `anew ${line}`));
    await editor(page).focus();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(items(page)).toHaveText(both.map((line) => `${line} again`));
    await skipToSave(page);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...both.map((line) => `${line} again`)));
  });

  await test.step('use the other one, and undo from the toast on another day', async () => {
    const mine = both.map((line) => `${line} again`);
    await rewrite(mine, 'late', 'early');
    await page.getByRole('button', { name: 'Use the other one' }).click();
    await expect(items(page)).toHaveText(mine.map((line) => `early ${line}`));
    const toast = status(page, 'This day has the other version now.');
    await toast.getByRole('button', { name: 'Undo' }).click();
    await expectToast(page, 'Your text is back as it was.');
    await expect(items(page)).toHaveText(mine.map((line) => `${line} late`));
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log(...mine.map((line) => `${line} late`)));
  });
});

test.describe('on a phone with an open keyboard', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 422 } });

  test('a toast tells of a question below the visible part, and the caret stays', async ({ page, signUp, request }) => {
    const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
    await signUp(page, { logs: { [today()]: log(...lines) } });
    const session = await sessionOf(page);
    await items(page).first().tap();
    await page.keyboard.press('ControlOrMeta+End');
    const release = await holdWrites(page);
    for (const [index] of lines.entries()) {
      if (index > 0) await page.keyboard.press('ArrowUp');
      await page.keyboard.press('End');
      await page.keyboard.insertText(' desk');
    }
    await storeLog(request, session, today(), log(...lines.map((line) => `phone ${line}`)));
    await skipToSave(page);
    release();

    const toast = page.getByRole('status').filter({ hasText: 'This day was changed somewhere else.' });
    await page.clock.runFor(200);
    await expect(toast).toBeInViewport();
    await expect(conflict(page)).not.toBeInViewport();
    await page.keyboard.type('!');
    await expect(items(page).first()).toHaveText('line 1 desk!');
    await toast.getByRole('button', { name: 'Dismiss' }).tap();
    await expect(toast).toBeHidden();
    await page.clock.runFor(20_200);
    await toast.getByRole('button', { name: 'Show' }).tap();
    await expect(conflict(page)).toBeInViewport();
    await expect(toast).toBeHidden();
    await page.getByRole('button', { name: 'Keep both' }).tap();
    await expect(items(page)).toHaveCount(24);
    await page.clock.runFor(20_200);
    await expect(toast).toBeHidden();
    await expectSaved(page);
  });
});

test.describe('when the merge cannot be loaded', () => {
  test.use({ expectedErrors: /Failed to load resource|Failed to fetch dynamically imported module/ });

  test('the text stays on this device, the status asks for a reload, and the reload merges', async ({
    page,
    signUp,
    request,
  }) => {
    await page.route(/merge-logs.*\.js$/, (route) => route.abort());
    await signUp(page, { logs: { [today()]: log('shared') } });
    const session = await sessionOf(page);
    const release = await holdWrites(page);
    await append(page, '\nfrom the desk');
    await storeLog(request, session, today(), log('shared', 'from the phone'));
    await skipToSave(page);
    release();
    await expect(status(page, 'Not saved – reload the page to save it')).toBeVisible();
    await expect(items(page)).toHaveText(['shared', 'from the desk']);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log('shared', 'from the phone'));
    await page.unroute(/merge-logs.*\.js$/);
    await page.reload();
    await expect(items(page)).toHaveText(['shared', 'from the desk', 'from the phone']);
    await expectSaved(page);
    await expect
      .poll(() => readStoredLog(request, session, today()))
      .toBe(log('shared', 'from the desk', 'from the phone'));
  });
});
