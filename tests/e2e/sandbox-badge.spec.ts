import type { Page } from '@playwright/test';
import { headersOf, today } from './support/journal.ts';
import { expect, test } from './support/test.ts';

/** The controls that the badge overlaps at some scroll position. */
const findCoveredControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const badge = document.querySelector('.sandbox-badge')!;
    const controls = [...document.querySelectorAll<HTMLElement>('a, button, input, select, [contenteditable]')];
    return controls
      .filter((control) => control !== badge && control.checkVisibility())
      .filter((control) =>
        (['start', 'center', 'end'] as const).some((block) => {
          control.scrollIntoView({ block, behavior: 'instant' });
          const a = control.getBoundingClientRect();
          const b = badge.getBoundingClientRect();
          return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        }),
      )
      .map((control) => control.outerHTML);
  });

/** Widths in pixels. The badge has another place below 64rem, and the screens have another layout at each width. */
const WIDTHS = [320, 390, 768, 1440];

test('the sandbox badge covers no control on any screen at any width', async ({ page, accounts, openAs }) => {
  const expectNothingCovered = async (path: string): Promise<void> => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 640 });
      await expect.poll(() => findCoveredControls(page), `${path} at ${width} px`).toEqual([]);
    }
  };
  for (const path of ['/', '/signup', '/login', '/privacy-policy']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await page.getByRole('link', { name: 'Sandbox', exact: true }).scrollIntoViewIfNeeded();
    await expectNothingCovered(path);
  }
  const account = await accounts.create();
  for (const path of ['/settings', '/profile', '/reviews']) {
    await openAs(page, account, path);
    await expect(page.getByRole('button', { name: 'Upgrade to Closer' }).first()).toBeVisible();
    await expectNothingCovered(path);
  }
});

test('the sandbox badge covers no control of a wins document, which is wider than other screens', async ({
  page,
  accounts,
  openAs,
  request,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  const { session } = account;
  const line = { kind: 'win', date: today(), text: 'Shipped it', source: '' };
  const lines = Array.from({ length: 20 }, (_, index) => ({ ...line, id: String(index) }));
  const document = await request.post('/rest/v1/documents', {
    headers: headersOf(session),
    data: {
      user_id: session.user.id,
      title: 'Wins',
      first_day: today(),
      last_day: today(),
      content: JSON.stringify({ author: '', lines }),
    },
  });
  const [{ id }] = (await document.json()) as [{ id: string }];
  await openAs(page, account, `/wins?document=${id}`);
  await expect(page.getByRole('button', { name: 'Add a heading' })).toBeVisible();
  for (const width of [...WIDTHS, 1280, 1560]) {
    await page.setViewportSize({ width, height: 640 });
    await expect.poll(() => findCoveredControls(page), `at ${width} px`).toEqual([]);
  }
});
