/** The way to support: in the menu, behind every text that says to contact it, and beside what was paid for. */
import { MESSAGES } from '#domain/messages.ts';
import { ROUTES } from '#domain/routes.ts';
import { inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

/** The sandbox's sample. */
const ADDRESS = 'support@hustle-forge.example';
const TO_SUPPORT = new RegExp(`^mailto:${ADDRESS}\\?subject=Hustle%20Forge%3A%20`);

test('support can be reached from the menu, a failed payment and the plan', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('link', { name: `Help ${ADDRESS}` })).toHaveAttribute('href', TO_SUPPORT);
  await inBothThemes(page, expectAccessible);

  await page.goto('/journal?payment=success&token=none');
  const said = page.getByRole('alert').filter({ hasText: MESSAGES.paymentTokenInvalid });
  await expect(said.getByRole('link', { name: ADDRESS })).toHaveAttribute('href', TO_SUPPORT);
  await inBothThemes(page, expectAccessible);

  await page.goto('/profile');
  const asked = page.getByText('Questions about your plan or a payment?');
  await expect(asked.getByRole('link', { name: ADDRESS })).toHaveAttribute('href', TO_SUPPORT);
  await inBothThemes(page, expectAccessible);

  await page.goto(ROUTES.terms.path);
  await expect(page.getByRole('contentinfo').getByRole('link', { name: ADDRESS })).toBeVisible();
});

test('a server without a support address leaves it out', async ({ page, signUp }) => {
  await signUp(page);
  await page.route(/\/(journal|profile)(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const sent = await answer.text();
    const html = sent.replace(`&quot;supportEmail&quot;:&quot;${ADDRESS}&quot;,`, '');
    expect(html).not.toBe(sent);
    await route.fulfill({ response: answer, body: html });
  });
  await page.goto('/journal?payment=success&token=none');
  const said = page.getByRole('alert').filter({ hasText: MESSAGES.paymentTokenInvalid });
  await expect(said).toBeVisible();
  await expect(said.getByRole('link')).toHaveCount(0);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('link', { name: 'Profile' })).toBeVisible();
  await expect(page.getByRole('link', { name: /Help/ })).toHaveCount(0);
  await page.goto('/profile');
  await expect(page.getByRole('heading', { name: 'Subscription Details' })).toBeVisible();
  await expect(page.getByText(/Write to/)).toHaveCount(0);
});
