/** The journal and the screens that depend on the plan, while the profile is loading, missing or unavailable. */
import type { Page } from '@playwright/test';
import { dayLabel as labelOf } from '#domain/day/day.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  sessionOf,
  readStoredLog,
  status,
  today,
} from '../support/journal.ts';
import { expect, expectToast, test } from '../support/test.ts';

test('today can be written while the profile loads, and a missing profile can be loaded again', async ({
  page,
  signUp,
}) => {
  const PROFILE = '**/rest/v1/profiles*';
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(PROFILE, async (route) => {
    await released;
    await route.fulfill({ json: [] });
  });
  await signUp(page, { logs: { [today()]: log('first') } });
  await expect(items(page)).toHaveText(['first']);
  await expect(page.getByText('Refreshing profile...')).toBeHidden();
  release();
  await expect(page.getByText('Refreshing profile...')).toBeVisible();
  await expect(editor(page)).toBeVisible();
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expect(page.getByText('Failed to refresh profile. Please try again.')).toBeVisible();
  await page.unroute(PROFILE);
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expectToast(page, 'Profile refreshed successfully!');
  await expect(page.getByRole('button', { name: 'Refresh Profile' })).toBeHidden();
});

test.describe('a plan that cannot be loaded', () => {
  test.use({ expectedErrors: /status of 503/ });

  const PROFILE = '**/rest/v1/profiles*';
  const fail = (page: Page) => page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }));
  const UNREAD = "We couldn't load your plan. Your logs and your plan are safe.";
  const PITCH = /Upgrade|Dabbler|Premium Feature|Closers only|premium feature/;

  test('keeps the free days writable, and offers a premium user no upgrade on any screen', async ({
    page,
    signUp,
    request,
    expectAccessible,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await fail(page);
    await signUp(page, { path: `/journal?date=${daysAgo(29)}`, isCloser: true });
    await expect(page.getByText(UNREAD)).toBeVisible();
    await editor(page).click();
    await page.keyboard.type('kept');
    await expectSaved(page);
    await expect.poll(async () => readStoredLog(request, await sessionOf(page), daysAgo(29))).toBe(log('kept'));

    await test.step('Find and the calendar do not mention plans', async () => {
      await page.keyboard.press('ControlOrMeta+k');
      const find = page.getByRole('dialog', { name: 'Find' });
      await page.getByRole('combobox', { name: 'Find words or a date' }).fill(daysAgo(60));
      await expect(find.getByRole('option')).toHaveText([`Go to ${labelOf(daysAgo(60))}`]);
      await expect(find).not.toContainText('Closer');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Alt+c');
      const calendar = page.getByRole('dialog', { name: 'Select Date' });
      await calendar.getByRole('button', { name: 'Previous' }).click();
      await expect(calendar.getByRole('gridcell').first()).toBeVisible();
      await expect(calendar).not.toContainText('Closer');
      await expect(calendar.getByRole('button', { name: /locked/ })).toHaveCount(0);
      await page.keyboard.press('Escape');
    });

    const menu = page.getByRole('dialog', { name: 'Menu' });
    for (const [button, dialog] of [
      ['Open menu', menu],
      ['Open feedback', page.getByRole('dialog', { name: 'HAI Feedback' })],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      await expect(dialog.getByText(UNREAD)).toBeVisible();
      await expect(dialog.getByText(PITCH)).toHaveCount(0);
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    }

    for (const [link, path] of [
      ['Settings', '/settings'],
      ['Profile', '/profile'],
      ['Hustle Reviews', '/reviews'],
    ] as const) {
      await page.getByRole('button', { name: 'Open menu' }).click();
      await menu.getByRole('link', { name: link }).click();
      await expect(page).toHaveURL(path);
      await expect(page.getByRole('status').filter({ hasText: UNREAD })).toBeVisible();
      await expect(page.getByText(PITCH)).toHaveCount(0);
      if (path === '/settings') await expect(page.getByRole('button', { name: 'Choose Files' })).toBeVisible();
      if (path !== '/reviews') await page.goBack();
    }
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Refresh Profile' }).click();
    await expect(page.getByText('Failed to refresh profile. Please try again.')).toBeVisible();
  });

  test.describe('once the page has had idle time', () => {
    test.use({ isIdle: true, expectedErrors: /status of 503|net::ERR_INTERNET_DISCONNECTED/ });

    test('is requested again without the user, and the journal does not mention it while offline', async ({
      page,
      context,
      signUp,
    }) => {
      await fail(page);
      await signUp(page);
      await expect(page.getByText(UNREAD)).toBeVisible();
      await context.setOffline(true);
      await expect(page.getByText(UNREAD)).toBeHidden();
      await page.keyboard.type('on the train');
      const offline = status(page, 'On this device only – sending when online');
      await expect(offline).toHaveAttribute('data-alarm', 'false');
      await page.getByRole('button', { name: 'Previous day' }).click();
      await expect(page.getByText(UNREAD)).toBeHidden();
      await context.setOffline(false);
      await expect(page.getByText(UNREAD)).toBeVisible();
      // No event tells that the server answers again.
      await page.unroute(PROFILE);
      await expect(page.getByText(UNREAD)).toBeHidden();
      await page.getByRole('button', { name: 'Open menu' }).click();
      await expect(page.getByRole('dialog', { name: 'Menu' }).getByText('Dabbler')).toBeVisible();
    });
  });

  test('locks no old day, and opens it once the plan is known', async ({ page, signUp, expectAccessible }) => {
    await fail(page);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(PROFILE, async (route) => {
      await released;
      await route.fallback();
    });
    const logs = { [daysAgo(40)]: log('long ago') };
    await signUp(page, { path: `/journal?date=${daysAgo(40)}`, isCloser: true, logs });
    await expect(page.getByText('Loading Journal...')).toBeVisible();
    const words = page.getByText('Waiting for a connection to the server.');
    await expect(words).toBeHidden();
    const delays = () => words.evaluate((each) => each.getAnimations().map((it) => it.effect!.getTiming().delay));
    expect(await delays()).toEqual([2_000]);
    await words.evaluate((each) => each.getAnimations().forEach((animation) => animation.finish()));
    await expect(words).toBeVisible();
    await expectAccessible(page);
    release();
    await expect(page.getByText('This day opens as soon as your plan is known.')).toBeVisible();
    // The page shows one message only.
    await expect(page.getByRole('main').getByRole('status').filter({ hasText: /\S/ })).toHaveText(
      `${UNREAD} This day opens as soon as your plan is known.`,
    );
    await expect(page.getByText('This log is locked.')).toHaveCount(0);
    // The page asks by itself too, so the answer comes after the click.
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route(PROFILE, (route) => answered.then(() => route.continue()));
    await page.getByRole('button', { name: 'Refresh Profile' }).click();
    answer();
    await expectToast(page, 'Profile refreshed successfully!');
    await expect(items(page)).toHaveText(['long ago']);
  });

  test('is not mentioned below a day that is loading or could not be loaded', async ({ page, signUp }) => {
    await fail(page);
    const ENTRIES = '**/rest/v1/entries*';
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(ENTRIES, async (route) => {
      await released;
      await route.fulfill({ status: 503, json: {} });
    });
    await signUp(page, { path: `/journal?date=${daysAgo(3)}` });
    await expect(page.getByText(UNREAD)).toBeAttached();
    await expect(page.getByText('Loading entry...')).toBeAttached();
    await expect(page.getByText(UNREAD)).toBeHidden();
    release();
    await expect(page.getByRole('heading', { name: 'This day could not be loaded.' })).toBeVisible();
    await expect(page.getByText('Loading entry...')).toHaveCount(0);
    await expect(page.getByText(UNREAD)).toBeHidden();
    await page.unroute(ENTRIES);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(editor(page)).toBeVisible();
    await expect(page.getByText(UNREAD)).toBeVisible();
    // No event tells that the server answers again, and the page has had no idle time.
    await page.unroute(PROFILE);
    await expect(page.getByText(UNREAD)).toBeHidden({ timeout: 15_000 });
  });

  test('is requested again after two seconds before the page says so', async ({ page, signUp }) => {
    await page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await signUp(page, { path: '/reviews' });
    await expect(page.getByRole('status').filter({ hasText: 'Loading...' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
    await expect(page.getByText(UNREAD)).toHaveCount(0);
  });
});
