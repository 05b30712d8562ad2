/** Writing a day: the numbered list, the keyboard, the toolbar, pasted content and links. */
import type { Locator, Page } from '@playwright/test';
import { dayLabel } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import {
  editor,
  expectSaved,
  items,
  log,
  daysAgo,
  paste,
  sessionOf,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expect, expectToast, test } from '../support/test.ts';

test('a log starts as a numbered list with a question, is stored as typed, and keeps its undo within the day', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page);
  await expect(editor(page)).toBeFocused();
  await expect(editor(page).locator('ol > li > p')).toHaveAttribute('data-placeholder', 'What have you done today?');
  await expect(editor(page)).toHaveAttribute('role', 'textbox');
  await expect(editor(page)).toHaveAttribute('aria-multiline', 'true');
  await expect(editor(page)).toHaveAccessibleName(/^Log for \w+day - /);
  await expect(editor(page)).toHaveAccessibleDescription(/Escape, then Tab/);
  await page.keyboard.type('Fixed the import\nSaid no to a meeting');
  await expect(editor(page).locator('[data-placeholder]')).toHaveCount(0);
  await expectSaved(page);
  await expect
    .poll(async () => readStoredLog(request, await sessionOf(page), today()))
    .toBe(log('Fixed the import', 'Said no to a meeting'));

  await page.keyboard.type(' today');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['']);
  await editor(page).click();
  await page.keyboard.insertText('yesterday');
  await page.keyboard.press('ControlOrMeta+z');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText(['']);
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(items(page)).toHaveText(['Fixed the import', 'Said no to a meeting today']);
});

