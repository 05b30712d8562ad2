/**
 * The session in the browser: two tabs, sleep, wrong clocks, a server that cannot be reached or has ended the session,
 * and the events of a tab that gets the focus (docs/specification/api.md 18).
 */
import type { APIRequestContext, Page } from '@playwright/test';
import type { Day } from '#domain/day/day.ts';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  sessionOf,
  skipToSave,
  readStoredLog,
  today,
} from '../support/journal.ts';
import type { SeededAccount } from '../support/accounts.ts';
import { expect, test } from '../support/test.ts';
import { enterPassword, signInOverlay } from '../support/sign-in.ts';

const RENEWAL = /\/auth\/v1\/token\?grant_type=refresh_token/;
const HOUR_MS = 3_600_000;

/** Makes the stored access token expire after `seconds`, by the page's clock. */
const expireIn = (page: Page, seconds: number): Promise<void> =>
  page.evaluate(
    ({ key, left }) => {
      const session = JSON.parse(localStorage.getItem(key)!) as object;
      localStorage.setItem(key, JSON.stringify({ ...session, expires_at: Math.floor(Date.now() / 1000) + left }));
    },
    { key: sessionStorageKey(page.url()), left: seconds },
  );

/** The session as the browser stores it, with its end in seconds. */
const endAt = (session: SeededAccount['session'], expiresAt: number) => ({ ...session, expires_at: expiresAt });

const focusTab = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    dispatchEvent(new Event('focus'));
  });

function countRenewals(page: Page): { count: number } {
  const renewals = { count: 0 };
  page.on('request', (request) => void (RENEWAL.test(request.url()) && (renewals.count += 1)));
  return renewals;
}

test.beforeEach(({ page }) => page.clock.install());

async function expectWorks(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.type(text);
  await skipToSave(page);
  await expectSaved(page);
  await expect(signInOverlay(page)).toHaveCount(0);
}

/** Types at the end of an open day that is saved already, and waits until the server has the text. */
async function expectStores(page: Page, request: APIRequestContext, date: Day): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', and more');
  await skipToSave(page);
  const session = await sessionOf(page);
  await expect.poll(() => readStoredLog(request, session, date)).toContain(', and more');
  await expect(signInOverlay(page)).toHaveCount(0);
}

type Fault = { status: number; body: string } | { status: number; json: object } | null;

/** Types text while each renewal gets `fault`, or no answer. */
async function expectKeepsSession(page: Page, fault: Fault, typed: string): Promise<void> {
  const { refresh_token } = await sessionOf(page);
  await page.route(RENEWAL, (route) => (fault ? route.fulfill(fault) : route.abort()));
  await expireIn(page, -60);
  const tried = page.waitForRequest(RENEWAL);
  await focusTab(page);
  await tried;
  await page.keyboard.type(typed);
  const triedAgain = page.waitForRequest(RENEWAL);
  await skipToSave(page);
  await triedAgain;
  expect((await sessionOf(page)).refresh_token).toBe(refresh_token);
  await expect(signInOverlay(page)).toHaveCount(0);
  await page.unroute(RENEWAL);
}

/** Holds the renewals of all pages until each of them has sent one. */
async function meetAtRenewal(pages: readonly Page[]): Promise<void> {
  const everyone = Promise.withResolvers<void>();
  let waiting = 0;
  for (const page of pages) {
    await page.route(RENEWAL, async (route) => {
      waiting += 1;
      if (waiting === pages.length) everyone.resolve();
      await everyone.promise;
      await route.continue();
    });
  }
}

test('two tabs that renew one session at once, at their start and later, stay signed in', async ({
  page,
  context,
  accounts,
  openAs,
  request,
}) => {
  const account = await accounts.create({}, 2 * HOUR_MS);
  const other = await context.newPage();
  const tabs = [page, other];
  await test.step('the server refuses the access token of both', async () => {
    await meetAtRenewal(tabs);
    await Promise.all([openAs(page, account), openAs(other, account, `/journal?date=${daysAgo(1)}`)]);
    await expectWorks(page, 'Written in one tab');
    await expectWorks(other, 'Written in the other tab');
    expect((await sessionOf(page)).access_token).not.toBe(account.session.access_token);
    await Promise.all(tabs.map((tab) => tab.unroute(RENEWAL)));
  });

  await test.step('the access token ends while both are open', async () => {
    await meetAtRenewal(tabs);
    await expireIn(page, 30);
    const answers = tabs.map((tab) => tab.waitForResponse(RENEWAL));
    await Promise.all(tabs.map(focusTab));
    for (const answer of await Promise.all(answers)) expect(answer.status()).toBe(200);
    await expectStores(page, request, today());
    await expectStores(other, request, daysAgo(1));
    await Promise.all(tabs.map((tab) => tab.unroute(RENEWAL)));
  });

  // The server has not ended the session, as it would for the reuse of a refresh token.
  await expireIn(page, 30);
  const renewed = page.waitForResponse(RENEWAL);
  await focusTab(page);
  expect((await renewed).status()).toBe(200);
});

