/** Scenes of the coach (consent, reading, writing, done, outdated, failed) and of the reviews with their charts. */
import type { Page } from '@playwright/test';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { addDays, dayOf } from '#domain/day/day.ts';
import { ROUTES, yearPath } from '#domain/routes.ts';
import { waitForEditor, type Scene } from './scene.ts';

const FEEDBACK_ROUTE = '**/functions/v1/ai-feedback';
const REVIEW_ROUTE = '**/functions/v1/trend-analysis';
const SHEET_NAME = 'HAI Feedback';
/** A day for which accounts.ts requests no feedback. */
const DAY_WITHOUT_FEEDBACK_URL = `${ROUTES.journal.path}?date=${addDays(dayOf(new Date()), -3)}`;

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

async function openSheet(page: Page): Promise<void> {
  await waitForEditor(page);
  await press(page, 'Open feedback');
}

/** Opens the sheet and waits until it shows an action besides its close button. */
async function openSheetWithAction(page: Page): Promise<void> {
  await openSheet(page);
  await page.getByRole('dialog', { name: SHEET_NAME }).getByRole('button').nth(1).waitFor();
}

async function requestFeedback(
  page: Page,
  button: 'Get Fresh Analysis' | 'Force Refresh',
  expectedText: string,
): Promise<void> {
  await openSheetWithAction(page);
  await press(page, button);
  await page.getByText(expectedText).waitFor();
}

/** A faked event stream. The end-to-end tests use the faults of the sandbox instead. */
const fakeStream = (...events: [string, object][]) => ({
  contentType: 'text/event-stream',
  body: events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
});
const fakeProblem = (reason: keyof typeof ANALYSIS_PROBLEMS, retryAt: string | null = null) =>
  fakeStream(['problem', { class: reason, message: ANALYSIS_PROBLEMS[reason], retryAt }]);
const fakeRateLimit = () => fakeProblem('rate', new Date(Date.now() + 34_000).toISOString());

/** Replaces the page's `fetch` so that an analysis receives `events` and its stream then stays open. */
async function holdStreamAfter(page: Page, events: readonly [string, object][]): Promise<void> {
  await page.addInitScript(
    (text) => {
      const real = window.fetch;
      window.fetch = (input, init) => {
        if (
          !/\/functions\/v1\/(ai-feedback|trend-analysis)$/.test(
            input instanceof Request ? input.url : input.toString(),
          )
        )
          return real(input, init);
        const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
      };
    },
    fakeStream(...events).body,
  );
  await page.reload();
}

const PARTIAL_TEXT =
  'Closing the reconciliation [1] is the day: it **ends a problem** instead of moving it. Writing the failing test [2] fi';

const showReviews = (period: '7' | '30') => async (page: Page) => {
  await page.getByRole('radio', { name: `Last ${period} Days` }).check();
  await page.getByRole('heading', { name: 'The last twelve months' }).waitFor();
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
};

/** The account has no review yet, whatever other scenes have generated before. */
async function generateReview(page: Page): Promise<void> {
  await page.route('**/rest/v1/analyses*', (route) => route.fulfill({ json: [] }));
  await page.reload();
  await showReviews('7')(page);
  await press(page, 'Generate 7-Day Analysis');
}

