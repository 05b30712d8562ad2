/** Helpers for tests of the coach: a user who may ask it, and the simulated model with its faults. */
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import type { Day } from '#domain/day/day.ts';
import type { SeededAccount } from './accounts.ts';
import type { Fault } from '../../../simulators/ai-model/faults.ts';
import { headersOf, log, sessionOf, storeLog, today, type Session } from './journal.ts';
import { expect, test as base, type Person } from './test.ts';

/** A log that the model gives a good score. */
export const GOOD_DAY = ['Shipped the billing reconciliation with 0 open differences', 'Looked at some stuff'] as const;
const MODEL = '/sandbox/ai-model/__simulator';

export const panel = (page: Page): Locator => page.getByRole('dialog', { name: 'HAI Feedback' });
export const score = (page: Page): Locator => panel(page).getByText('HustleScore');

export async function openPanel(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await expect(panel(page)).toBeVisible();
}

type CoachFixtures = {
  /** Seeds a user of the paid plan (Closer) who has consented to the coach and has logged this HTML today. */
  seedCloser: (html?: string) => Promise<SeededAccount>;
  /** Seeds the user of `seedCloser` with a log of these items, and opens the journal. */
  signUpCloser: (...items: string[]) => Promise<Person>;
};

export const test = base.extend<CoachFixtures>({
  seedCloser: async ({ request, accounts }, use) => {
    await use(async (html) => {
      const account = await accounts.create();
      if (html !== undefined) await storeLog(request, account.session, today(), html);
      await storeConsent(request, account.session, true);
      await accounts.upgrade(account);
      return account;
    });
  },

  signUpCloser: async ({ page, seedCloser, openAs }, use) => {
    await use(async (...items) => {
      const account = await seedCloser(items.length > 0 ? log(...items) : undefined);
      await openAs(page, account);
      return account.person;
    });
  },
});

async function storeConsent(request: APIRequestContext, session: Session, given: boolean): Promise<void> {
  const answer = await request.patch(`/rest/v1/profiles?id=eq.${session.user.id}`, {
    headers: headersOf(session),
    data: { ai_consent: given },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** Today's stored feedback, as another device would read it. */
export async function readStoredFeedback(page: Page, request: APIRequestContext): Promise<string | null> {
  const answer = await request.get(`/rest/v1/entries?select=ai_feedback&date=eq.${today()}`, {
    headers: headersOf(await sessionOf(page)),
  });
  const [row] = (await answer.json()) as { ai_feedback: string | null }[];
  return row?.ai_feedback ?? null;
}

/** Analyses a day as another device of the user would. */
export async function analyseElsewhere(request: APIRequestContext, session: Session, date: Day): Promise<void> {
  const answer = await request.post('/functions/v1/ai-feedback', { headers: headersOf(session), data: { date } });
  expect(await answer.text()).toContain('event: done');
}

export async function withdrawConsent(page: Page, request: APIRequestContext): Promise<void> {
  await storeConsent(request, await sessionOf(page), false);
}

const sendModelCommand = async (request: APIRequestContext, command: string, data: object = {}): Promise<void> => {
  const answer = await request.post(`${MODEL}/${command}`, { data });
  expect(answer.ok(), await answer.text()).toBe(true);
};

export const failModel = (request: APIRequestContext, fault: Fault) => sendModelCommand(request, 'fail', fault);
/** Waits until the model holds a request. */
export const waitUntilModelHolds = (request: APIRequestContext) => sendModelCommand(request, 'held');
export const releaseModel = (request: APIRequestContext) => sendModelCommand(request, 'release');
export const resetModel = (request: APIRequestContext) => sendModelCommand(request, 'reset');
