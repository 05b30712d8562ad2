/** From a lock to the offer, and from the offer to PayPal. */
import type { Page } from '@playwright/test';
import { COUNTRIES } from '#domain/payment/countries.ts';
import { MESSAGES } from '#domain/messages.ts';
import { UPGRADE_OFFERS } from '#domain/plan/upgrade.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';
import { expectPaid, goToPaypal, offer, openOffer, orderAtPaypal, ownRows, payNow } from '../support/billing.ts';
import { daysAgo, editor, items, log, sessionOf, storeLog } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

test('a locked day leads to PayPal and back, and every gate is open', async ({ page, signUp, admin, request }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await storeLog(request, await sessionOf(page), daysAgo(40), log('long ago'));
  await admin('plan:revoke', email);

  await page.goto(`/journal?date=${daysAgo(40)}`);
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(offer(page)).toContainText(UPGRADE_OFFERS['historical-logs'].title);
  const orderId = await goToPaypal(page, 'AN');
  await expect(page.getByText('$24.00 USD')).toBeVisible();
  await payNow(page).click();
  await expectPaid(page);
  expect((await orderAtPaypal(request, orderId)).status).toBe('COMPLETED');

  await page.goto(`/journal?date=${daysAgo(40)}`);
  await expect(items(page)).toHaveText(['long ago']);
  await page.getByRole('button', { name: 'Open menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu.getByText('Closer', { exact: true })).toBeVisible();
  await expect(menu.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  for (const path of ['/settings', '/reviews']) {
    await page.goto(path);
    await expect(page.getByRole('radio').first()).toBeEnabled();
    await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  }
  const [profile] = await ownRows<{ country: string }>(page, 'profiles');
  expect(profile!.country).toBe('AN');
});

const WAYS: Record<UpgradeFeature, (page: Page) => Promise<void>> = {
  'historical-logs': async (page) => {
    await page.goto(`/journal?date=${daysAgo(30)}`);
    await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  },
  'ai-feedback': async (page) => {
    await page.goto('/journal');
    await page.getByRole('button', { name: 'Open feedback' }).click();
    await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  },
  export: async (page) => {
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Upgrade to Closer' }).first().click();
  },
  'font-options': async (page) => {
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Upgrade to Closer' }).last().click();
  },
  'trend-analysis': async (page) => {
    await page.goto('/reviews');
    await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  },
  default: async (page) => {
    await page.goto('/journal');
    await openOffer(page);
  },
};

test('each lock makes its own offer, at one price', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  for (const [feature, open] of Object.entries(WAYS) as [UpgradeFeature, (page: Page) => Promise<void>][]) {
    await open(page);
    const dialog = offer(page);
    const { title, description, benefits } = UPGRADE_OFFERS[feature];
    await expect(dialog.getByRole('heading', { level: 3 })).toHaveText(title);
    await expect(dialog).toContainText(description);
    await expect(dialog.getByRole('listitem')).toHaveText([...benefits]);
    await expect(dialog).toContainText('$24/year');
    await expect(dialog.getByRole('button', { name: 'Upgrade with PayPal' })).toBeEnabled();
  }
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.keyboard.press('Escape');
  await expect(offer(page)).toHaveCount(0);
});

test.describe('in a browser of another country', () => {
  test.use({ timezoneId: 'Asia/Kolkata', locale: 'en-US' });

  test('the likely country is chosen already, and sent only with the form', async ({ page, signUp }) => {
    await signUp(page);
    const sent: string[] = [];
    page.on('request', (asked) => void (asked.method() !== 'GET' && sent.push(asked.url())));
    await openOffer(page);
    const country = page.getByLabel('Country');
    await expect(country).toHaveValue('IN');
    await expect(page.getByText('Change it if it is wrong')).toBeVisible();
    await country.selectOption('NZ');
    await expect(page.getByText('Change it if it is wrong')).toHaveCount(0);
    await page.getByRole('button', { name: 'Maybe Later' }).click();
    expect(sent).toEqual([]);
    const [profile] = await ownRows<{ country: string | null }>(page, 'profiles');
    expect(profile!.country).toBe(null);
  });
});

test('the country is found by typing, must be chosen, and is remembered', async ({ page, signUp }) => {
  await signUp(page);
  await openOffer(page);
  const country = page.getByLabel('Country');
  await country.selectOption('');
  await expect(country.getByRole('option')).toHaveCount(COUNTRIES.length + 1);
  await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
  await expect(page.locator('select[name=country]:invalid')).toBeFocused();
  // One letter: how long a browser takes a second one for the same word is a matter of time.
  await country.press('z');
  await expect(country).toHaveValue('ZM');
  // And on without a mouse.
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Upgrade with PayPal' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(payNow(page)).toBeVisible();
  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByLabel('Country')).toHaveValue('ZM');
});

test('where PayPal is not available it is said before anything is sent', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  const sent: string[] = [];
  page.on('request', (asked) => void (asked.method() !== 'GET' && sent.push(asked.url())));
  await openOffer(page);
  await page.getByLabel('Country').selectOption('KP');
  await expect(page.getByText(/^PayPal payments are not available in North Korea\./)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Upgrade with PayPal' })).toBeDisabled();
  await inBothThemes(page, expectAccessible);
  expect(sent).toEqual([]);
  await page.getByLabel('Country').selectOption('NZ');
  await expect(page.getByRole('button', { name: 'Upgrade with PayPal' })).toBeEnabled();
});

test('pressed twice, it is one order', async ({ page, signUp }) => {
  await signUp(page);
  let orders = 0;
  page.on('request', (asked) => void (asked.url().endsWith('/paypal-create-order') && (orders += 1)));
  await openOffer(page);
  await page.getByLabel('Country').selectOption('NZ');
  await page.getByRole('button', { name: 'Upgrade with PayPal' }).dblclick();
  await expect(payNow(page)).toBeVisible();
  expect(orders).toBe(1);
  await page.goto('/journal');
  expect(await ownRows(page, 'payments')).toHaveLength(1);
});

test('back from PayPal without paying, the offer can be taken up again', async ({ page, signUp }) => {
  await signUp(page);
  await openOffer(page);
  const approval = '**/sandbox/paypal/**';
  // An answer without content leaves the browser on the page that it was about to leave.
  await page.route(approval, (route) => route.fulfill({ status: 204 }));
  await page.getByLabel('Country').selectOption('NZ');
  // The button is busy before there is an order as well; only after this has the page been left.
  const left = page.waitForResponse(approval);
  await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
  await left;
  const busy = page.getByRole('button', { name: 'Redirecting to PayPal...' });
  await expect(busy).toHaveAttribute('aria-disabled', 'true');
  // What a browser tells a page that it had kept as it was left.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await expect(busy).toHaveCount(0);
  await page.unroute(approval);
  await goToPaypal(page, 'NZ');
  await page.goBack();
  await expect(editor(page)).toBeVisible();
  await openOffer(page);
  await goToPaypal(page, 'NZ');
});

test.describe('without an order', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('the offer says so and stays', async ({ page, signUp, expectAccessible }) => {
    await signUp(page);
    await openOffer(page);
    await page.route('**/functions/v1/paypal-create-order', (route) => route.abort());
    await page.getByLabel('Country').selectOption('NZ');
    await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
    await expect(offer(page).getByRole('alert').filter({ hasText: MESSAGES.unknown })).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.unroute('**/functions/v1/paypal-create-order');
    await goToPaypal(page, 'NZ');
  });
});

test('a server without PayPal says so before anything is asked', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await page.route('/reviews', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('&quot;payments&quot;:true', '&quot;payments&quot;:false');
    await route.fulfill({ response: answer, body });
  });
  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(offer(page)).toContainText(MESSAGES.paymentsOff);
  await expect(page.getByRole('button', { name: 'Upgrade with PayPal' })).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Maybe Later' }).click();
  await expect(offer(page)).toHaveCount(0);
});
