/** A server that is killed while two devices write, and is then started again. */
import { expectSaved, items, status, today } from '../support/journal.ts';
import { expect } from '../support/test.ts';
import { addItem, comeBack, expectAgreement, setHidden, test } from './devices.ts';

test.use({
  expectedErrors: /net::ERR_/,
  // Settings other than the default give this file a server of its own, because the test kills it.
  serverSettings: { LOG_LEVEL: 'error' },
});

test('the text of two devices is stored once after the server was killed in the middle of a save', async ({
  account,
  openDevice,
  request,
  server,
}) => {
  const [desk, other] = await Promise.all([openDevice(), openDevice()]);
  await addItem(desk, 'shared');
  await comeBack(desk);
  await expectSaved(desk);
  await expect(items(other)).toHaveText(['shared']);
  await addItem(desk, 'on its way');
  const sent = desk.waitForRequest((sentRequest) => sentRequest.method() === 'PATCH');
  await comeBack(desk);
  await sent;
  await server.kill();
  await addItem(other, 'without a server');
  await addItem(desk, 'and more');
  for (const page of [desk, other]) {
    await comeBack(page);
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
  }
  await server.startAgain();
  // The user looks at another tab and comes back, which ends the wait before the next attempt.
  for (const page of [desk, other]) {
    await setHidden(page, true);
    await setHidden(page, false);
  }
  const typed = ['shared', 'on its way', 'without a server', 'and more'];
  await expectAgreement(request, account, { [today()]: typed }, [
    [desk, today()],
    [other, today()],
  ]);
});
