/** Export and import: a file leaves, says what it should, and comes back; nothing is overwritten unasked. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { addDays, dateLabel, dayLabel } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { daysAgo, editor, headersOf, log, sessionOf, storedLog, storeLog, today } from './support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

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

test.describe('a Closer', () => {
  test.beforeEach(async ({ page, signUp, admin }) => {
    const { email } = await signUp(page);
    await admin('plan:grant', email);
  });

  async function write(page: Page, ...logs: [Day, string][]): Promise<void> {
    const session = await sessionOf(page);
    for (const [date, html] of logs) await storeLog(page.request, session, date, html);
  }

  test('takes every log along in four formats, oldest first, and each export is written down', async ({ page }) => {
    await write(page, [daysAgo(0), log('Shipped')], [daysAgo(400), '<p>Long <strong>ago</strong></p>']);
    await page.goto('/settings');
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

    const headers = headersOf(await sessionOf(page));
    // The refund rule counts them; the table is no part of the data wire.
    expect((await page.request.get('/rest/v1/plan_uses', { headers })).status()).toBe(404);
  });

  test('without a log is told so, and gets no file', async ({ page, expectAccessible }) => {
    await page.goto('/settings');
    await exportButton(page).click();
    await expect(page.getByText('There is nothing to export yet.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
  });

  test('words that wait in the browser are sent before, or said to be missing', async ({ page, expectAccessible }) => {
    await write(page, [daysAgo(1), log('Yesterday')]);
    // The plan was granted behind the page.
    await page.reload();
    const writes = '**/rest/v1/entries*';
    await page.route(writes, (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 408, json: {} }),
    );
    await editor(page).click();
    await page.keyboard.type('Not sent');
    // Within the page: what a page sends as it goes cannot be kept back here.
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await exportButton(page).click();
    const problem = page.getByRole('alert').filter({ hasText: `What you wrote on ${dateLabel(today())}` });
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

  test('goes on after a failure from where it broke off, and can cancel', async ({ page, expectAccessible }) => {
    const days = Array.from({ length: 250 }, (_, index) => addDays(today(), -index));
    const session = await sessionOf(page);
    const stored = await page.request.post('/rest/v1/entries', {
      headers: headersOf(session),
      data: days.map((date) => ({ user_id: session.user.id, date, content: log(`Day ${date}`) })),
    });
    expect(stored.ok(), await stored.text()).toBe(true);
    await page.goto('/settings');

    // The second page of days does not come.
    let asked = 0;
    const pages = /\/rest\/v1\/entries\?select=date%2Ccontent/;
    await page.route(pages, async (route) =>
      (asked += 1) === 2 ? route.fulfill({ status: 400, json: {} }) : route.continue(),
    );
    await exportButton(page).click();
    const problem = page.getByRole('alert').filter({ hasText: 'The server could not be reached.' });
    await expect(problem).toContainText('no file was saved');
    await inBothThemes(page, expectAccessible);
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

  test('gets no file when the export cannot be written down', async ({ page, admin }) => {
    await write(page, [today(), log('Shipped')]);
    await page.goto('/settings');
    await expect(exportButton(page)).toBeEnabled();
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    // The plan ends while the page is open: the screen still believes in it, the server does not.
    const { email } = (await sessionOf(page)).user;
    await admin('plan:revoke', email);
    await exportButton(page).click();
    await expect(page.getByRole('alert').filter({ hasText: 'Export is a premium feature.' })).toBeVisible();
    expect(downloads).toBe(0);
  });

  test('an export proves itself by coming back', async ({ page }) => {
    const first = '<ol><li><p>a <strong>b</strong></p></li></ol><h2>c</h2><pre><code>d\n  e</code></pre>';
    await write(page, [daysAgo(40), first], [daysAgo(1), log('Yesterday')]);
    await page.goto('/settings');
    const { name, text } = await exportAs(page, 'JSON');
    const session = await sessionOf(page);
    const headers = headersOf(session);
    expect((await page.request.delete(`/rest/v1/entries?user_id=eq.${session.user.id}`, { headers })).ok()).toBe(true);

    await choose(page, name, text);
    await expect(page.getByRole('status').filter({ hasText: `${name} contains 2 days.` })).toBeVisible();
    expect(await storedLog(page.request, session, daysAgo(40)), 'before anybody said yes').toBeNull();
    await page.getByRole('button', { name: 'Import 2 Days' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 2 days.' })).toBeVisible();
    expect(await storedLog(page.request, session, daysAgo(40))).toBe(first);
    expect(await storedLog(page.request, session, daysAgo(1))).toBe(log('Yesterday'));

    await page.getByText('2 days added').click();
    await page
      .getByRole('link')
      .filter({ hasText: dayLabel(daysAgo(1)).split(' - ')[1]! })
      .click();
    await expect(page.locator('.ProseMirror')).toContainText('Yesterday');
  });

  test('decides what happens to days that differ; without a word they stay', async ({ page, expectAccessible }) => {
    const days = [daysAgo(1), daysAgo(2), daysAgo(3)] as const;
    await write(page, ...days.map((date): [Day, string] => [date, log('mine')]), [daysAgo(4), log('same')]);
    const session = await sessionOf(page);
    const file = jsonOf(
      ...days.map((date) => ({ date, content: log('theirs') })),
      { date: daysAgo(4), content: log('same') },
      { date: addDays(today(), 2), content: log('x') },
      { date: '2026-02-30', content: log('x') },
    );
    await page.goto('/settings');
    await choose(page, 'old.json', file);
    await expect(page.getByRole('radio', { name: /^Keep mine/ })).toBeChecked();
    await expect(page.getByText('There is nothing to import.')).toBeVisible();
    await expect(page.getByText('This day lies in the future.')).toBeVisible();
    await expect(page.getByText('2026-02-30: This is not a day of the calendar.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);

    await page.getByText('Day by day').click();
    const single = (date: Day) => page.getByRole('combobox', { name: dayLabel(date).split(' - ')[1]! });
    await single(days[0]).selectOption('Use the file’s');
    await single(days[1]).selectOption('Keep both');
    await page.getByRole('button', { name: 'Import 2 Days' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 2 days.' })).toBeVisible();
    await inBothThemes(page, expectAccessible);
    expect(await storedLog(page.request, session, days[0])).toBe(log('theirs'));
    expect(await storedLog(page.request, session, days[1])).toBe(
      `${log('mine')}<h3>From the imported file</h3>${log('theirs')}`,
    );
    expect(await storedLog(page.request, session, days[2])).toBe(log('mine'));
  });

  test('a day that changed on another device between the look and the write is left alone', async ({ page }) => {
    await write(page, [today(), log('mine')]);
    const session = await sessionOf(page);
    await page.goto('/settings');
    await choose(page, 'old.json', jsonOf({ date: today(), content: log('theirs') }));
    await page.getByRole('radio', { name: /^Use the file/ }).check();
    await storeLog(page.request, session, today(), log('written meanwhile'));
    await page.getByRole('button', { name: 'Import 1 Day' }).click();
    await expect(page.getByText('1 day skipped')).toBeVisible();
    expect(await storedLog(page.request, session, today())).toBe(log('written meanwhile'));
  });

  test('an answer that got lost is tried again, and counts the day once', async ({ page }) => {
    await page.goto('/settings');
    await choose(page, 'old.json', jsonOf({ date: today(), content: log('theirs') }));
    let lost = 0;
    await page.route('**/functions/v1/import-entries', async (route) => {
      if (lost > 0) return route.continue();
      await route.fetch();
      lost += 1;
      return route.fulfill({ status: 408, body: 'Too late' });
    });
    await page.getByRole('button', { name: 'Import 1 Day' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'At least 0 of 1 days were imported.' })).toBeVisible();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText('1 day added')).toBeVisible();
    expect(lost).toBe(1);
  });

  test('stops an import when asked to, lists what is written, and can go on', async ({ page, expectAccessible }) => {
    await page.goto('/settings');
    const dates = Array.from({ length: 60 }, (_, index) => daysAgo(index));
    await choose(page, 'old.json', jsonOf(...dates.map((date) => ({ date, content: log('theirs') }))));
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await page.route('**/functions/v1/import-entries', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Import 60 Days' }).click();
    await expect(page.getByText('0 of 60 days')).toBeVisible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    letGo();
    await expect(page.getByText('Import stopped. 50 of 60 days were imported.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.getByRole('button', { name: 'Finish here' }).click();
    await expect(page.getByText('50 days added')).toBeVisible();
    await page.getByRole('button', { name: 'Close' }).click();

    await choose(page, 'old.json', jsonOf(...dates.map((date) => ({ date, content: log('theirs') }))));
    await expect(page.getByText('the same as yours already')).toBeVisible();
    await page.getByRole('button', { name: 'Import 10 Days' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'Imported 10 days.' })).toBeVisible();
  });

  test('is told what is wrong with a file that is no export', async ({ page, expectAccessible }) => {
    await page.goto('/settings');
    await choose(page, 'broken.json', '{"format":');
    await expect(page.getByRole('alert').filter({ hasText: 'This file is damaged' })).toBeVisible();
    await choose(page, 'new.json', '{"format":"hustle-forge/2","entries":[1]}');
    await expect(page.getByRole('alert').filter({ hasText: 'newer version' })).toBeVisible();
    await page.getByLabel('File to import').setInputFiles({
      name: 'cat.png',
      mimeType: 'image/png',
      buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 255]),
    });
    await expect(page.getByRole('alert').filter({ hasText: 'This file is not a text.' })).toBeVisible();
    await inBothThemes(page, expectAccessible);
  });
});
