/** The landing page and the way from its line to the first log. */
import { randomUUID } from 'node:crypto';
import { editor, expectSaved, items } from './support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, inForcedColorsAndPrint, expect, test } from './support/test.ts';

test('the line that a visitor types becomes the first item of their first log', async ({ page, expectAccessible }) => {
  const firstLine = 'Shipped <the> thing & more';
  await page.goto('/');
  await inBothThemes(page, expectAccessible);
  await inForcedColorsAndPrint(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  const line = page.getByLabel('What have you done today?');
  await line.fill(firstLine);
  await expect(page.getByText('Saved for your first log.')).toBeVisible();
  await page.reload();
  await expect(line).toHaveValue(firstLine);

  await line.press('Enter');
  await expect(page).toHaveURL('/signup');
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(`${randomUUID()}@example.com`);
  await page.getByLabel('Password').fill('correct horse');
  const create = page.getByRole('button', { name: 'Create account' });
  await expect(create).toBeDisabled();
  await page.getByRole('checkbox').check();
  await create.click();

  await expect(page).toHaveURL('/journal');
  await expect(editor(page)).toBeVisible();
  await expect(items(page)).toHaveText([firstLine]);
  await expectSaved(page);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Grace Jones');
  await expect(page.getByRole('dialog')).toContainText('Dabbler');
});

test('a sample shows a score with two cited lines, and features and samples fit every width', async ({
  page,
  expectAccessible,
}) => {
  await page.goto('/');
  const sample = page.getByRole('figure', { name: 'A sample log and its feedback' });
  await expect(sample.getByText(/^7\s*of 10 · Solid/)).toBeVisible();
  await expect(sample.getByText(/^line [23]$/)).toHaveCount(2);
  await expect(sample.getByRole('img', { name: 'HustleScores of two weeks' })).toBeVisible();
  const features = page.getByRole('region', { name: 'Why Hustle Forge?' }).getByRole('listitem');
  for (const [width, rows] of [
    [360, 3],
    [390, 3],
    [768, 1],
    [1280, 1],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    const countRows = () =>
      features.evaluateAll((elements) => new Set(elements.map((item) => item.getBoundingClientRect().top)).size);
    await expect.poll(countRows, `${width} px`).toBe(rows);
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
  }
});

test('the footer of the sandbox has sample social links', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('contentinfo').getByRole('link', { name: 'GitHub' })).toBeVisible();
  await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Mastodon' })).toBeVisible();
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('shows the product, its price and the links to sign up', async ({ page }) => {
    await page.goto('/');
    await expect(page.getByRole('heading', { level: 1, name: 'Done anything worth a damn today?' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Why Hustle Forge?' })).toBeVisible();
    for (const card of ['Minimalistic', 'NO BS Clutter', 'AI-driven Feedback', 'Dabbler', /^Closer/]) {
      await expect(page.getByRole('heading', { name: card })).toBeVisible();
    }
    await expect(
      page.getByText("Blood in the Game: Not a feature—just fact: $24 proves you're not screwing around."),
    ).toBeVisible();
    for (const name of ['Sign Up', 'Start Logging', 'Start Free', 'Upgrade Now']) {
      await expect(page.getByRole('link', { name })).toHaveAttribute('href', '/signup');
    }
    await expect(page.getByRole('link', { name: 'Login' })).toHaveAttribute('href', '/login');
    await expect(page.getByRole('link', { name: 'Terms of Service' })).toHaveAttribute('href', '/terms-and-conditions');
    await expect(page.getByRole('link', { name: 'Privacy Policy' })).toHaveAttribute('href', '/privacy-policy');
  });
});