test('list, toolbar and focus work by keyboard, and the toolbar never covers the selection', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  const toolbar = page.getByRole('toolbar', { name: 'Formatting' });
  await test.step('Tab nests an item, Escape and Tab leave the editor', async () => {
    await page.keyboard.type('one\nsome plain words');
    await page.keyboard.press('Tab');
    await expect(editor(page).locator('li li')).toHaveText(['some plain words']);
    await page.keyboard.press('Shift+Tab');
    await expect(editor(page).locator('li li')).toHaveCount(0);
    await expect(toolbar).toBeHidden();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect(editor(page)).not.toBeFocused();
  });

  await test.step('Alt+F10 focuses the toolbar, arrows move in it', async () => {
    await editor(page).focus();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Shift+ControlOrMeta+ArrowLeft');
    await expect(toolbar).toBeVisible();
    await page.keyboard.press('Alt+F10');
    await expect(toolbar.getByRole('button', { name: 'Bold' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(toolbar.getByRole('button', { name: 'Bold' })).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('ArrowRight');
    await expect(toolbar.getByRole('button', { name: 'Italic' })).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowLeft');
    await expect(toolbar.getByRole('button', { name: 'Code block' })).toBeFocused();
    await page.keyboard.press('Home');
    await expect(toolbar.getByRole('button', { name: 'Bold' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(toolbar).toBeHidden();
    await expect(editor(page)).toBeFocused();
    await expect(editor(page).locator('strong')).toHaveText('words');
  });

  await test.step('Escape hides the toolbar until the selection changes', async () => {
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await expect(toolbar).toBeVisible();
    // Measured in one step: the toolbar may still be moving.
    const covers = () =>
      toolbar.evaluate((element) => {
        const [bar, text] = [element, document.querySelectorAll('.ProseMirror li')[1]!].map((box) =>
          box.getBoundingClientRect(),
        );
        return bar!.bottom > text!.top && bar!.top < text!.bottom;
      });
    await expect.poll(covers).toBe(false);
    await page.keyboard.press('Escape');
    await expect(toolbar).toBeHidden();
    await page.keyboard.press('Shift+ArrowRight');
    await expect(toolbar).toBeVisible();
  });
});

test('pasted text, tables and Markdown become items, and a pasted script leaves only its text', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page);
  const clear = async (): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    await expect(items(page)).toHaveText(['']);
  };
  await test.step('plain text, each line in its own direction', async () => {
    await paste(page, { 'text/plain': 'left\n2. שלום\n\n[ ] three' });
    await expect(items(page)).toHaveText(['left', '2. שלום', '[ ] three']);
    const starts = await items(page)
      .locator('p')
      .evaluateAll((lines) =>
        lines.map((line) => {
          const words = document.createRange();
          words.selectNodeContents(line);
          const [box, text] = [line.getBoundingClientRect(), words.getBoundingClientRect()];
          return text.left - box.left < box.right - text.right ? 'left' : 'right';
        }),
      );
    expect(starts).toEqual(['left', 'right', 'left']);
  });

  await test.step('a list of Word', async () => {
    await clear();
    const word = (marker: string, text: string) =>
      `<p class=MsoListParagraph style='margin-left:.5in;mso-list:l0 level1 lfo1'><!--[if !supportLists]--><span style='mso-list:Ignore'>${marker}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span><!--[endif]-->${text}</p>`;
    await paste(page, {
      'text/html': `<html><body>${word('1.', 'alpha')}${word('2.', 'beta')}</body></html>`,
      'text/plain': '1. alpha\n2. beta',
    });
    await expect(items(page)).toHaveText(['alpha', 'beta']);
  });

  await test.step('a table with styles', async () => {
    await clear();
    await paste(page, {
      'text/html': '<table style="color:red"><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
    });
    await expect(items(page)).toHaveText(['a · b', 'c · d']);
  });

  await test.step('paragraphs with styles', async () => {
    await clear();
    await paste(page, {
      'text/html': '<p style="margin:0">first</p><p>second</p><p><span style="font-weight:700">third</span></p>',
    });
    await expect(items(page)).toHaveText(['first', 'second', 'third']);
    await expect(editor(page).locator('strong')).toHaveText('third');
  });

  await test.step('Markdown, and one undo', async () => {
    await clear();
    await page.keyboard.type('before');
    await page.keyboard.press('Enter');
    await paste(page, { 'text/plain': '## Done\n\n1. Fixed **login**\n2. `npm ci`\n\n> Ship it.\n> — Ada' });
    await expect(editor(page).locator('h2')).toHaveText('Done');
    await expect(editor(page).locator('ol > li strong')).toHaveText('login');
    await expect(editor(page).locator('blockquote')).toHaveText('Ship it.— Ada');
    await page.keyboard.type('!');
    await expect(editor(page).locator('blockquote')).toHaveText('Ship it.— Ada!');
    await page.keyboard.press('ControlOrMeta+z');
    await page.keyboard.press('ControlOrMeta+z');
    await expect(editor(page).locator('h2, blockquote')).toHaveCount(0);
    await expect(items(page)).toHaveText(['before', '']);
  });

  await test.step('a script, a dangerous link and an image', async () => {
    await clear();
    await paste(page, {
      'text/html':
        '<p>a <a href="javascript:alert(1)">link</a><img src="x" onerror="alert(1)"><script>alert(1)</script></p>',
    });
    await expect(items(page)).toHaveText(['a link']);
    await expect.poll(async () => readStoredLog(request, await sessionOf(page), today())).toBe(log('a link'));
  });
});

const link = (page: Page, address: string) => editor(page).locator(`a[href="${address}"]`);

const openerAndReferrerOf = (tab: Page) => tab.evaluate(() => [window.opener, document.referrer]);

test('typing over all text keeps the numbered list, with an input method too, and Alt with an arrow moves an item', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  await page.keyboard.type('one\ntwo');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('new\nlines');
  await expect(editor(page).locator('ol > li')).toHaveText(['new', 'lines']);

  const devtools = await page.context().newCDPSession(page);
  await page.keyboard.press('ControlOrMeta+a');
  await devtools.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
  await devtools.send('Input.insertText', { text: '日本' });
  await expect(editor(page).locator('ol > li')).toHaveText(['日本']);
  // The editor still follows the composition for a moment; no user deletes all text within milliseconds of it.
  await expectSaved(page);

  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.type('first\nsecond');
  await expect(editor(page).locator('ol > li')).toHaveText(['first', 'second']);
  await page.keyboard.press('Alt+ArrowUp');
  await expect(items(page)).toHaveText(['second', 'first']);
  await page.keyboard.type(' now');
  await expect(items(page)).toHaveText(['second now', 'first']);
});

test('text that is dragged into the log becomes what a paste would make of it', async ({ page, signUp }) => {
  await signUp(page);
  await page.keyboard.type('one');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  const drop = (target: Locator, content: { html?: string; text: string }) =>
    target.evaluate((element, { html, text }) => {
      const data = new DataTransfer();
      if (html !== undefined) data.setData('text/html', html);
      data.setData('text/plain', text);
      const { right, top, height } = element.getBoundingClientRect();
      const at = { clientX: right - 1, clientY: top + height / 2 };
      const given = { bubbles: true, cancelable: true, dataTransfer: data, ...at };
      element.dispatchEvent(new DragEvent('dragover', given));
      element.dispatchEvent(new DragEvent('drop', given));
    }, content);
  // The toolbar, which shows for a selection, comes with the plugins that convert what is dropped.
  await page.keyboard.press('Shift+Home');
  await expect(page.getByRole('toolbar', { name: 'Formatting' })).toBeVisible();
  await page.keyboard.press('End');
  // HTML without structure says less than the text beside it.
  await drop(items(page).first().locator('p'), { html: '<span>a</span><span>- b</span>', text: 'a\n- b' });
  await expect(items(page)).toHaveText(['onea', 'b', 'two']);
  await drop(items(page).last().locator('p'), { html: '<b>!</b>', text: '!' });
  await expect(items(page)).toHaveText(['onea', 'b', 'two!']);
  await expect(editor(page).locator('strong')).toHaveText('!');
  await drop(items(page).last().locator('p'), { text: '## Title\n\nof **words**' });
  await expect(editor(page).locator('h2')).toHaveText('Title');
  await expect(editor(page).locator('strong')).toHaveText(['!', 'words']);
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText(['onea', 'b', 'two!']);
});

test('a pasted or dropped picture says that logs hold text only, and text beside a picture is pasted', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  await page.keyboard.type('words');
  const give = (type: 'paste' | 'drop', html: string) =>
    editor(page).evaluate(
      (target, [event, markup]) => {
        const data = new DataTransfer();
        data.items.add(new File(['x'], 'picture.png', { type: 'image/png' }));
        if (markup) data.setData('text/html', markup);
        const given = { bubbles: true, cancelable: true };
        target.dispatchEvent(
          event === 'paste'
            ? new ClipboardEvent('paste', { clipboardData: data, ...given })
            : new DragEvent('drop', { dataTransfer: data, ...given }),
        );
      },
      [type, html] as const,
    );
  const notice = page.getByText('Logs hold text only.');
  const PICTURES_LEFT_OUT = 'Pictures were left out. Logs hold text only.';
  for (const [type, html, text] of [
    ['paste', '', 'Logs hold text only.'],
    ['drop', '', 'Logs hold text only.'],
    ['paste', '<img src="https://example.com/picture.png">', PICTURES_LEFT_OUT],
  ] as const) {
    await give(type, html);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expectToast(page, text);
    await expect(notice).toBeHidden();
    await editor(page).focus();
  }
  await page.keyboard.type(' ');
  await give('paste', '<p>and more</p>');
  await expect(items(page)).toHaveText(['words and more']);
  await expect(notice).toBeHidden();
  await give('paste', '<p>, with <img src="https://example.com/picture.png">pictures</p>');
  await expect(items(page)).toHaveText(['words and more, with pictures']);
  await expectToast(page, PICTURES_LEFT_OUT);
});

