/** Signing in with the sandbox's wallets: Ethereum, announced by EIP-6963, and Solana, of the Wallet Standard. */
import type { Page } from '@playwright/test';
import { editor, expectSaved, items, sessionOf } from '../support/journal.ts';
import { endSession, signInOverlay } from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const openWallets = async (page: Page): Promise<void> => {
  await page.getByText('More ways to sign in').click();
  await button(page, 'Continue with a wallet').click();
  await expect(page.getByRole('heading', { name: 'Sign in with a wallet' })).toBeVisible();
};

/** The wallet of the page's account. */
const identityOf = async (page: Page): Promise<unknown> => {
  const { user } = (await sessionOf(page)) as unknown as { user: { identities: { id: string }[] } };
  return user.identities[0]?.id;
};

/** The window in which the sandbox's wallet asks its user. */
const question = (page: Page) => page.getByRole('dialog', { name: 'Sign this message?' });

test('an Ethereum wallet signs in, also over the page after its session has ended', async ({
  page,
  expectAccessible,
}) => {
  await page.goto('/login');
  await openWallets(page);
  await button(page, 'Continue with Sandbox wallet (Ethereum)').click();
  await expect(question(page)).toContainText('Sign in to Hustle Forge.');
  await expectAccessible(page);
  await expectNoHorizontalScroll(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('alert').filter({ hasText: 'You did not sign the message.' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await button(page, 'Continue with Sandbox wallet (Ethereum)').click();
  await button(page, 'Sign').click();
  await expect(page).toHaveURL('/journal');
  const identity = await identityOf(page);
  expect(identity).toMatch(/^web3:ethereum:0x[0-9a-f]{40}$/);

  await editor(page).click();
  await page.keyboard.type('Half a thought');
  await endSession(page);
  const overlay = signInOverlay(page);
  await overlay.getByRole('button', { name: 'Continue with a wallet' }).click();
  await overlay.getByRole('button', { name: 'Continue with Sandbox wallet (Ethereum)' }).click();
  await button(page, 'Sign').click();
  await expect(overlay).toHaveCount(0);
  await expect(items(page)).toHaveText(['Half a thought']);
  await expectSaved(page);
  expect(await identityOf(page)).toBe(identity);
});

test('a Solana wallet signs in', async ({ page }) => {
  await page.goto('/login');
  await openWallets(page);
  await button(page, 'Continue with Sandbox wallet (Solana)').click();
  await button(page, 'Sign').click();
  await expect(page).toHaveURL('/journal');
  expect(await identityOf(page)).toMatch(/^web3:solana:[1-9A-HJ-NP-Za-km-z]{43,44}$/);
});

test('a browser without a wallet is told so, and looks again', async ({ page, expectAccessible }) => {
  await page.route('**/sandbox/page.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await page.goto('/login');
  await openWallets(page);
  await expect(page.getByText('No Ethereum or Solana wallet was found in this browser.')).toBeVisible();
  await expectAccessible(page);
  await expectNoHorizontalScroll(page);
  await page.evaluate(() =>
    Object.assign(globalThis, { ethereum: { request: () => Promise.reject(new Error('no')) } }),
  );
  await button(page, 'Look again').click();
  await button(page, 'Continue with your wallet (Ethereum)').click();
  await expect(page.getByText('Your wallet did not answer.')).toBeVisible();
  await button(page, 'Sign in another way').click();
  await expect(page.getByLabel('Password')).toBeVisible();
});
