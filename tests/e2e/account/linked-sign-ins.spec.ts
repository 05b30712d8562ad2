/** Linked sign-ins on the profile page: linked at the sandbox's providers, removed, and refused in words. */
import type { Page } from '@playwright/test';
import { idOf } from '../../../simulators/identity-provider/github-provider.ts';
import { headersOf, sessionOf } from '../support/journal.ts';
import { consentAt } from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

const openSection = (page: Page): Promise<void> => page.getByRole('button', { name: /: Linked sign-ins$/ }).click();

/** Links an account of the sandbox's Google or GitHub. */
async function link(page: Page, provider: string, email: string): Promise<void> {
  await page.getByRole('button', { name: `Link ${provider}` }).click();
  await consentAt(page, provider, email);
}

async function remove(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: `Remove ${label}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
}

const newAddress = () => `${crypto.randomUUID()}@example.com`;

test('the owner links a provider and removes it, by keyboard alone', async ({ page, signUp, expectAccessible }) => {
  const { email } = await signUp(page, { path: '/profile#security' });
  const section = page.locator('section', { has: page.getByRole('heading', { name: 'Linked sign-ins' }) }).last();
  await expect(section).toContainText('Email');
  await page.getByRole('button', { name: 'Set up: Linked sign-ins' }).click();
  await expect(page.getByText('This is the only one, so it cannot be removed. Link another one first.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  const address = newAddress();
  await link(page, 'Google', address);
  await expectToast(page, 'You can now sign in with Google.');
  await expect(page).toHaveURL('/profile#security');
  await expect(page.getByText('Email and Google', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Change: Linked sign-ins' }).click();
  const list = page.getByRole('list', { name: 'Linked sign-ins' });
  await expect(list).toContainText(email);
  await expect(list).toContainText(address);
  await expectNoHorizontalScroll(page);

  await page.getByRole('button', { name: 'Remove Google' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Remove Google?' });
  await expect(dialog.getByRole('button', { name: 'Remove' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expectToast(page, 'Removed: Google.');
  await expect(list).not.toContainText('Google');
  // The button that had the focus is gone, so the element around the list gets the focus.
  await expect(list.locator('..')).toBeFocused();
  await expect(page.getByRole('button', { name: 'Link Google' })).toBeVisible();
});

test('a sign-in that cannot be linked or removed says why', async ({ page, accounts, openAs, expectAccessible }) => {
  const [address, taken] = [newAddress(), newAddress()];
  await accounts.link(await accounts.create(), { provider: 'github', providerId: String(idOf(taken)), email: taken });
  const own = { provider: 'google', providerId: crypto.randomUUID(), email: address } as const;
  await openAs(page, await accounts.link(await accounts.create(), own), '/profile#security');
  await openSection(page);

  await test.step('the account at the provider opens another account', async () => {
    await link(page, 'GitHub', taken);
    await expect(page.getByText('This account at GitHub already opens another account here.')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.getByRole('button', { name: 'Back to your profile' }).click();
    await expect(page).toHaveURL('/profile#security');
  });

  await test.step('the address of the remaining sign-in belongs to another account', async () => {
    await accounts.create({ email: address });
    await openSection(page);
    await remove(page, 'Email');
    await expect(page.getByRole('dialog').getByText(/an address that belongs to another account/)).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.keyboard.press('Escape');
  });

  await test.step('another tab has removed the others meanwhile', async () => {
    const session = await sessionOf(page);
    const headers = headersOf(session);
    const { identities } = (await (await page.request.get('/auth/v1/user', { headers })).json()) as {
      identities: { identity_id: string; provider: string }[];
    };
    const google = identities.find(({ provider }) => provider === 'google')!;
    const answer = await page.request.delete(`/auth/v1/user/identities/${google.identity_id}`, { headers });
    expect(answer.status()).toBe(200);
    await remove(page, 'Email');
    await expect(page.getByRole('dialog').getByText(/This is the only way left to sign in/)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('list', { name: 'Linked sign-ins' })).not.toContainText('Google');
  });
});

test('the owner of an account that began with a provider sets a password and removes the provider', async ({
  page,
}) => {
  await page.goto('/login');
  await page.getByRole('button', { name: 'Continue with Google' }).click();
  await consentAt(page, 'Google', newAddress());
  await expect(page).toHaveURL('/journal');
  await page.goto('/profile#security');
  await openSection(page);
  await expect(page.getByText('This is the only one, so it cannot be removed.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove Google' })).toHaveCount(0);
  await page.getByLabel('New Password', { exact: true }).fill('a long enough battery');
  await page.getByLabel('Confirm New Password').fill('a long enough battery');
  await page.getByRole('button', { name: 'Update Profile' }).click();
  await expect(page.getByText('Your password signs you in as well.')).toBeVisible();
  await remove(page, 'Google');
  await expectToast(page, 'Removed: Google.');
  await expect(page.getByRole('list', { name: 'Linked sign-ins' })).toContainText('Email');
  await expect(page.getByText('This is the only one, so it cannot be removed.')).toBeVisible();
});
