/** From a locked feature to the offer, and from the offer to PayPal. */
import { COUNTRIES } from '#domain/payment/countries.ts';
import { MESSAGES } from '#domain/messages.ts';
import { UPGRADE_OFFERS, type UpgradeFeature } from '#domain/plan/upgrade.ts';
import { expectPaid, goToPaypal, offer, openOffer, readPaypalOrder, readOwnRows, payNow } from '../support/billing.ts';
import { daysAgo, items, log, storeLog, today } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

test('a locked day leads to PayPal and back, and is open after the payment', async ({
  page,
  accounts,
  openAs,
  admin,
  request,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  await storeLog(request, account.session, daysAgo(40), log('long ago'));
  await admin('plan:revoke', account.person.email);

  await openAs(page, account, `/journal?date=${daysAgo(40)}`);
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(offer(page)).toContainText(UPGRADE_OFFERS['historical-logs'].title);
  const orderId = await goToPaypal(page, 'AN');
  await expect(page.getByText('$24.00 USD')).toBeVisible();
  await payNow(page).click();
  await expectPaid(page);
  await expect.poll(async () => (await readPaypalOrder(request, orderId)).status).toBe('COMPLETED');

  await expect(page).toHaveURL(`/journal?date=${daysAgo(40)}`);
  await expect(items(page)).toHaveText(['long ago']);
  await page.getByRole('button', { name: 'Open menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu.getByText('Closer', { exact: true })).toBeVisible();
  await expect(menu.getByRole('button', { name: 'Upgrade to Closer' })).toHaveCount(0);
  const [profile] = await readOwnRows<{ country: string }>(page, 'profiles');
  expect(profile!.country).toBe('AN');
});

test('the feedback panel and the settings open again after the payment that began there', async ({
  page,
  signUp,
  admin,
}) => {
  const upgrade = page.getByRole('button', { name: 'Upgrade to Closer' });
  const pay = async (): Promise<void> => {
    await upgrade.first().click();
    await goToPaypal(page, 'AN');
    await payNow(page).click();
    await expectPaid(page);
  };
  const person = await signUp(page, { path: '/settings' });
  await pay();
  await expect(page).toHaveURL('/settings');
  await expect(page.getByRole('button', { name: 'Export All Entries' })).toBeEnabled();
  await admin('plan:revoke', person.email);

  await page.goto('/journal');
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await pay();
  await expect(page.getByRole('dialog', { name: 'HAI Feedback' })).toBeVisible();
  await expect(page).toHaveURL(`/journal?date=${today()}`);
  await expect(upgrade).toHaveCount(0);
});

test('each locked feature makes its own offer at one price, and none without PayPal', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const upgrade = page.getByRole('button', { name: 'Upgrade to Closer' });
  const expectOffer = async (feature: UpgradeFeature): Promise<void> => {
    const dialog = offer(page);
    const { title, description, benefits } = UPGRADE_OFFERS[feature];
    await expect(dialog.getByRole('heading', { level: 3 })).toHaveText(title);
    await expect(dialog).toContainText(description);
    await expect(dialog.getByRole('listitem')).toHaveText([...benefits]);
    await expect(dialog).toContainText('$24/year');
    await expect(dialog.getByRole('button', { name: 'Upgrade with PayPal' })).toBeEnabled();
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  };
  await signUp(page, { path: `/journal?date=${daysAgo(30)}` });
  await upgrade.click();
  await expectOffer('historical-logs');
  await openOffer(page);
  await inBothThemes(page, expectAccessible);
  await expectOffer('default');
  await page.getByRole('button', { name: 'Open feedback' }).click();
  const feedback = page.getByRole('dialog', { name: 'HAI Feedback' });
  await expect(feedback.getByRole('figure', { name: 'A sample log and its feedback' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await feedback.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expectOffer('ai-feedback');

  await page.goto('/settings');
  await expect(page.getByRole('button', { name: 'Export All Entries' })).toBeDisabled();
  await expect(page.locator('[name=exportFormat]:disabled, [name=fontFamily]:disabled')).toHaveCount(7);
  await expect(upgrade).toHaveCount(2);
  await inBothThemes(page, expectAccessible);
  await upgrade.first().click();
  await expectOffer('export');
  await upgrade.last().click();
  await expectOffer('font-options');
  await expectNoHorizontalScroll(page);

  await page.goto('/reviews');
  await expect(page.getByRole('figure', { name: 'A sample review of two weeks' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await upgrade.click();
  await expectNoHorizontalScroll(page);
  await expectOffer('reviews');

  await test.step('without PayPal', async () => {
    await page.route('/reviews', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace('&quot;payments&quot;:true', '&quot;payments&quot;:false');
      await route.fulfill({ response: answer, body });
    });
    await page.goto('/reviews');
    await upgrade.click();
    await expect(offer(page)).toContainText(MESSAGES.paymentsOff);
    await expect(page.getByRole('button', { name: 'Upgrade with PayPal' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Maybe Later' }).click();
    await expect(offer(page)).toHaveCount(0);
  });
});

test.describe('in a browser of another country', () => {
  test.use({ timezoneId: 'Asia/Kolkata', locale: 'en-US', expectedErrors: /ERR_FAILED/ });

  test('the offer preselects the likely country, requires a supported one, and creates one order', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await signUp(page);
    const sent: string[] = [];
    page.on('request', (request) => void (request.method() !== 'GET' && sent.push(new URL(request.url()).pathname)));
    await openOffer(page);
    const country = page.getByLabel('Country');
    const pay = page.getByRole('button', { name: 'Upgrade with PayPal' });
    const hint = page.getByText('Suggested from your browser settings.');
    await expect(country).toHaveValue('IN');
    await expect(hint).toBeVisible();

    await test.step('a country without PayPal', async () => {
      await country.selectOption('KP');
      await expect(hint).toHaveCount(0);
      await expect(page.getByText(/^PayPal payments are not available in North Korea\./)).toBeVisible();
      await expect(pay).toBeDisabled();
      await inBothThemes(page, expectAccessible);
      await country.selectOption('NZ');
      await expect(pay).toBeEnabled();
    });
    await test.step('no country', async () => {
      await country.selectOption('');
      await expect(country.getByRole('option')).toHaveCount(COUNTRIES.length + 1);
      await pay.click();
      await expect(page.locator('select[name=country]:invalid')).toBeFocused();
      await expect(country).toHaveAccessibleDescription('Choose your country');
      await expect(page.getByRole('alert').filter({ hasText: 'Choose your country' })).toBeInViewport({ ratio: 1 });
    });
    await page.getByRole('button', { name: 'Maybe Later' }).click();
    expect(sent, 'nothing before the form is sent').toEqual([]);
    const [profile] = await readOwnRows<{ country: string | null }>(page, 'profiles');
    expect(profile!.country).toBe(null);

    await openOffer(page);
    await test.step('the server cannot be reached', async () => {
      await page.route('**/functions/v1/paypal-create-order', (route) => route.abort());
      // One letter only: the select treats a second letter as part of the same word only if it follows quickly.
      await country.press('z');
      await expect(country).toHaveValue('ZM');
      await page.keyboard.press('Tab');
      await expect(pay).toBeFocused();
      await page.keyboard.press('Enter');
      await expect(offer(page).getByRole('alert').filter({ hasText: MESSAGES.unknown })).toBeVisible();
      await page.unroute('**/functions/v1/paypal-create-order');
    });
    sent.length = 0;
    await pay.dblclick();
    await expect(payNow(page)).toBeVisible();
    expect(sent.filter((path) => path.endsWith('/paypal-create-order'))).toHaveLength(1);
    await page.goto('/reviews');
    expect(await readOwnRows(page, 'payments')).toHaveLength(1);
    await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
    await expect(page.getByLabel('Country')).toHaveValue('ZM');
  });
});

// The lower window is that of a phone whose on-screen keyboard is open.
for (const height of [620, 340]) {
  test.describe(`on a phone of 360x${height}`, () => {
    test.use({ viewport: { width: 360, height }, timezoneId: 'Europe/Berlin' });

    test('price, country and the ways on and out stay visible while the offer scrolls', async ({
      page,
      signUp,
      expectAccessible,
    }) => {
      await signUp(page, { path: '/reviews' });
      await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
      const pay = page.getByRole('button', { name: 'Upgrade with PayPal' });
      const expectFooter = async (): Promise<void> => {
        await expect(pay).toBeInViewport({ ratio: 1 });
        await expect(offer(page).getByText('$24/year')).toBeInViewport({ ratio: 1 });
        await expect(page.getByLabel('Country')).toBeInViewport({ ratio: 1 });
        await expect(page.getByRole('button', { name: 'Maybe Later' })).toBeInViewport({ ratio: 1 });
        // The trial fails if another element covers the button.
        await pay.click({ trial: true });
      };
      await expect(page.getByLabel('Country')).toHaveValue('DE');
      await expectFooter();
      await inBothThemes(page, expectAccessible);
      await offer(page).evaluate((dialog) => dialog.scrollTo(0, dialog.scrollHeight));
      await expectFooter();
      await offer(page).evaluate((dialog) => dialog.scrollTo(0, 0));
      await page.getByLabel('Country').selectOption('KP');
      await expect(page.getByText(/^PayPal payments are not available in North Korea\./)).toBeInViewport();
      await expect(pay).toBeDisabled();
      await expectNoHorizontalScroll(page);
    });
  });
}

test('the offer can be accepted again when the browser restores its page from memory', async ({ page, signUp }) => {
  await signUp(page);
  await openOffer(page);
  const approval = '**/sandbox/paypal/**';
  // An answer without content leaves the browser on the page that it was about to leave.
  await page.route(approval, (route) => route.fulfill({ status: 204 }));
  await page.getByLabel('Country').selectOption('NZ');
  // The button is busy before the navigation, too. Only this response proves that the navigation has begun.
  const left = page.waitForResponse(approval);
  await page.getByRole('button', { name: 'Upgrade with PayPal' }).click();
  await left;
  const busy = page.getByRole('button', { name: 'Redirecting to PayPal...' });
  await expect(busy).toHaveAttribute('aria-disabled', 'true');
  // The event of a page that is restored from the back/forward cache.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await expect(busy).toHaveCount(0);
  await page.unroute(approval);
  await goToPaypal(page, 'NZ');
});
