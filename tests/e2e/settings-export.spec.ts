/** Export and import of all logs: the files, failures, and days that differ. No log is overwritten without a choice. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { addDays, dateLabel, dayLabel, type Day } from '#domain/day/day.ts';
import { daysAgo, editor, headersOf, log, readStoredLog, storeLog, today } from './support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test as base } from './support/test.ts';
import type { SeededAccount } from './support/accounts.ts';

const test = base.extend<{ closer: SeededAccount }>({
  closer: async ({ accounts }, use) => {
    const account = await accounts.create();
    await accounts.upgrade(account);
    await use(account);
  },
});

const exportButton = (page: Page) => page.getByRole('button', { name: 'Export All Entries' });

async function exportAs(page: Page, format: string): Promise<{ name: string; text: string }> {
  await page.getByRole('radio', { name: format }).check();
  const [download] = await Promise.all([page.waitForEvent('download'), exportButton(page).click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}

const jsonOf = (...days: { date: string; content: string; [field: string]: unknown }[]): string =>
  JSON.stringify({ format: 'hustle-forge/1', exportedAt: new Date().toISOString(), entries: days });

test.describe('a premium user', () => {
  async function write(page: Page, { session }: SeededAccount, ...logs: [Day, string][]): Promise<void> {
    for (const [date, html] of logs) await storeLog(page.request, session, date, html);
  }

  test('exports every log in four formats, oldest first, and gets no file without a log or a plan', async ({
    page,
    closer,
    openAs,
    admin,
    expectAccessible,
  }) => {
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    await openAs(page, closer, '/settings');
    await exportButton(page).click();
    await expect(page.getByText('There is nothing to export yet.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    expect(downloads).toBe(0);

    await write(page, closer, [daysAgo(0), log('Shipped')], [daysAgo(400), '<p>Long <strong>ago</strong></p>']);
    await expect(page.getByRole('radio', { name: 'Plain text' })).toBeChecked();

    const text = await exportAs(page, 'Plain text');
    expect(text.name).toBe(`hustle-forge-${today()}.txt`);
    const [old, now] = [dayLabel(daysAgo(400)), dayLabel(daysAgo(0))];
    expect(text.text).toBe(
      `${old}\n${'-'.repeat(old.length)}\nLong ago\n\n${now}\n${'-'.repeat(now.length)}\n1. Shipped\n\n`,
    );
    await expect(page.getByRole('status').filter({ hasText: '2 logs, 1 KB, saved as' })).toBeVisible();

    const markdown = await exportAs(page, 'Markdown');
    expect(markdown).toEqual({
      name: `hustle-forge-${today()}.md`,
      text: `# ${old}\n\nLong **ago**\n\n# ${now}\n\n1. Shipped\n\n`,
    });

    const json = await exportAs(page, 'JSON');
    expect(json.name).toBe(`hustle-forge-${today()}.json`);
    expect(JSON.parse(json.text)).toMatchObject({
      format: 'hustle-forge/1',
      entries: [{ date: daysAgo(400) }, { date: today(), hustleScore: null, feedback: null, analyzedAt: null }],
    });

    const html = await exportAs(page, 'HTML');
    expect(html.name).toBe(`hustle-forge-${today()}.html`);
    const reader = await page.context().newPage();
    await reader.setContent(html.text);
    await expect(reader).toHaveTitle(/^Hustle Forge: all logs/);
    await expect(reader.getByRole('heading', { level: 2 })).toHaveText([old, now]);
    await reader.close();

    await test.step('the plan ended while the page was open', async () => {
      await admin('plan:revoke', closer.person.email);
      downloads = 0;
      await exportButton(page).click();
      await expect(page.getByRole('alert').filter({ hasText: 'Export is a premium feature.' })).toBeVisible();
      expect(downloads).toBe(0);
    });
  });

  test('sends unsaved text before an export, or says that the file lacks it', async ({
    page,
    closer,
    openAs,
    expectAccessible,
  }) => {
    await write(page, closer, [daysAgo(1), log('Yesterday')]);
    await openAs(page, closer);
    const writes = '**/rest/v1/entries*';
    await page.route(writes, (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 408, json: {} }),
    );
    await editor(page).click();
    await page.keyboard.type('Not sent');
    // Navigates by a link of the app: a page load would send the text in a request that no route can intercept.
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await exportButton(page).click();
    const problem = page.getByRole('alert').filter({ hasText: `Your text for ${dateLabel(today())}` });
    await expect(problem).toContainText('The export would not include it.');
    await inBothThemes(page, expectAccessible);
    const without = page.waitForEvent('download');
    await problem.getByRole('button', { name: 'Export without it' }).click();
    expect(await readFile(await (await without).path(), 'utf8')).not.toContain('Not sent');

    await exportButton(page).click();
    await expect(problem).toBeVisible();
    await page.unroute(writes);
    const all = page.waitForEvent('download');
    await problem.getByRole('button', { name: 'Try again' }).click();
    expect(await readFile(await (await all).path(), 'utf8')).toMatch(/Yesterday[^]*Not sent/);
  });

  test('continues a failed export where it stopped, and cancels an export', async ({ page, closer, openAs }) => {
    const days = Array.from({ length: 250 }, (_, index) => addDays(today(), -index));
    const { session } = closer;
    const stored = await page.request.post('/rest/v1/entries', {
      headers: headersOf(session),
      data: days.map((date) => ({ user_id: session.user.id, date, content: log(`Day ${date}`) })),
    });
    expect(stored.ok(), await stored.text()).toBe(true);
    await openAs(page, closer, '/settings');

    // The second page of days fails.
    let asked = 0;
    const pages = /\/rest\/v1\/entries\?select=date%2Ccontent/;
    await page.route(pages, async (route) =>
      (asked += 1) === 2
        ? route.fulfill({ status: 400, json: { code: 'PGRST100', message: 'No.' } })
        : route.continue(),
    );
    await exportButton(page).click();
    const problem = page.getByRole('alert').filter({ hasText: 'The server could not be reached.' });
    await expect(problem).toContainText('No file was saved');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      problem.getByRole('button', { name: 'Try again' }).click(),
    ]);
    expect(asked, 'pages asked for, the failed one twice').toBe(3);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.match(/^1\. Day .*$/gm)).toEqual(days.toReversed().map((date) => `1. Day ${date}`));

    await page.unroute(pages);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await page.route(pages, async (route) => {
      await held;
      await route.abort().catch(() => undefined);
    });
    await exportButton(page).click();
    await expect(page.getByRole('button', { name: 'Exporting...' })).toBeVisible();
    await expect(page.getByRole('progressbar', { name: 'Exporting' })).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(exportButton(page)).toBeEnabled();
    await expect(page.getByRole('alert').filter({ hasText: /\w/ })).toHaveCount(0);
    letGo();
  });

  test('imports the export into an empty journal after a confirmation, and rejects files of other formats', async ({
    page,
    closer,
    openAs,
  }) => {
    const first = '<ol><li><p>a <strong>b</strong></p></li></ol><h2>c</h2><pre><code>d\n  e</code></pre>';
    await write(page, closer, [daysAgo(40), first], [daysAgo(1), log('Yesterday')]);
    await openAs(page, closer, '/settings');
    const { name, text } = await exportAs(page, 'JSON');
    const { session } = closer;
    const headers = headersOf(session);
    expect((await page.request.delete(`/rest/v1/entries?user_id=eq.${session.user.id}`, { headers })).ok()).toBe(true);

    await choose(page, 'broken.json', '{"entries":');
    await expect(page.getByRole('alert').filter({ hasText: 'This file is damaged' })).toBeVisible();
    await page
      .getByLabel('File to import')
      .setInputFiles({
        name: 'cat.png',
        mimeType: 'image/png',
        buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 255]),
      });
    await expect(page.getByRole('alert').filter({ hasText: 'This is a picture or a recording.' })).toBeVisible();

    await choose(page, name, text);
    await expect(page.getByRole('status').filter({ hasText: 'Hustle Forge: 2 days' })).toBeVisible();
    await expect.poll(() => readStoredLog(page.request, session, daysAgo(40)), 'before the confirmation').toBeNull();
    await page.getByRole('button', { name: 'Import 2 Days' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 2 days.' })).toBeVisible();
    await expect(page.getByRole('group', { name: 'Import Data' })).toBeFocused();
    await expect.poll(() => readStoredLog(page.request, session, daysAgo(40))).toBe(first);
    await expect.poll(() => readStoredLog(page.request, session, daysAgo(1))).toBe(log('Yesterday'));

    await page.getByText('2 days added').click();
    await page
      .getByRole('link')
      .filter({ hasText: dayLabel(daysAgo(1)).split(' - ')[1]! })
      .click();
    await expect(page.locator('.ProseMirror')).toContainText('Yesterday');
  });

  test('keeps days that differ unless the user chooses the file, and never overwrites a later change', async ({
    page,
    closer,
    openAs,
    expectAccessible,
  }) => {
    const days = [daysAgo(1), daysAgo(2), daysAgo(3)] as const;
    await write(page, closer, ...days.map((date): [Day, string] => [date, log('mine')]), [daysAgo(4), log('same')]);
    const { session } = closer;
    const file = jsonOf(
      ...days.map((date) => ({ date, content: log('theirs') })),
      { date: daysAgo(4), content: log('same') },
      { date: addDays(today(), 2), content: log('x') },
      { date: '2026-02-30', content: log('x') },
    );
    await openAs(page, closer, '/settings');
    await choose(page, 'old.json', file);
    await expect(page.getByRole('radio', { name: /^Keep mine/ })).toBeChecked();
    await expect(page.getByText('There is nothing to import.')).toBeVisible();
    await expect(page.getByText('This day is in the future.')).toBeVisible();
    await expect(page.getByText('2026-02-30: This date does not exist.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);

    await page.getByText('Day by day').click();
    const single = (date: Day) => page.getByRole('combobox', { name: dayLabel(date).split(' - ')[1]! });
    await single(days[0]).selectOption('Use the file’s');
    await single(days[1]).selectOption('Keep both');
    await page.getByRole('button', { name: 'Import 2 Days' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 2 days.' })).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expect.poll(() => readStoredLog(page.request, session, days[0])).toBe(log('theirs'));
    await expect
      .poll(() => readStoredLog(page.request, session, days[1]))
      .toBe(`${log('mine')}<h3>From the imported file</h3>${log('theirs')}`);
    await expect.poll(() => readStoredLog(page.request, session, days[2])).toBe(log('mine'));

    await test.step('another device changes a day between the comparison and the import', async () => {
      await page.getByRole('button', { name: 'Close' }).click();
      await choose(page, 'old.json', jsonOf({ date: days[2], content: log('theirs') }));
      await page.getByRole('radio', { name: /^Use the file/ }).check();
      await storeLog(page.request, session, days[2], log('written meanwhile'));
      await page.getByRole('button', { name: 'Import 1 Day' }).click();
      await expect(page.getByText('1 day skipped after a change on another device')).toBeVisible();
      await expect.poll(() => readStoredLog(page.request, session, days[2])).toBe(log('written meanwhile'));
    });
  });

  test('cancels an import, lists the written days, and counts each day once after a lost answer', async ({
    page,
    closer,
    openAs,
    expectAccessible,
  }) => {
    const IMPORT = '**/functions/v1/import-entries';
    await openAs(page, closer, '/settings');
    const dates = Array.from({ length: 60 }, (_, index) => daysAgo(index));
    const file = jsonOf(...dates.map((date) => ({ date, content: log('theirs') })));
    await choose(page, 'old.json', file);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(IMPORT, async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Import 60 Days' }).click();
    await expect(page.getByText('0 of 60 days')).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    release();
    await expect(page.getByText('Import stopped. 50 of 60 days were imported.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.getByRole('button', { name: 'Finish here' }).click();
    await expect(page.getByText('50 days added')).toBeVisible();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.unroute(IMPORT);

    await choose(page, 'old.json', file);
    await expect(page.getByText('identical, nothing to do')).toBeVisible();
    let lost = 0;
    await page.route(IMPORT, async (route) => {
      if (lost > 0) return route.continue();
      await route.fetch();
      lost += 1;
      return route.fulfill({ status: 408, body: 'Too late' });
    });
    await page.getByRole('button', { name: 'Import 10 Days' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'At least 0 of 10 days were imported.' })).toBeVisible();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText('10 days added')).toBeVisible();
    expect(lost).toBe(1);
  });
});
