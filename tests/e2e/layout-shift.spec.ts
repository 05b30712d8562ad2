/** Pages do not shift while they load, on a phone and on a desktop, when answers arrive after the first paint. */
import type { Page } from '@playwright/test';
import type { SeededAccount } from './support/accounts.ts';
import { expect, readShift, test } from './support/test.ts';

const VIEWPORTS = [
  { width: 360, height: 620 },
  { width: 1280, height: 800 },
];
/** Google's bound for a good page is 0.1. */
const MAX_SHIFT = 0.01;

/** Holds the first answer of each API path until the page has painted its heading. */
async function holdAnswers(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const painted = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/rest/v1/**', async (route) => {
    await painted;
    await route.fallback();
  });
  return () => release();
}

for (const viewport of VIEWPORTS) {
  test.describe(`${viewport.width} pixels wide`, () => {
    test.use({ viewport });

    for (const [path, last] of [
      ['/', 'Choose Your Level'],
      ['/login', 'Sign in'],
      ['/signup', 'Create your account'],
      ['/forgot-password', 'Forgot your password?'],
      ['/reset-password', 'Set a new password'],
    ] as const) {
      test(`${path} does not shift`, async ({ page }) => {
        await page.goto(path);
        await expect(page.getByRole('heading', { name: last, exact: true })).toBeVisible();
        expect(await readShift(page)).toBeLessThan(MAX_SHIFT);
      });
    }

    test('settings, profile and reviews do not shift on any plan', async ({
      page,
      accounts,
      openAs,
      admin,
      browser,
    }) => {
      const free = await accounts.create();
      const closer = await accounts.create();
      await accounts.upgrade(closer);
      const [ending, ended] = [await accounts.create(), await accounts.create()];
      await admin('plan:grant', ending.person.email, '--days', '12');
      await admin('plan:grant', ended.person.email, '--days', '12');
      await admin('plan:revoke', ended.person.email);

      const expectStable = async (account: SeededAccount, path: string, title: string, last: string | RegExp) => {
        const context = await browser.newContext({ viewport });
        const tab = await context.newPage();
        const release = await holdAnswers(tab);
        await openAs(tab, account, new URL(path, page.url()).href);
        await expect(tab.getByRole('heading', { name: title })).toBeVisible();
        release();
        await expect(tab.getByText(last).first()).toBeVisible();
        expect.soft(await readShift(tab), `${path} of ${account.person.email}`).toBeLessThan(MAX_SHIFT);
        await context.close();
      };
      await page.goto('/login');
      for (const account of [free, closer]) {
        await expectStable(account, '/settings', 'Settings', /to choose the editor font|Your logs do not change/);
        await expectStable(account, '/reviews', 'Hustle Reviews', /Premium Feature|Last 30 Days/);
      }
      await expectStable(free, '/profile', 'Profile', 'You can open the last 30 days.');
      await expectStable(closer, '/profile', 'Profile', "You're a Closer.");
      await expectStable(ending, '/profile', 'Profile', 'Your year ends in');
      await expectStable(ended, '/profile', 'Profile', 'Nothing was deleted.');
    });
  });
}
