/** The paid year on the profile: its end, its renewal, the payments and their receipts. */
import { addYears, dateLabel, day } from '#domain/day/day.ts';
import { receiptNumber } from '#domain/payment/payment.ts';
import {
  changeCaptureAtPaypal,
  expectBooked,
  expectPaymentStatus,
  payForYear,
  payNow,
  goToPaypal,
  readOwnRows,
} from '../support/billing.ts';
import { today } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

type PaymentRow = { id: string; order_id: string; completed_at: string };
type ProfileRow = { access_valid_until: string };

test('a payment has a receipt that prints on one page and shows a later refund', async ({
  page,
  accounts,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { name, email } = account.person;
  const orderId = await payForYear(request, account);
  await openAs(page, account, '/profile');
  const row = page.getByRole('row').filter({ hasText: 'Paid' });
  await expect(row).toContainText('$24.00');
  await expect(row).toContainText(dateLabel(today()));
  await inBothThemes(page, expectAccessible);
  await row.getByRole('link', { name: `Receipt of ${dateLabel(today())}` }).click();

  const [payment] = await readOwnRows<PaymentRow>(page, 'payments');
  const [profile] = await readOwnRows<ProfileRow>(page, 'profiles');
  const paidOn = day(payment!.completed_at.slice(0, 10));
  await expect(page).toHaveURL(`/receipt?payment=${payment!.id}`);
  const sheet = page.getByRole('article');
  await expect(sheet.getByRole('heading', { level: 1 })).toHaveText('Receipt');
  for (const fact of [
    receiptNumber(payment!.id, paidOn),
    dateLabel(paidOn),
    name,
    email,
    'Hustle Forge Closer, one year',
    dateLabel(day(profile!.access_valid_until)),
    '$24.00 USD',
    `Paid with PayPal, order ${orderId}.`,
  ])
    await expect(sheet).toContainText(fact);
  await inBothThemes(page, expectAccessible);

  await test.step('the print is black on white on one page', async () => {
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await expect(page.getByRole('button', { name: 'Print' })).toBeHidden();
    await expect(page.locator('html')).toHaveCSS('background-color', 'rgb(255, 255, 255)');
    await expect(sheet).toHaveCSS('color', 'rgb(0, 0, 0)');
    await page.emulateMedia({ media: 'screen' });
  });

  const { width, height } = page.viewportSize()!;
  await expectNoHorizontalScroll(page);
  await page.getByRole('link', { name: 'Back to Profile' }).click();
  await expect(page).toHaveURL('/profile');
  await expect(row).toBeVisible();
  await expectNoHorizontalScroll(page);
  await page.setViewportSize({ width, height });

  await test.step('a refund ends the year', async () => {
    await changeCaptureAtPaypal(request, orderId, 'refund');
    await expectPaymentStatus(page, 'refunded');
    await page.reload();
    await expect(page.getByText(/^Your payment was returned on/)).toBeVisible();
    await expect(page.getByText('Nothing was deleted.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeVisible();
    await page.getByRole('row').filter({ hasText: 'Refunded' }).getByRole('link').click();
    await expect(page.getByRole('row').filter({ hasText: 'Refund' })).toContainText('−$24.00');
    await expect(page.getByRole('row').filter({ hasText: 'Total' })).toContainText('$0.00 USD');
  });
});

test('a year that ended can be bought again, and a year that ends within 30 days can be renewed', async ({
  page,
  accounts,
  openAs,
  admin,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  const renew = page.getByRole('button', { name: 'Renew for another year' });
  await admin('plan:grant', email, '--days', '45');
  await openAs(page, account, '/profile');
  await expect(page.getByRole('definition').getByText('Closer', { exact: true })).toBeVisible();
  await expect(page.getByText('No payments yet.')).toBeVisible();
  await expect(renew).toHaveCount(0);

  // A grant never shortens a plan, so the plan is revoked before.
  await admin('plan:revoke', email);
  await page.reload();
  await expect(page.getByText(`Your year ended on ${dateLabel(today())}.`)).toBeVisible();
  await expect(page.getByText('Nothing was deleted.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();

  await admin('plan:grant', email, '--days', '20');
  await page.reload();
  await expect(page.getByText(/^Your year ends in (19|20|21) days\.$/)).toBeVisible();
  const [before] = await readOwnRows<ProfileRow>(page, 'profiles');
  const until = day(before!.access_valid_until);

  await renew.click();
  const dialog = page.getByRole('dialog', { name: 'Renew Closer' });
  await expect(dialog).toContainText(`You're a Closer until ${dateLabel(until)}.`);
  await expect(dialog).toContainText(`until ${dateLabel(addYears(until, 1))}.`);
  await inBothThemes(page, expectAccessible);
  await goToPaypal(page);
  await payNow(page).click();
  await expectBooked(page);
  const [after] = await readOwnRows<ProfileRow>(page, 'profiles');
  expect(after!.access_valid_until).toBe(addYears(until, 1));
});

test.describe('while the payments cannot be loaded', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('the profile says that they are safe, and the receipt can be loaded again', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await page.route('**/rest/v1/payments*', (route) => route.abort());
    await signUp(page, { path: '/profile' });
    await expect(page.getByRole('alert').filter({ hasText: "Couldn't load your payments." })).toBeVisible();
    await expectAccessible(page);
    await page.goto('/receipt?payment=00000000-0000-4000-8000-000000000000');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText("Couldn't load this receipt");
    await page.unroute('**/rest/v1/payments*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Receipt not found');
  });
});
