/** Import of another journal: preview, locked days of a Dabbler, undo, folders, drops, and files that are refused. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { dateLabel, type Day } from '#domain/day/day.ts';
import { daysAgo, log, readStoredLog, storeLog } from './support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from './support/test.ts';

type Entry = { date: string; title?: string; body: string; time?: string };
const jrnl = (...entries: Entry[]): string =>
  JSON.stringify({ tags: {}, entries: entries.map((entry) => ({ title: '', time: '08:00', ...entry })) });

const choose = (page: Page, name: string, text: string): Promise<void> =>
  page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

const group = (page: Page) => page.getByRole('group', { name: 'Import Data' });
const importButton = (page: Page, count: string) => page.getByRole('button', { name: `Import ${count}` });

test('a Dabbler imports days of any age, sees how many wait, and undoes the whole import', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { session } = account;
  const mine: Day = daysAgo(2);
  await storeLog(page.request, session, mine, log('mine'));
  const lockedLog = daysAgo(90);
  await accounts.writeLog(account, lockedLog, log('an old one'));
  await openAs(page, account, '/settings');
  await inBothThemes(page, expectAccessible);
  await choose(
    page,
    'journal.json',
    jrnl(
      { date: daysAgo(400), body: 'A year ago' },
      { date: daysAgo(401), title: 'Before that', body: 'Two\nlines' },
      { date: lockedLog, body: 'of the file' },
      { date: mine, body: 'later', time: '21:00' },
      { date: mine, body: '**early**', time: '07:00' },
      { date: '2023-02-30', body: 'x' },
    ),
  );
  const preview = group(page);
  await expect(preview.getByRole('status')).toContainText('jrnl: 4 days');
  await expect(preview.getByRole('status')).toContainText(
    `From ${dateLabel(daysAgo(401))} to ${dateLabel(mine)}. Nothing has been imported yet.`,
  );
  await expect(preview).toContainText('with a locked log of yours, which stays as it is');
  await expect(preview).toContainText('journal.json, entry 6: This date does not exist.');
  await expect(preview).toContainText('2 of these days are older than 30 days.');
  await expect(page.getByRole('radio', { name: /^Keep both/ })).toBeChecked();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  await importButton(page, '3 Days').click();
  await expect(page.getByRole('status').filter({ hasText: 'Imported 3 days.' })).toBeVisible();
  await expect(group(page)).toBeFocused();
  await expect(page.getByText('3 of your logs are waiting.')).toBeVisible();
  await expect(group(page).getByRole('button', { name: 'Upgrade to Closer' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expect
    .poll(() => readStoredLog(page.request, session, mine))
    .toBe(`${log('mine')}<h3>From jrnl</h3><p><strong>early</strong></p><p></p><p>later</p>`);
  await expect.poll(() => readStoredLog(page.request, session, daysAgo(400)), 'locked').toBeNull();

  await test.step('a repeated import finds nothing to do', async () => {
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await choose(page, 'again.json', jrnl({ date: mine, body: '**early**\n\nlater' }));
    await expect(group(page)).toContainText('There is nothing to import.');
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  await test.step('the undo of the whole import', async () => {
    const past = page.getByRole('list', { name: 'Earlier imports' });
    await expect(past).toContainText(/^3 days from jrnl imported on \w+ \d+, \d{4} at \d+:\d{2}/);
    await past.getByRole('button', { name: 'Undo Import' }).click();
    await expect(page.getByRole('button', { name: 'Undo 3 Days' })).toBeFocused();
    await inBothThemes(page, expectAccessible);
    await page.setViewportSize({ width: 360, height: 480 });
    await page.getByRole('button', { name: 'Undo 3 Days' }).click();
    await expect(
      page.getByRole('status').filter({ hasText: 'The import is undone: 3 days taken back.' }),
    ).toBeInViewport();
    await expect.poll(() => readStoredLog(page.request, session, mine)).toBe(log('mine'));
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await expect(past).toHaveCount(0);
  });

  await test.step('an upgrade opens what was there before the import, and no more', async () => {
    await accounts.upgrade(account);
    await expect.poll(() => readStoredLog(page.request, session, lockedLog)).toBe(log('an old one'));
    await expect.poll(() => readStoredLog(page.request, session, daysAgo(400))).toBeNull();
  });
});

test('takes a dropped file, a zip and a folder, and says of other files what to do instead', async ({
  page,
  accounts,
  openAs,
  expectAccessible,
}, testInfo) => {
  const account = await accounts.create();
  await openAs(page, account, '/settings');
  for (const [name, text, reason] of [
    ['diary.pdf', '%PDF-1.7', 'A PDF holds pages, not days.'],
    ['notes.txt', 'Dear diary', 'We found text, but no dates.'],
    ['backup.zip', 'not a zip', 'backup.zip is damaged and cannot be unpacked.'],
  ] as const) {
    await choose(page, name, text);
    await expect(page.getByRole('alert').filter({ hasText: reason })).toBeVisible();
  }
  await page.getByText('What to export from your journal').click();
  await expect(page.getByText('Export as JSON or plain text: the zip')).toBeVisible();
  await inBothThemes(page, expectAccessible);

  const data = await page.evaluateHandle(
    (text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'journal.json'));
      return transfer;
    },
    jrnl({ date: daysAgo(1), body: 'Dropped' }),
  );
  await group(page).dispatchEvent('dragover', { dataTransfer: data });
  await expect(group(page)).toHaveAttribute('data-over', 'true');
  await group(page).dispatchEvent('drop', { dataTransfer: data });
  await importButton(page, '1 Day').click();
  await expect(page.getByRole('status').filter({ hasText: 'Imported 1 day.' })).toBeVisible();
  await expect.poll(() => readStoredLog(page.request, account.session, daysAgo(1))).toBe('<p>Dropped</p>');
  await page.getByRole('button', { name: 'Close', exact: true }).click();

  const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false });
  await zip.add('export/journal.json', new TextReader(jrnl({ date: daysAgo(2), body: 'Packed' })));
  await zip.add('export/photos/a.jpg', new TextReader('not read'));
  const buffer = Buffer.from(await (await zip.close()).arrayBuffer());
  await page.getByLabel('File to import').setInputFiles({ name: 'journal.zip', mimeType: 'application/zip', buffer });
  await expect(group(page).getByRole('status')).toContainText('jrnl: 1 day');
  await page.getByRole('button', { name: 'Cancel' }).click();

  const folder = testInfo.outputPath('journal');
  await mkdir(folder, { recursive: true });
  for (const [index, words] of ['Today', 'Yesterday'].entries())
    await writeFile(join(folder, `${daysAgo(index + 3)}.md`), `# ${words}\n\n- one\n- two\n`);
  await page.getByLabel('Folder to import').setInputFiles(folder);
  await importButton(page, '2 Days').click();
  await expect(page.getByRole('status').filter({ hasText: 'Imported 2 days.' })).toBeVisible();
  await expect.poll(() => readStoredLog(page.request, account.session, daysAgo(3))).toContain('<li><p>two</p></li>');
});

test.describe('without the server', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('an import says what could not be loaded, and goes on where it stood', async ({
    page,
    context,
    signUp,
    expectAccessible,
  }) => {
    const LIST = '**/functions/v1/list-imports';
    await context.route(LIST, (route) => route.abort());
    await signUp(page, { path: '/settings' });
    await expect(group(page).getByRole('alert')).toHaveText("Couldn't load your earlier imports.");
    await inBothThemes(page, expectAccessible);
    await context.unroute(LIST);
    await group(page).getByRole('button', { name: 'Try again' }).click();
    await expect(group(page).getByRole('alert')).toHaveCount(0);

    const WORKER = /\/assets\/import-worker/;
    await context.route(WORKER, (route) => route.abort());
    await choose(page, 'journal.json', jrnl({ date: daysAgo(1), body: 'Kept' }));
    const alert = group(page).getByRole('alert');
    await expect(alert).toContainText('The page could not load what reads these files.');
    await inBothThemes(page, expectAccessible);
    await context.unroute(WORKER);
    const DATES = '**/rest/v1/entries?select=date*';
    await context.route(DATES, (route) => route.abort());
    await group(page).getByRole('button', { name: 'Try again' }).click();
    await expect(alert).toContainText("Couldn't load your logs to compare them with the files. Nothing was changed.");
    await context.unroute(DATES);
    await group(page).getByRole('button', { name: 'Try again' }).click();
    await importButton(page, '1 Day').click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 1 day.' })).toBeVisible();
  });
});
