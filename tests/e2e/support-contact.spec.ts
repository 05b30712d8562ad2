/** The address of support, which an operator may set. */
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { inBothThemes, expect, test } from './support/test.ts';

/** SUPPORT_EMAIL as the sandbox sets it (simulators/main.ts). */
const ADDRESS = 'support@hustle-forge.example';
const TO_SUPPORT = new RegExp(`^mailto:${ADDRESS}\\?subject=Hustle%20Forge%3A%20`);

test('the menu, a failed payment, the profile and the terms link to support, unless no address is set', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const menuLink = page.getByRole('link', { name: /^Help/ });
  const failure = page.getByRole('alert').filter({ hasText: MESSAGES.paymentTokenInvalid });
  await signUp(page, { path: '/journal?payment=success&token=none' });
  await expect(failure.getByRole('link', { name: ADDRESS })).toHaveAttribute('href', TO_SUPPORT);
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(menuLink).toHaveAttribute('href', TO_SUPPORT);

  await page.getByRole('link', { name: 'Profile' }).click();
  const question = page.getByText('Questions about your plan or a payment?');
  await expect(question.getByRole('link', { name: ADDRESS })).toHaveAttribute('href', TO_SUPPORT);
  await page.goto(ROUTES.terms.path);
  await expect(page.getByRole('contentinfo').getByRole('link', { name: ADDRESS })).toBeVisible();

  await test.step('without an address', async () => {
    await page.route(/\/journal\?/, async (route) => {
      const answer = await route.fetch();
      const sent = await answer.text();
      const html = sent.replace(`&quot;supportEmail&quot;:&quot;${ADDRESS}&quot;,`, '');
      expect(html).not.toBe(sent);
      await route.fulfill({ response: answer, body: html });
    });
    await page.goto('/journal?payment=success&token=none');
    await expect(failure).toBeVisible();
    await expect(failure.getByRole('link')).toHaveCount(0);
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(page.getByRole('link', { name: 'Profile' })).toBeVisible();
    await expect(menuLink).toHaveCount(0);
    await page.getByRole('link', { name: 'Profile' }).click();
    await expect(page.getByRole('heading', { name: 'Subscription Details' })).toBeVisible();
    await expect(page.getByText(/Write to/)).toHaveCount(0);
  });
});
