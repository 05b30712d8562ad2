/** The reminder as a notification, from the switch to what its two actions do, and "Install" in the menu. */
import type { BrowserContext, Page } from '@playwright/test';
import type { PushMessage } from '#domain/habit/push-message.ts';
import { dayLabel } from '#domain/day/day.ts';
import { daysAgo, editor, expectSaved, headersOf } from './support/journal.ts';
import { openSections } from './support/settings.ts';
import { expect, inBothThemes, skipToIdleTime, test as base } from './support/test.ts';

const test = base.extend({ serviceWorkers: 'allow', isIdle: true });

const reminderOf = (page: Page) => page.locator('section', { has: page.getByRole('heading', { name: 'Reminder' }) });
const switchOf = (page: Page) => reminderOf(page).getByRole('checkbox', { name: /^On this device/ });

/** Turns the switch on, and waits until the server has stored the choice. */
async function turnOn(page: Page): Promise<void> {
  const stored = page.waitForResponse(
    (response) => response.url().includes('/rest/v1/preferences') && response.request().method() === 'POST',
  );
  await switchOf(page).click();
  await expect(reminderOf(page).getByText('This device shows your reminders.')).toBeVisible();
  expect((await stored).ok()).toBe(true);
  await expect(switchOf(page)).toBeChecked();
}

/** The message that the push service took last, decrypted. */
async function lastMessage(page: Page): Promise<PushMessage> {
  const messages = (await (await page.request.get('/sandbox/push/messages')).json()) as { text: string }[];
  return JSON.parse(messages[0]!.text) as PushMessage;
}

/** The messages that the push service has taken for a subscription, newest first. */
async function messagesAt(page: Page, endpoint: string): Promise<PushMessage[]> {
  const answer = await page.request.get(`/sandbox/push/messages?endpoint=${encodeURIComponent(endpoint)}`);
  return ((await answer.json()) as { text: string }[]).map(({ text }) => JSON.parse(text) as PushMessage);
}

/** The device that the worker has stored; null once the worker has deleted it. */
const deviceOf = (page: Page): Promise<{ publicKey: string } | null> =>
  page.evaluate(async () => {
    const stored = await caches.match('/push/device', { cacheName: 'hustle-forge:push' });
    return stored ? ((await stored.json()) as { publicKey: string }) : null;
  });

/** A new subscription of this browser, as its push service makes it. */
async function subscribeAgain(page: Page): Promise<{ endpoint: string }> {
  const applicationServerKey = (await deviceOf(page))!.publicKey;
  const answer = await page.request.post('/sandbox/push/subscriptions', { data: { applicationServerKey } });
  return (await answer.json()) as { endpoint: string };
}

/** Hands a message to the service worker, as the browser does for its push service. */
async function deliver(page: Page, data: string): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ isDeleted }) => !isDeleted);
      if (found) resolve(found.registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  const registrationId = await registered;
  await cdp.send('ServiceWorker.deliverPushMessage', { origin: new URL(page.url()).origin, registrationId, data });
  await cdp.detach();
}

/**
 * The headless browser shows no notifications, whatever is permitted. So this page has the permission, and the worker
 * keeps what it would show.
 */
const permit = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
    Notification.requestPermission = () => Promise.resolve('granted');
  });

type Shown = { title: string; body: string; tag: string };
type WorkerScope = {
  shown: (Shown & { data: unknown; close: () => void })[];
  registration: {
    showNotification: (title: string, options: Omit<Shown, 'title'> & { data: unknown }) => Promise<void>;
  };
};

async function workerOf(context: BrowserContext) {
  await expect.poll(() => context.serviceWorkers().length).toBeGreaterThan(0);
  const worker = context.serviceWorkers().at(-1)!;
  await worker.evaluate(() => {
    const scope = self as unknown as WorkerScope;
    if ((scope as Partial<WorkerScope>).shown) return;
    scope.shown = [];
    scope.registration.showNotification = async (title, options) => {
      const close = (): void => void (scope.shown = scope.shown.filter(({ tag }) => tag !== options.tag));
      close();
      scope.shown.push({ title, ...options, close });
    };
  });
  return worker;
}

const shown = async (context: BrowserContext): Promise<Shown[]> =>
  (await workerOf(context)).evaluate(() =>
    (self as unknown as WorkerScope).shown.map(({ title, body, tag }) => ({ title, body, tag })),
  );

/** Clicks a notification or one of its actions. */
const click = async (context: BrowserContext, action: string): Promise<void> =>
  (await workerOf(context)).evaluate((clicked) => {
    const [notification] = (self as unknown as WorkerScope).shown;
    const waitUntil = (work: Promise<void>): void => void work.catch(() => undefined);
    self.dispatchEvent(Object.assign(new Event('notificationclick'), { notification, action: clicked, waitUntil }));
  }, action);

