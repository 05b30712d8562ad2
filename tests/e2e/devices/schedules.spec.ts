/**
 * Schedules of two devices that write the same day, in two browsers against one server. At the end of each, every typed
 * item is on the server exactly once, and all screens show the same. `tests/world` runs random schedules, with lost
 * answers, plans that end and servers that are killed.
 */
import {
  daysAgo,
  dayLabel,
  editor,
  expectSaved,
  holdWrites,
  items,
  log,
  openDay,
  setHidden,
  status,
  today,
} from '../support/journal.ts';
import { endSession, signInOverlay } from '../support/sign-in.ts';
import { expect, reportNoIdleTime } from '../support/test.ts';
import { addItem, comeBack, expectAgreement, saveItem, test } from './devices.ts';

const PHONE = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } };
const TODAY = today();

test('a desk and a phone write the same day at the same time', async ({ account, accounts, openDevice, request }) => {
  await accounts.writeLog(account, TODAY, log('call the client'));
  const [desk, phone] = await Promise.all([openDevice(), openDevice({ isLive: false, ...PHONE })]);
  const typed: string[] = [];
  const expectMerged = (...texts: string[]): Promise<void> => {
    typed.push(...texts);
    return expectAgreement(request, account, { [TODAY]: typed }, [
      [desk, TODAY],
      [phone, TODAY],
    ]);
  };

  await test.step('a selection stays in its words when an item arrives above it', async () => {
    await editor(desk).press('ControlOrMeta+End');
    await desk.keyboard.press('ControlOrMeta+Shift+ArrowLeft');
    const selected = (): Promise<string> => desk.evaluate(() => getSelection()!.toString());
    await expect.poll(selected).toBe('client');
    // A tap in front of the first letter places the caret there.
    await items(phone)
      .first()
      .tap({ position: { x: 1, y: 5 } });
    await phone.keyboard.type('before it\n');
    await comeBack(phone);
    await expect(items(desk)).toHaveText(['before it', 'call the client']);
    await expect.poll(selected).toBe('client');
    await desk.keyboard.type('bank');
    await comeBack(desk);
    await expectMerged('before it', 'call the bank');
  });

  await test.step('the phone goes to the background in the middle of an item, and continues it', async () => {
    await addItem(phone, 'on the');
    await setHidden(phone, true);
    await expect(items(desk).last()).toHaveText('on the');
    await editor(desk).press('ControlOrMeta+Home');
    await desk.keyboard.type('at the desk\n');
    await comeBack(desk);
    await expectSaved(desk);
    await setHidden(phone, false);
    await expect(items(phone).first()).toHaveText('at the desk');
    await phone.keyboard.type(' phone');
    await comeBack(phone);
    await expectMerged('at the desk', 'on the phone');
  });

  await test.step('two tabs of the desk and the phone write at once', async () => {
    const tab = await desk.context().newPage();
    await tab.addInitScript(reportNoIdleTime);
    await openDay(tab, TODAY);
    const release = await Promise.all([holdWrites(desk), holdWrites(tab)]);
    await addItem(desk, 'in the first tab');
    await addItem(tab, 'in the second tab');
    await Promise.all([desk, tab].map(comeBack));
    await saveItem(phone, 'elsewhere');
    for (const send of release) send();
    await expectMerged('in the first tab', 'in the second tab', 'elsewhere');
    await expect(items(tab)).toHaveText(await items(phone).allTextContents());
    await tab.close();
  });

  await test.step('the session of the desk ends while it has unsent text, and the phone goes on', async () => {
    const release = await holdWrites(desk);
    await addItem(desk, 'without a session');
    await endSession(desk);
    const overlay = signInOverlay(desk);
    await expect(overlay).toBeVisible();
    release();
    await saveItem(phone, 'with a session');
    await overlay.getByLabel('Password').fill(account.person.password);
    await overlay.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(overlay).toHaveCount(0);
    await expectMerged('without a session', 'with a session');
  });
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_/ });

  test('a device that wrote offline and was reloaded offline takes over what the other one saved', async ({
    account,
    accounts,
    openDevice,
    request,
  }) => {
    await accounts.writeLog(account, TODAY, log('shared'));
    const [desk, other] = await Promise.all([openDevice({ serviceWorkers: 'allow' }), openDevice({ isLive: false })]);
    await expect(items(desk)).toHaveText(['shared']);
    await desk.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await desk.context().setOffline(true);
    await addItem(desk, 'on the train');
    await desk.reload();
    await expect(items(desk)).toHaveText(['shared', 'on the train']);
    await addItem(desk, 'after the reload');
    await saveItem(other, 'at the office');
    await desk.context().setOffline(false);
    const typed = ['shared', 'on the train', 'after the reload', 'at the office'];
    await expectAgreement(request, account, { [TODAY]: typed }, [
      [desk, TODAY],
      [other, TODAY],
    ]);
  });
});

test('text of a tab that was closed within the debounce survives the deletion of the day on the other device', async ({
  account,
  accounts,
  openDevice,
  request,
}) => {
  await accounts.writeLog(account, TODAY, log('deleted elsewhere'));
  const [desk, other] = await Promise.all([
    // The page's clock is paused, so the debounce does not end before the page is closed.
    openDevice({ isLive: false, prepare: (page) => page.clock.install() }),
    openDevice({ isLive: false }),
  ]);
  for (const page of [desk, other]) await expect(items(page)).toHaveText(['deleted elsewhere']);
  await desk.clock.pauseAt(Date.now() + 60_000);
  await addItem(desk, 'typed in a hurry');
  await editor(other).press('ControlOrMeta+a');
  await other.keyboard.press('Delete');
  await comeBack(other);
  await expect(status(other, 'Nothing written yet')).toBeVisible();
  await desk.close();
  const reopened = await desk.context().newPage();
  await reopened.goto('/journal');
  // Playwright's clock applies to all pages of the browser context, so the clock of the new page is paused too.
  await reopened.clock.resume();
  await expectAgreement(request, account, { [TODAY]: ['typed in a hurry'] }, [
    [reopened, TODAY],
    [other, TODAY],
  ]);
});

test('midnight passes on one device while both write the day that ends', async ({ account, openDevice, request }) => {
  const now = new Date();
  const beforeMidnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 23, 59, 30);
  const yesterday = daysAgo(1);
  const [late, other] = await Promise.all([
    openDevice({ isLive: false, prepare: (page) => page.clock.install({ time: beforeMidnight }) }),
    openDevice({ isLive: false, date: yesterday }),
  ]);
  await addItem(late, 'before midnight');
  const offer = late.getByRole('button', { name: /^It is \w+ now$/ });
  // Again, if the page has not yet set its timer for midnight.
  await expect(async () => {
    await late.clock.runFor(60_000);
    await expect(offer).toBeVisible({ timeout: 5_000 });
  }).toPass();
  await addItem(late, 'after midnight');
  await saveItem(other, 'elsewhere');
  await offer.click();
  await expect(dayLabel(late)).toBeVisible();
  await expect(items(late)).toHaveText(['']);
  await addItem(late, 'the new day');
  const typed = { [yesterday]: ['before midnight', 'after midnight', 'elsewhere'], [TODAY]: ['the new day'] };
  await expectAgreement(request, account, typed, [
    [late, TODAY],
    [other, yesterday],
  ]);
});