test('a picture pasted before the toolbar has loaded is answered when it has', async ({ page, signUp }) => {
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  const isRequested = page.waitForRequest(/deferred-plugins/);
  await page.route(/deferred-plugins/, async (route) => {
    await isReleased;
    await route.continue();
  });
  await signUp(page);
  await isRequested;
  await editor(page).evaluate((target) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['x'], 'picture.png', { type: 'image/png' }));
    target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  release();
  await expectToast(page, 'Logs hold text only.');
});

test('a paste whose code is still loading stays in the day that is left meanwhile', async ({ page, signUp }) => {
  const { promise: isLeft, resolve: load } = Promise.withResolvers<void>();
  await page.route('**/assets/parse-markdown*', async (route) => {
    await isLeft;
    await route.continue();
  });
  await signUp(page);
  const asked = page.waitForRequest('**/assets/parse-markdown*');
  await paste(page, { 'text/plain': '**Shipped** it' });
  await asked;
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(editor(page)).toHaveAccessibleName(`Log for ${dayLabel(daysAgo(1))}`);
  load();
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(editor(page)).toHaveAccessibleName(`Log for ${dayLabel(today())}`);
  await expect(items(page)).toHaveText(['**Shipped** it']);
});

test('a pasted link keeps its address as text, and opens with Ctrl+click or a key, without an opener', async ({
  page,
  signUp,
  request,
  baseURL,
  expectAccessible,
}) => {
  await signUp(page);
  const address = `${baseURL}${ROUTES.terms.path}`;
  await paste(page, { 'text/html': `<p>see <a href="${address}">the terms</a>, again</p>` });
  await expect(items(page)).toHaveText([`see the terms (${address}), again`]);
  await expect(link(page, address)).toHaveText(address);
  await expectSaved(page);
  await expect
    .poll(async () => readStoredLog(request, await sessionOf(page), today()))
    .toBe(log(`see the terms (${address}), again`));
  await expectAccessible(page);

  // A plain click only moves the caret.
  await link(page, address).click();
  await expect(editor(page)).toBeFocused();
  for (const open of [
    () => link(page, address).click({ modifiers: ['ControlOrMeta'] }),
    () => page.keyboard.press('Alt+Enter'),
  ]) {
    const [tab] = await Promise.all([page.context().waitForEvent('page'), open()]);
    await expect(tab).toHaveURL(address);
    expect(await openerAndReferrerOf(tab)).toEqual([null, '']);
    await tab.close();
    await page.bringToFront();
  }
  expect(page.context().pages()).toHaveLength(1);
});

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test('a tap on a link offers to open it, typing does not, and the menu has no keyboard shortcuts', async ({
    page,
    signUp,
    baseURL,
    expectAccessible,
  }) => {
    await signUp(page);
    const address = `${baseURL}${ROUTES.terms.path}`;
    const offer = page.getByRole('button', { name: `Open link ${address}` });
    await editor(page).tap();
    await page.keyboard.type(`read ${address} and more`);
    await expect(link(page, address)).toBeVisible();
    await expect(offer).toBeHidden();
    await link(page, address).tap();
    await expect(offer).toBeVisible();
    await expectAccessible(page);
    const [tab] = await Promise.all([page.context().waitForEvent('page'), offer.tap()]);
    await expect(tab).toHaveURL(address);
    expect(await openerAndReferrerOf(tab)).toEqual([null, '']);
    await tab.close();
    await page.bringToFront();
    await page.keyboard.type('x');
    await expect(offer).toBeHidden();

    await page.getByRole('button', { name: 'Open menu' }).tap();
    await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Keyboard shortcuts (?)' })).toBeHidden();
  });
});