export const COACH_SCENES: readonly Scene[] = [
  { name: 'coach-consent', as: 'premium', path: ROUTES.journal.path, prepare: openSheetWithAction },
  {
    name: 'coach-no-entry',
    as: 'ending',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openSheet(page);
      await page.getByText(AI_MESSAGES.noEntry).waitFor();
    },
  },
  { name: 'coach-none-yet', as: 'veteran', path: DAY_WITHOUT_FEEDBACK_URL, prepare: openSheetWithAction },
  { name: 'coach-up-to-date', as: 'veteran', path: ROUTES.journal.path, prepare: openSheetWithAction },
  {
    name: 'coach-cited',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openSheetWithAction(page);
      const item = page.getByRole('button', { name: /in your log$/ });
      if (await item.count()) await item.first().click();
    },
  },
  {
    name: 'coach-outdated',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route('**/rest/v1/entries?select=ai_feedback*', async (route) => {
        const answer = await route.fetch();
        const rows = (await answer.json()) as object[];
        const later = rows.map((row) => ({ ...row, updated_at: '2999-01-01T00:00:00+00:00' }));
        await route.fulfill({ response: answer, json: later });
      });
      await openSheetWithAction(page);
      await page.getByText('Analysis outdated').waitFor();
    },
  },
  {
    name: 'coach-reading',
    as: 'veteran',
    path: DAY_WITHOUT_FEEDBACK_URL,
    prepare: async (page) => {
      await holdStreamAfter(page, []);
      await requestFeedback(page, 'Get Fresh Analysis', 'Reading your log...');
    },
  },
  {
    name: 'coach-writing',
    as: 'veteran',
    path: DAY_WITHOUT_FEEDBACK_URL,
    prepare: async (page) => {
      await holdStreamAfter(page, [
        ['score', { score: 8 }],
        ['text', { delta: PARTIAL_TEXT }],
      ]);
      await requestFeedback(page, 'Get Fresh Analysis', 'Closing the reconciliation');
    },
  },
  {
    name: 'coach-writing-again',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await holdStreamAfter(page, [
        ['score', { score: 5 }],
        ['text', { delta: PARTIAL_TEXT }],
      ]);
      await requestFeedback(page, 'Force Refresh', 'Closing the reconciliation');
    },
  },
  {
    name: 'coach-failed',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route(FEEDBACK_ROUTE, (route) => route.fulfill(fakeProblem('network')));
      await requestFeedback(page, 'Force Refresh', ANALYSIS_PROBLEMS.network);
      for (let tries = 0; tries < 3; tries += 1) {
        await page.getByText(ANALYSIS_PROBLEMS.network).waitFor();
        await press(page, 'Try Again');
      }
      await page.getByText(AI_MESSAGES.unavailableNote).waitFor();
    },
  },
  {
    name: 'coach-limited',
    as: 'veteran',
    path: DAY_WITHOUT_FEEDBACK_URL,
    prepare: async (page) => {
      await page.route(FEEDBACK_ROUTE, (route) => route.fulfill(fakeRateLimit()));
      await requestFeedback(page, 'Get Fresh Analysis', 'You can try again');
    },
  },
  {
    name: 'coach-not-configured',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithoutCoach(page);
      await openSheet(page);
      await page.getByText(AI_MESSAGES.notConfigured).waitFor();
    },
  },
  {
    name: 'upgrade-without-coach',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithoutCoach(page);
      await openSheet(page);
      await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
      await page.getByRole('button', { name: 'Maybe Later' }).waitFor();
    },
  },
  {
    name: 'reviews-consent',
    as: 'premium',
    path: ROUTES.reviews.path,
    fullPage: true,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'I agree' }).waitFor();
      await page.getByRole('heading', { name: 'The last twelve months' }).waitFor();
    },
  },
  {
    name: 'year',
    as: 'veteran',
    path: yearPath(dayOf(new Date()).slice(0, 4)),
    fullPage: true,
    prepare: (page) => page.getByText(/^You accounted for /).waitFor(),
  },
  { name: 'reviews-pictures', as: 'veteran', path: ROUTES.reviews.path, fullPage: true, prepare: showReviews('30') },
  {
    name: 'reviews-result',
    as: 'veteran',
    path: ROUTES.reviews.path,
    fullPage: true,
    prepare: async (page) => {
      await generateReview(page);
      await page.getByRole('button', { name: 'Regenerate Analysis' }).waitFor();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  {
    name: 'reviews-writing',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await holdStreamAfter(page, [
        ['text', { delta: '**Pattern**: the days that count have one hard thing in the morning' }],
      ]);
      await generateReview(page);
      await page.getByText('the days that count').waitFor();
    },
  },
  {
    name: 'reviews-failed',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await page.route(REVIEW_ROUTE, (route) => route.fulfill(fakeRateLimit()));
      await generateReview(page);
      await page.getByRole('heading', { name: 'Analysis Error' }).waitFor();
    },
  },
  {
    name: 'reviews-cancelled',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await holdStreamAfter(page, []);
      await generateReview(page);
      await press(page, 'Cancel');
    },
  },
  {
    name: 'reviews-table',
    as: 'veteran',
    path: ROUTES.reviews.path,
    fullPage: true,
    prepare: async (page) => {
      await showReviews('7')(page);
      await press(page, 'Show as table');
    },
  },
  {
    name: 'reviews-empty',
    as: 'ending',
    path: ROUTES.reviews.path,
    prepare: (page) => page.getByRole('heading', { name: 'No charts yet' }).waitFor(),
  },
  {
    name: 'profile-coach',
    as: 'veteran',
    path: ROUTES.profile.path,
    fullPage: true,
    prepare: (page) => page.getByRole('checkbox', { name: 'The coach may read my logs' }).waitFor(),
  },
];

/** Loads the page as a server without a coach sends it. */
async function reloadWithoutCoach(page: Page): Promise<void> {
  await page.route('**/journal', async (route) => {
    const answer = await route.fetch();
    const html = (await answer.text()).replace('&quot;coach&quot;:true', '&quot;coach&quot;:false');
    await route.fulfill({ response: answer, body: html });
  });
  await page.goto(ROUTES.journal.path);
}