/** The browser has ended the subscription. Chromium names the next one in the event; elsewhere the worker subscribes. */
const replaceSubscription = async (context: BrowserContext, json: object, isInEvent: boolean): Promise<void> =>
  (await workerOf(context)).evaluate(
    async ([next, inEvent]) => {
      const subscription = { toJSON: () => next };
      const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
      if (!inEvent) registration.pushManager.subscribe = () => Promise.resolve(subscription as PushSubscription);
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const event = new Event('pushsubscriptionchange');
      self.dispatchEvent(
        Object.assign(event, { waitUntil: resolve, ...(inEvent && { newSubscription: subscription }) }),
      );
      await promise;
    },
    [json, isInEvent] as const,
  );

test.describe('with the permission', () => {
  test.beforeEach(({ page }) => permit(page));

  test('a device whose subscription the browser replaces goes on getting reminders, until it is removed', async ({
    page,
    context,
    request,
    accounts,
    openAs,
  }) => {
    const account = await accounts.create();
    await openAs(page, account, '/settings');
    await openSections(page, 'Reminder');
    await turnOn(page);
    for (const isInEvent of [true, false]) {
      const next = await subscribeAgain(page);
      await replaceSubscription(context, next, isInEvent);
      await reminderOf(page).getByRole('button', { name: 'Send me one now' }).click();
      await expect.poll(() => messagesAt(page, next.endpoint)).toHaveLength(1);
    }
    const removed = await request.delete(`/rest/v1/push_subscriptions?user_id=eq.${account.session.user.id}`, {
      headers: headersOf(account.session),
    });
    expect(removed.ok()).toBe(true);
    await replaceSubscription(context, await subscribeAgain(page), true);
    expect(await deviceOf(page)).toBeNull();
  });

  test('a device whose session has ended is on again after its user has signed in again', async ({
    page,
    request,
    accounts,
    openAs,
  }) => {
    const account = await accounts.create();
    await openAs(page, account, '/settings');
    await openSections(page, 'Reminder');
    await turnOn(page);
    const ended = await request.post('/auth/v1/logout?scope=local', { headers: headersOf(account.session) });
    expect(ended.status()).toBe(204);
    const again = await accounts.signInAgain(account);
    const devices = async (): Promise<unknown[]> => {
      const answer = await request.get('/rest/v1/push_subscriptions?select=id', { headers: headersOf(again.session) });
      return (await answer.json()) as unknown[];
    };
    expect(await devices()).toEqual([]);
    await openAs(page, again, '/settings');
    await expect.poll(devices).toHaveLength(1);
    await page.reload();
    await openSections(page, 'Reminder');
    await expect(switchOf(page)).toBeChecked();
    await reminderOf(page).getByRole('button', { name: 'Send me one now' }).click();
    await expect(reminderOf(page).getByText('Sent to 1 device.')).toBeVisible();
  });

  test.describe('without a connection', () => {
    test.use({ expectedErrors: /net::ERR_(FAILED|INTERNET_DISCONNECTED)/ });

    test('the switch says that it stays as it was', async ({ page, context, accounts, openAs }) => {
      await openAs(page, await accounts.create(), '/settings');
      await openSections(page, 'Reminder');
      await turnOn(page);
      await context.route('**/rest/v1/push_subscriptions?*', (route) =>
        route.request().method() === 'DELETE' ? route.abort() : route.continue(),
      );
      await switchOf(page).click();
      await expect(reminderOf(page).getByText("Couldn't turn this off. Please try again.")).toBeVisible();
      await expect(switchOf(page)).toBeChecked();
      await context.route('**/functions/v1/push-subscription', (route) => route.abort());
      await context.unroute('**/rest/v1/push_subscriptions?*');
      await switchOf(page).click();
      await expect(switchOf(page)).not.toBeChecked();
      await switchOf(page).click();
      await expect(reminderOf(page).getByText("Couldn't turn this on. Please try again.")).toBeVisible();
      await expect(switchOf(page)).not.toBeChecked();
    });

    test('a sign-out ends the device in this browser', async ({ page, context, accounts, openAs }) => {
      await openAs(page, await accounts.create(), '/settings');
      await openSections(page, 'Reminder');
      await turnOn(page);
      expect(await deviceOf(page)).not.toBeNull();
      await page.goto('/journal');
      await page.getByRole('button', { name: 'Open menu' }).click();
      await expect(page.getByRole('button', { name: 'Logout' })).toBeVisible();
      await context.setOffline(true);
      await page.getByRole('button', { name: 'Logout' }).click();
      await page.getByRole('button', { name: 'Sign out on this device only' }).click();
      await expect(page).toHaveURL('/');
      await context.setOffline(false);
      await expect.poll(() => deviceOf(page)).toBeNull();
    });
  });

  test('a reminder is turned on, shown, and answered without opening the site', async ({
    page,
    context,
    accounts,
    openAs,
    expectAccessible,
  }) => {
    await openAs(page, await accounts.create(), '/settings');
    await openSections(page, 'Reminder');
    await turnOn(page);
    await inBothThemes(page, expectAccessible);
    await reminderOf(page).getByRole('button', { name: 'Send me one now' }).click();
    await expect(reminderOf(page).getByText('Sent to 1 device.')).toBeVisible();
    const message = await lastMessage(page);
    await workerOf(context);
    await deliver(page, JSON.stringify(message));
    const title = dayLabel(message.day);
    await expect.poll(() => shown(context)).toEqual([{ title, body: message.prompt, tag: message.day }]);

    await click(context, 'nothing');
    const stored = { title, body: '“Did nothing today” is your log of this day.', tag: message.day };
    await expect.poll(() => shown(context)).toEqual([stored]);
    await page.goto(`/journal?date=${message.day}`);
    await expect(editor(page)).toHaveText('Did nothing today');

    // A second reminder takes the place of the first one, and a day with words stays as it is.
    await editor(page).fill('Shipped it');
    await expectSaved(page);
    await deliver(page, JSON.stringify(message));
    await expect.poll(() => shown(context)).toEqual([{ title, body: message.prompt, tag: message.day }]);
    await click(context, 'nothing');
    await expect
      .poll(() => shown(context))
      .toEqual([{ title, body: 'This day has words already. Your log was not changed.', tag: message.day }]);
  });

  test('"Write" opens the day in the page that is open', async ({ page, context, accounts, openAs }) => {
    await context.clock.install();
    await openAs(page, await accounts.create(), '/settings');
    await openSections(page, 'Reminder');
    await turnOn(page);
    await page.goto('/journal');
    await expect(editor(page)).toBeVisible();
    await skipToIdleTime(page);
    const day = daysAgo(2);
    await workerOf(context);
    // The page listens once it has loaded what it needs in its idle time.
    await expect(async () => {
      await deliver(page, JSON.stringify({ day, prompt: 'What did you get done today?', tap: 'x' }));
      await expect.poll(async () => (await shown(context)).map(({ tag }) => tag)).toEqual([day]);
      await click(context, 'write');
      await expect(page).toHaveURL(`/journal?date=${day}`, { timeout: 3_000 });
    }).toPass();
    await expect(editor(page)).toBeVisible();
  });

  test('devices are listed and removed, and this one ends with a sign-out', async ({
    page,
    accounts,
    openAs,
    browser,
    baseURL,
  }) => {
    const account = await accounts.create();
    const other = await browser.newContext({
      ...(baseURL !== undefined && { baseURL }),
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    });
    const phone = await other.newPage();
    await permit(phone);
    await openAs(phone, account, '/settings');
    await openSections(phone, 'Reminder');
    await turnOn(phone);
    await openAs(page, await accounts.signInAgain(account), '/settings');
    await openSections(page, 'Reminder');
    await expect(switchOf(page)).not.toBeChecked();
    await turnOn(page);
    await reminderOf(page).getByRole('button', { name: 'Remove Firefox on Linux' }).click();
    await expect(reminderOf(page).getByText('Removed: Firefox on Linux.')).toBeVisible();
    await phone.reload();
    await openSections(phone, 'Reminder');
    await expect(switchOf(phone)).toBeEnabled();
    await expect(switchOf(phone)).not.toBeChecked();
    await switchOf(page).click();
    await expect(switchOf(page)).not.toBeChecked();
    await expect(reminderOf(page).getByRole('combobox', { name: 'At' })).toBeHidden();
    await other.close();
  });
});

