/** Typed Markdown with a keyboard and with input methods, whose events only a browser sends. */
import type { CDPSession } from '@playwright/test';
import { editor, expectSaved, items, log, readStoredLog, sessionOf, today } from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

const compose = (devtools: CDPSession, text: string, replaced?: { from: number; to: number }) =>
  devtools.send('Input.imeSetComposition', {
    text,
    selectionStart: text.length,
    selectionEnd: text.length,
    ...(replaced && { replacementStart: replaced.from, replacementEnd: replaced.to }),
  });
const commit = (devtools: CDPSession, text: string) => devtools.send('Input.insertText', { text });

/** Android's keyboards name no key, and the page gets an event that names the deletion. */
const phoneBackspace = (devtools: CDPSession) =>
  devtools.send('Input.dispatchKeyEvent', {
    type: 'rawKeyDown',
    key: 'Unidentified',
    windowsVirtualKeyCode: 229,
    commands: ['DeleteBackward'],
  });

test('formulas, names and globs stay as typed, and Backspace takes back what became formatting', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page);
  await page.keyboard.type('2 * 3 * 4\ncall __init__ now\nrm *.log *.tmp\n**bold** and *it*\n');
  await expect(items(page)).toHaveText(['2 * 3 * 4', 'call __init__ now', 'rm *.log *.tmp', 'bold and it', '']);
  await expect(editor(page).locator('strong')).toHaveText('bold');
  await expect(editor(page).locator('em')).toHaveText('it');
  await page.keyboard.type('*note*');
  await expect(items(page).last()).toHaveText('note');
  await page.keyboard.press('Backspace');
  await expect(items(page).last()).toHaveText('*note*');
  await page.keyboard.type(' stays');
  await expectSaved(page);
  await expect
    .poll(async () => readStoredLog(request, await sessionOf(page), today()))
    .toBe(
      log('2 * 3 * 4', 'call __init__ now', 'rm *.log *.tmp', '<strong>bold</strong> and <em>it</em>', '*note* stays'),
    );

  await test.step('the start of a paragraph', async () => {
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.keyboard.type('2026. A good year');
    await expect(editor(page).locator(':scope > p')).toHaveText('2026. A good year');
    await page.keyboard.press('Enter');
    await page.keyboard.type('7. ');
    await expect(editor(page).locator('ol[start="7"]')).toBeVisible();
    await page.keyboard.press('Backspace');
    await expect(editor(page).locator(':scope > p').last()).toHaveText('7.');
    await page.keyboard.type('November');
    await expect(editor(page).locator(':scope > p').last()).toHaveText('7. November');
  });
});

test('an input method gets the typed characters back by one Backspace, and they stay', async ({ page, signUp }) => {
  await signUp(page);
  const devtools = await page.context().newCDPSession(page);
  const strong = editor(page).locator('strong');
  const line = editor(page).locator(':scope > p').last();

  await test.step('after a composition with the signs, by the key', async () => {
    await compose(devtools, '**大');
    await compose(devtools, '**大事**');
    await expect(strong).toHaveCount(0);
    await commit(devtools, '**大事**');
    await expect(strong).toHaveText('大事');
    await page.keyboard.press('Backspace');
    await expect(items(page)).toHaveText(['**大事**']);
    await compose(devtools, 'です');
    await commit(devtools, 'です');
    await expect(items(page)).toHaveText(['**大事**です']);
    await expect(strong).toHaveCount(0);
  });

  await test.step('after a composed word and a sign, without a key', async () => {
    await page.keyboard.press('Enter');
    await commit(devtools, '**');
    await compose(devtools, 'bold');
    await commit(devtools, 'bold');
    await commit(devtools, '*');
    await commit(devtools, '*');
    await expect(strong).toHaveText('bold');
    await phoneBackspace(devtools);
    await expect(items(page).last()).toHaveText('**bold**');
    await commit(devtools, ' word');
    await expect(items(page).last()).toHaveText('**bold** word');
    await expect(strong).toHaveCount(0);
  });

  await test.step('at the start of a paragraph', async () => {
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await commit(devtools, '7.');
    await commit(devtools, ' ');
    await expect(editor(page).locator('ol[start="7"]')).toBeVisible();
    await phoneBackspace(devtools);
    await expect(editor(page).locator(':scope > p')).toHaveText('7.');
    await commit(devtools, 'November');
    await expect(editor(page).locator(':scope > p')).toHaveText('7. November');
  });

  await test.step('when the page only sees the deletion', async () => {
    await page.keyboard.press('Enter');
    await page.keyboard.type('**bold**');
    await expect(strong).toHaveText('bold');
    await page.evaluate(() => document.execCommand('delete'));
    await expect(line).toHaveText('**bold**');
  });
});

test('an input method whose Backspace composes the converted word again gives the typed characters back', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  const devtools = await page.context().newCDPSession(page);
  await page.keyboard.type('**bold**');
  await expect(editor(page).locator('strong')).toHaveText('bold');
  await compose(devtools, 'bol', { from: 0, to: 4 });
  await expect(items(page)).toHaveText(['**bold**']);
  await commit(devtools, '');
  await page.keyboard.type(' word');
  await expect(items(page)).toHaveText(['**bold** word']);
  await expect(editor(page).locator('strong')).toHaveCount(0);
});

test('a name that begins with an underscore stays as composed, and formatting before another word stays too', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  const devtools = await page.context().newCDPSession(page);
  const composeWord = async (word: string) => {
    await compose(devtools, word.slice(0, -1));
    await compose(devtools, word);
    await commit(devtools, word);
  };
  for (const word of ['_', 'id', '_']) await (word === '_' ? commit(devtools, word) : composeWord(word));
  await expect(editor(page).locator('em')).toHaveText('id');
  await composeWord('token');
  await expect(items(page)).toHaveText(['_id_token']);
  await page.keyboard.press('Backspace');
  await composeWord('n');
  await expect(items(page)).toHaveText(['_id_token']);
  await expect(editor(page).locator('em')).toHaveCount(0);
  await commit(devtools, ' _new_');
  await expect(editor(page).locator('em')).toHaveText('new');
  await composeWord('。それ');
  await expect(items(page)).toHaveText(['_id_token new。それ']);
  await expect(editor(page).locator('em')).toHaveText('new');
});
