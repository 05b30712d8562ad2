/**
 * Schedules of two devices with one fault each: no connection, a lost answer, a busy server, a crash, a session or a
 * plan that ends. At the end every typed item is on the server exactly once, and both devices show the same without a
 * question. `tests/world` runs such schedules at random in a simulated browser. Here the storage, the network errors
 * and the page life cycle are Chromium's own.
 */
import { crash, daysAgo, editor, headersOf, items, sessionOf, status } from '../support/journal.ts';
import { readAllStorage, enterPassword, signInOverlay } from '../support/sign-in.ts';
import { expect } from '../support/test.ts';
import { addItem, comeBack, replaceEnding, saveDay, saveItem, test } from './devices.ts';

test.use({ expectedErrors: /net::ERR_|status of 503/ });

const ENTRIES = '**/rest/v1/entries*';

test('two devices that begin a day offline store one log with the items of both', async ({ openPair }) => {
  const { desk, other, expectAgreed } = await openPair([]);
  for (const page of [desk, other]) await page.context().setOffline(true);
  await addItem(desk, 'first at the desk');
  await addItem(other, 'first elsewhere');
  for (const page of [desk, other]) {
    await expect(status(page, 'On this device only – sending when online')).toBeVisible();
    await page.context().setOffline(false);
    await saveDay(page);
  }
  await expectAgreed(['first at the desk', 'first elsewhere']);
});

test('an item that is retyped after its save lost the answer does not come back from the other device', async ({
  openPair,
}) => {
  const { desk, other, expectAgreed } = await openPair(['shared']);
  let areAnswersLost = true;
  const firstLoss = Promise.withResolvers<void>();
  await desk.route(ENTRIES, async (route) => {
    if (!areAnswersLost) return route.fallback();
    const isWrite = route.request().method() !== 'GET';
    if (isWrite) await route.fetch();
    await route.abort();
    if (isWrite) firstLoss.resolve();
  });
  await addItem(desk, 'call Ann');
  await comeBack(desk);
  await firstLoss.promise;
  await comeBack(other);
  await expect(items(other)).toHaveText(['shared', 'call Ann']);
  await saveItem(other, 'on top of it');
  await replaceEnding(desk, 'Ann', 'Ben');
  areAnswersLost = false;
  await saveDay(desk);
  await expectAgreed(['shared', 'call Ben', 'on top of it']);
});

test('a device whose saves get 503 shows the item of the other device beside its unsent one', async ({ openPair }) => {
  const { desk, other, expectAgreed } = await openPair(['shared']);
  await desk.route(ENTRIES, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: 503, headers: { 'Retry-After': '30' }, body: 'Service Unavailable' }),
  );
  await addItem(desk, 'refused for now');
  await comeBack(desk);
  await expect(status(desk, 'Not saved – retrying')).toBeVisible();
  await saveItem(other, 'call Ann');
  await comeBack(desk);
  await expect(items(desk)).toHaveText(['shared', 'refused for now', 'call Ann']);
  await expect(status(desk, 'Not saved – retrying')).toBeVisible();
  await replaceEnding(other, 'Ann', 'Ben');
  await saveDay(other);
  await desk.unroute(ENTRIES);
  await saveDay(desk);
  await expectAgreed(['shared', 'refused for now', 'call Ben']);
});

test('text of a crashed tab is merged with an edit of the other device when the tab is opened again', async ({
  openPair,
}) => {
  const { desk, other, expectAgreed } = await openPair(['call Ann']);
  const context = desk.context();
  await context.setOffline(true);
  await addItem(desk, 'typed before the crash');
  await expect.poll(() => readAllStorage(desk)).toContain('typed before the crash');
  await crash(desk);
  await replaceEnding(other, 'Ann', 'Ben');
  await saveDay(other);
  await context.setOffline(false);
  const reopened = await context.newPage();
  await reopened.goto('/journal');
  await expectAgreed(['call Ben', 'typed before the crash'], [reopened, other]);
});

test('unsent text of a device that the other one signed out survives a reload and is sent after the next sign-in', async ({
  account,
  openPair,
  request,
}) => {
  const { email, password } = account.person;
  const { desk, other, expectAgreed } = await openPair(['shared']);
  const headers = headersOf(await sessionOf(other));
  expect((await request.post('/auth/v1/logout?scope=others', { headers })).ok()).toBe(true);
  await addItem(desk, 'without a session');
  await comeBack(desk);
  await expect(signInOverlay(desk)).toBeVisible();
  await desk.reload();
  await expect(desk).toHaveURL('/login');
  await saveItem(other, 'with a session');
  await enterPassword(desk, { email, password });
  await expectAgreed(['shared', 'without a session', 'with a session']);
});

test('text on a day that the plan locks before it is sent is merged once the plan is back', async ({
  account,
  accounts,
  admin,
  openPair,
}) => {
  const { email } = account.person;
  await accounts.upgrade(account);
  const { desk, other, expectAgreed } = await openPair(['long ago'], daysAgo(40));
  await desk.context().setOffline(true);
  await addItem(desk, 'not sent yet');
  await saveItem(other, 'sent in time');
  await admin('plan:revoke', email);
  await desk.context().setOffline(false);
  await expect(desk.getByRole('heading', { name: 'What you wrote is not saved yet.' })).toBeVisible();
  await comeBack(other);
  await expect(other.getByText('This log is locked.')).toBeVisible();
  await admin('plan:grant', email);
  await comeBack(desk);
  await expect(editor(desk)).toBeVisible();
  await expectAgreed(['long ago', 'not sent yet', 'sent in time']);
});
