/** What the stories about the coach share: somebody who may ask it, and the sandbox's model, which can be made to fail. */
import type { APIRequestContext, Locator, Page } from '@playwright/test';
import type { Fault } from '../../../simulators/ai-model/faults.ts';
import { headersOf, log, sessionOf, storeLog, today } from './journal.ts';
import { expect, test as base } from './test.ts';
import type { Person } from './test.ts';

const MODEL = '/sandbox/ai-model/__simulator';

export const panel = (page: Page): Locator => page.getByRole('dialog', { name: 'HAI Feedback' });
export const score = (page: Page): Locator => panel(page).getByText('HustleScore');

export async function openPanel(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await expect(panel(page)).toBeVisible();
}

type CoachFixtures = {
  /** A new Closer who has agreed to the coach, on a day with these items. */
  signUpCloser: (...items: string[]) => Promise<Person>;
};

export const test = base.extend<CoachFixtures>({
  signUpCloser: async ({ page, request, signUp, admin }, use) => {
    await use(async (...items) => {
      const person = await signUp(page);
      const session = await sessionOf(page);
      if (items.length > 0) await storeLog(request, session, today(), log(...items));
      await storeConsent(request, session, true);
      await admin('plan:grant', person.email);
      await page.goto(`/journal?date=${today()}`);
      await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
      return person;
    });
  },
});

type Session = Awaited<ReturnType<typeof sessionOf>>;

async function storeConsent(request: APIRequestContext, session: Session, given: boolean): Promise<void> {
  const answer = await request.patch(`/rest/v1/profiles?id=eq.${session.user.id}`, {
    headers: headersOf(session),
    data: { ai_consent: given },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** The feedback that is stored for today, as another device would see it. */
export async function storedFeedback(page: Page, request: APIRequestContext): Promise<string | null> {
  const answer = await request.get(`/rest/v1/entries?select=ai_feedback&date=eq.${today()}`, {
    headers: headersOf(await sessionOf(page)),
  });
  const [row] = (await answer.json()) as { ai_feedback: string | null }[];
  return row?.ai_feedback ?? null;
}

export async function withdrawConsent(page: Page, request: APIRequestContext): Promise<void> {
  await storeConsent(request, await sessionOf(page), false);
}

const tell = async (request: APIRequestContext, command: string, data: object = {}): Promise<void> => {
  const answer = await request.post(`${MODEL}/${command}`, { data });
  expect(answer.ok(), await answer.text()).toBe(true);
};

export const failModel = (request: APIRequestContext, fault: Fault) => tell(request, 'fail', fault);
/** Waits until a question is held. */
export const heldModel = (request: APIRequestContext) => tell(request, 'held');
export const releaseModel = (request: APIRequestContext) => tell(request, 'release');
export const resetModel = (request: APIRequestContext) => tell(request, 'reset');