test('a browser that blocks notifications says where to allow them', async ({ page, accounts, openAs }) => {
  await page.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'denied' }));
  await openAs(page, await accounts.create(), '/settings');
  await openSections(page, 'Reminder');
  await expect(reminderOf(page).getByText(/^This browser blocks notifications from this site\./)).toBeVisible();
  await expect(switchOf(page)).toBeDisabled();
});

test('an iPhone says that the app has to be installed first, in the settings and in the menu', async ({
  page,
  accounts,
  openAs,
}) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'userAgent', {
      get: () => 'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X)',
    });
    Reflect.deleteProperty(globalThis, 'PushManager');
  });
  await openAs(page, await accounts.create(), '/settings');
  await openSections(page, 'Reminder');
  await expect(reminderOf(page).getByText(/^First add Hustle Forge to your home screen/)).toBeVisible();
  await page.goto('/journal');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByText('To install: tap Share, then Add to Home Screen')).toBeVisible();
});

test('the menu offers to install where the browser does, until it is installed', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  await page.getByRole('button', { name: 'Open menu' }).click();
  const install = page.getByRole('button', { name: 'Install' });
  await expect(page.getByRole('button', { name: 'Find' })).toBeVisible();
  await expect(install).toBeHidden();
  await page.evaluate(() => {
    const offer = new Event('beforeinstallprompt', { cancelable: true });
    const prompt = () => (sessionStorage.setItem('asked', 'yes'), Promise.resolve({ outcome: 'accepted' }));
    dispatchEvent(Object.assign(offer, { prompt }));
  });
  await inBothThemes(page, expectAccessible);
  await install.click();
  await expect(install).toBeHidden();
  expect(await page.evaluate(() => sessionStorage.getItem('asked'))).toBe('yes');
});