test('a click on the empty part moves the caret there, a key right after a move acts there, and a drag selects', async ({
  page,
  signUp,
}) => {
  await signUp(page, { path: `/journal?date=${daysAgo(1)}`, logs: { [daysAgo(1)]: log('one', 'two') } });
  await expect(items(page)).toHaveText(['one', 'two']);
  await page.getByRole('button', { name: 'Next day' }).focus();
  const { below, beside } = await page.evaluate(() => {
    const column = document.querySelector('main')!.getBoundingClientRect();
    const line = document.querySelector('.ProseMirror li')!.getBoundingClientRect();
    return {
      below: { x: column.left + column.width / 2, y: innerHeight - 20 },
      beside: { x: column.right - 5, y: line.top + line.height / 2 },
    };
  });
  const cursor = page.evaluate(({ x, y }) => {
    return getComputedStyle(document.elementFromPoint(x, y)!, '::before').cursor;
  }, below);
  expect(await cursor).toBe('text');

  await page.mouse.click(below.x, below.y);
  await page.keyboard.insertText(' and a half');
  await expect(items(page)).toHaveText(['one', 'two and a half']);
  await page.mouse.click(beside.x, beside.y);
  await page.keyboard.insertText(' of them');
  await expect(items(page)).toHaveText(['one of them', 'two and a half']);

  // Both within one task: the browser reports the moved caret only after it.
  await editor(page).evaluate((element) => {
    getSelection()!.collapse(element.querySelectorAll('p')[1]!.firstChild, 'two'.length);
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 13, bubbles: true, cancelable: true }));
  });
  await expect(items(page)).toHaveText(['one of them', 'two', ' and a half']);
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText(['one of them', 'two and a half']);

  const last = (await items(page).nth(1).boundingBox())!;
  await page.mouse.move(last.x + 60, last.y + 10);
  await page.mouse.down();
  await page.mouse.move(below.x, below.y, { steps: 5 });
  await page.mouse.up();
  expect(await page.evaluate(() => getSelection()!.toString())).toMatch(/.half$/);

  await page.mouse.move(below.x, below.y);
  await page.mouse.down();
  await expect(editor(page)).not.toBeFocused();
  await page.mouse.move(beside.x, beside.y, { steps: 5 });
  await page.mouse.up();
  await expect(editor(page)).not.toBeFocused();
});
