/** Scenes of a day that another device changed. The answers are made up, so the account's own day stays as it is. */
import type { Page } from '@playwright/test';
import { ROUTES } from '#domain/routes.ts';
import type { Scene } from './scene.ts';

const ROW = { id: '00000000-0000-4000-8000-000000000001', updated_at: new Date().toISOString() };
const LINES = ['Shipped the billing report', 'Called the supplier', 'Reviewed four pull requests', 'Wrote the notes'];
const log = (texts: readonly string[]): string => `<ol>${texts.map((text) => `<li><p>${text}</p></li>`).join('')}</ol>`;

const dateOf = (url: string): string => /date(?:=|\.)eq\.([\d-]+)/.exec(decodeURIComponent(url))![1]!;

/** Writes `lines`. Then edits the last `count` lines here, and the same lines on another device. */
async function editTwice(page: Page, count: number, lines = LINES): Promise<void> {
  const theirs = lines.map((line, index) => (index < lines.length - count ? line : `From the phone: ${line}`));
  let writes = 0;
  await page.route('**/rest/v1/entries*', async (route) => {
    if (route.request().method() === 'GET') {
      // The page may read the day again before it is edited, for example when the connection returns.
      const stored = writes < 2 ? { revision: 1, content: log(lines) } : { revision: 2, content: log(theirs) };
      return route.fulfill({ json: writes === 0 ? [] : [{ ...ROW, date: dateOf(route.request().url()), ...stored }] });
    }
    writes += 1;
    // The second write matches no row, because the other device has changed it.
    return route.fulfill({ json: writes === 2 ? [] : [{ ...ROW, revision: writes }] });
  });
  await page.locator('.ProseMirror[contenteditable=true]').click();
  await page.keyboard.insertText(lines[0]!);
  for (const line of lines.slice(1)) {
    await page.keyboard.press('Enter');
    await page.keyboard.insertText(line);
  }
  // The page sends unsaved text at once when the connection returns.
  const save = (): Promise<unknown> => page.evaluate(() => dispatchEvent(new Event('online')));
  await save();
  await page
    .getByRole('status')
    .filter({ hasText: /^Saved/ })
    .waitFor();
  // No timer may send the day before all of its lines are edited.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  // Edits from the top down: on a phone an edited line wraps, so from below ArrowUp would need two presses to leave it.
  for (let index = 1; index < count; index += 1) await page.keyboard.press('ArrowUp');
  for (let index = 0; index < count; index += 1) {
    if (index > 0) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.insertText(', at the desk');
  }
  await page.clock.resume();
  await save();
}

async function openKeyboard(page: Page): Promise<void> {
  const { width, height } = page.viewportSize()!;
  await page.setViewportSize({ width, height: height / 2 });
}

export const TWO_DEVICES_SCENES: readonly Scene[] = [
  {
    name: 'merged-twice',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await editTwice(page, 1);
      await page.getByText('A line was edited here and somewhere else.').waitFor();
    },
  },
  {
    name: 'conflict',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await editTwice(page, LINES.length);
      await page.getByRole('button', { name: 'Keep both' }).waitFor();
    },
  },
  {
    // The keyboard of a phone covers half of the page, so the question is below the visible part.
    name: 'conflict-keyboard',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openKeyboard(page);
      const lines = [...LINES, 'Paid the invoices', 'Planned the week', 'Cleared the inbox', 'Wrote to the press'];
      await editTwice(page, lines.length, lines);
      await page.getByRole('button', { name: 'Show' }).waitFor();
    },
  },
  {
    name: 'merged-keyboard',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openKeyboard(page);
      await editTwice(page, 1);
      await page.getByText('A line was edited here and somewhere else.').waitFor();
    },
  },
  {
    name: 'merge-missing',
    as: 'newcomer',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route(/merge-logs.*\.js$/, (route) => route.abort());
      await editTwice(page, 1);
      await page.getByText('Not saved – reload the page to save it').waitFor();
    },
  },
];