test('a renewal that is answered after the session was removed does not sign in again', async ({ page, signUp }) => {
  await signUp(page);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(RENEWAL, async (route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  await expireIn(page, 30);
  const asked = page.waitForRequest(RENEWAL);
  await focusTab(page);
  await asked;
  await page.evaluate(() => localStorage.clear());
  const answered = page.waitForResponse(RENEWAL);
  release();
  await (await answered).finished();
  // The answer of a later request proves that the page has handled this one.
  await page.evaluate(() => fetch('/healthz').then((answer) => answer.text()));
  expect(await page.evaluate((key) => localStorage.getItem(key), sessionStorageKey(page.url()))).toBeNull();
});

test('a session by a clock that is three hours ahead or behind opens the journal, saves and renews nothing', async ({
  page,
  accounts,
  openAs,
}) => {
  const renewals = countRenewals(page);
  for (const hours of [3, -3]) {
    const { person, session } = await accounts.create();
    const now = Date.now() + hours * HOUR_MS;
    await page.clock.setSystemTime(now);
    // As auth-js stores it: the page drops `expires_at` from the server's answer (auth-fetch.test.ts).
    await openAs(page, { person, session: endAt(session, Math.floor(now / 1000) + session.expires_in) });
    await expectWorks(page, 'By my watch');
    await page.clock.fastForward(60_000);
    await focusTab(page);
    await expect(signInOverlay(page)).toHaveCount(0);
    expect(renewals.count, `${hours} hours`).toBe(0);
  }
});

test('a token that has ended, by the clock of the server alone or during a night of sleep, is renewed once', async ({
  page,
  accounts,
  openAs,
  request,
}) => {
  const renewals = countRenewals(page);
  await test.step('the clock was wrong at the sign-in and right afterwards', async () => {
    await openAs(page, await accounts.create({}, 2 * HOUR_MS));
    await expectWorks(page, 'Before the night');
    await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveCount(0);
    expect(renewals.count).toBe(1);
  });

  await test.step('the page slept for a night and saves what is typed then', async () => {
    await page.clock.fastForward(9 * HOUR_MS);
    await focusTab(page);
    await expectStores(page, request, today());
    expect(renewals.count).toBe(2);
  });
});

test.describe('without a server', () => {
  test.use({ expectedErrors: /net::ERR_FAILED|status of 50[03]/ });

  test('the journal opens with a session that cannot be renewed, and loads once it can', async ({
    page,
    accounts,
    openAs,
    request,
  }) => {
    const { person, session } = await accounts.create();
    await page.route(/\/(auth|rest)\/v1\//, (route) => route.abort());
    const lateSession = endAt(session, Math.floor(Date.now() / 1000) - 60);
    await openAs(page, { person, session: lateSession }, `/journal?date=${today()}`);
    await expect(page.getByRole('button', { name: 'Open menu' })).toBeVisible();
    await expect(page).toHaveURL(/\/journal/);
    await page.unrouteAll();
    await expect(editor(page)).toBeVisible({ timeout: 60_000 });
    await expectWorks(page, 'Text');
    expect((await sessionOf(page)).user.id).toBe(session.user.id);

    await test.step('a renewal that gets 500, 503 or no answer keeps the session and the text', async () => {
      const faults = {
        ', 500': { status: 500, body: '' },
        ', 503': { status: 503, json: { code: 'request_timeout', message: 'Later.' } },
        ', none': null,
      };
      let text = 'Text';
      for (const [typed, fault] of Object.entries(faults)) {
        text += typed;
        await expectKeepsSession(page, fault, typed);
        await expect
          .poll(async () => readStoredLog(request, await sessionOf(page), today()), { timeout: 30_000 })
          .toBe(log(text));
        await expect(signInOverlay(page)).toHaveCount(0);
      }
    });
  });
});

test('a session that ended while the page was closed asks for a sign-in and leads back', async ({
  page,
  accounts,
  openAs,
}) => {
  const { person, session } = await accounts.create();
  await openAs(page, { person, session: { ...endAt(session, 1), refresh_token: 'ended' } }, '/profile');
  await expect(page).toHaveURL('/login');
  await enterPassword(page, person);
  await expect(page).toHaveURL('/profile');
});

test('the focus of a tab keeps the page, its caret and its undo history, and asks for no session', async ({
  page,
  signUp,
}) => {
  await signUp(page);
  await expectWorks(page, 'One two');
  await page.keyboard.press('ArrowLeft');
  await editor(page).evaluate((element) => (element.dataset['kept'] = 'yes'));
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  for (let turn = 0; turn < 3; turn += 1) await focusTab(page);
  // A tab that gets the focus reads the profile, because the plan may have changed elsewhere.
  await expect.poll(() => requests).toContain('/rest/v1/profiles');
  await page.keyboard.type('X');
  await expect(items(page)).toHaveText(['One twXo']);
  await expect(editor(page)).toHaveAttribute('data-kept', 'yes');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText([/^One twX?o$/]);
  expect(requests.filter((path) => path.startsWith('/auth/') || path === '/journal')).toEqual([]);
});

test.describe('a proxy that asks to sign in', () => {
  test.use({ expectedErrors: /status of 401/ });

  test('keeps the session, is told in words and offers a reload', async ({ page, signUp }) => {
    await signUp(page, { path: '/settings' });
    const requests = /\/(rest|auth|functions)\/v1\//;
    await page.route(requests, (route) =>
      route.fulfill({ status: 401, contentType: 'text/html', body: '<h1>Sign in</h1>' }),
    );
    await page.reload();
    await expect(page.getByText('Something in front of the server, such as a company sign-in')).toBeVisible();
    await page.unroute(requests);
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await expect(page.getByRole('heading', { name: 'Import Data' })).toBeVisible();
    await expect(page).toHaveURL('/settings');
  });
});
