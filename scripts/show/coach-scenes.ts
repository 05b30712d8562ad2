/** The coach in all its states: consent, asking, writing, done, outdated, failed; and the reviews with their pictures. */
import type { Page } from '@playwright/test';
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '../../src/domain/coach.ts';
import { addDays, dayOf } from '../../src/domain/day.ts';
import { ROUTES } from '../../src/domain/routes.ts';
import type { Scene } from './scenes.ts';

const FEEDBACK = '**/functions/v1/ai-feedback';
const TREND = '**/functions/v1/trend-analysis';
const SHEET = 'HAI Feedback';
/** A day of the year that was left without feedback (year-of-logs.ts). */
const UNJUDGED = `${ROUTES.journal.path}?date=${addDays(dayOf(new Date()), -3)}`;

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

async function openSheet(page: Page): Promise<void> {
  await page.locator('.ProseMirror[contenteditable=true]').waitFor();
  await press(page, 'Open feedback');
}

/** With a button of its own beside the one that closes it. */
async function open(page: Page): Promise<void> {
  await openSheet(page);
  await page.getByRole('dialog', { name: SHEET }).getByRole('button').nth(1).waitFor();
}

async function ask(page: Page, button: 'Get Fresh Analysis' | 'Force Refresh', said: string): Promise<void> {
  await open(page);
  await press(page, button);
  await page.getByText(said).waitFor();
}

/** A provider's side that only a picture needs; the stories use the sandbox's own faults. */
const stream = (...events: [string, object][]) => ({
  contentType: 'text/event-stream',
  body: events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
});
const problem = (reason: keyof typeof ANALYSIS_PROBLEMS, retryAt: string | null = null) =>
  stream(['problem', { class: reason, message: ANALYSIS_PROBLEMS[reason], retryAt }]);
const limited = () => problem('rate', new Date(Date.now() + 34_000).toISOString());

/** Half an answer that goes no further: the page's own `fetch` is given a stream that stays open. */
async function holdHalfway(page: Page, events: readonly [string, object][]): Promise<void> {
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
    stream(...events).body,
  );
  await page.reload();
}

const HALF =
  'Closing the reconciliation [1] is the day: it **ends a problem** instead of moving it. Writing the failing test [2] fi';

const reviews = (period: '7' | '30') => async (page: Page) => {
  await page.getByRole('radio', { name: `Last ${period} Days` }).check();
  await page.getByRole('heading', { name: 'The last twelve months' }).waitFor();
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
};

async function generate(page: Page): Promise<void> {
  await reviews('7')(page);
  await press(page, 'Generate 7-Day Analysis');
}

export const COACH_SCENES: readonly Scene[] = [
  { name: 'coach-consent', as: 'premium', path: ROUTES.journal.path, prepare: open },
  {
    name: 'coach-no-entry',
    as: 'ending',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await openSheet(page);
      await page.getByText(AI_MESSAGES.noEntry).waitFor();
    },
  },
  {
    name: 'coach-none-yet',
    as: 'veteran',
    path: UNJUDGED,
    prepare: open,
  },
  { name: 'coach-up-to-date', as: 'veteran', path: ROUTES.journal.path, prepare: open },
  {
    name: 'coach-cited',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await open(page);
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
      await open(page);
      await page.getByText('Analysis outdated').waitFor();
    },
  },
  {
    name: 'coach-reading',
    as: 'veteran',
    path: UNJUDGED,
    prepare: async (page) => {
      await holdHalfway(page, []);
      await ask(page, 'Get Fresh Analysis', 'Reading your log...');
    },
  },
  {
    name: 'coach-writing',
    as: 'veteran',
    path: UNJUDGED,
    prepare: async (page) => {
      await holdHalfway(page, [
        ['score', { score: 8 }],
        ['text', { delta: HALF }],
      ]);
      await ask(page, 'Get Fresh Analysis', 'Closing the reconciliation');
    },
  },
  {
    name: 'coach-writing-again',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await holdHalfway(page, [
        ['score', { score: 5 }],
        ['text', { delta: HALF }],
      ]);
      await ask(page, 'Force Refresh', 'Closing the reconciliation');
    },
  },
  {
    name: 'coach-failed',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await page.route(FEEDBACK, (route) => route.fulfill(problem('network')));
      await ask(page, 'Force Refresh', ANALYSIS_PROBLEMS.network);
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
    path: UNJUDGED,
    prepare: async (page) => {
      await page.route(FEEDBACK, (route) => route.fulfill(limited()));
      await ask(page, 'Get Fresh Analysis', 'The next try can be made');
    },
  },
  {
    name: 'coach-not-configured',
    as: 'veteran',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await withoutCoach(page);
      await openSheet(page);
      await page.getByText(AI_MESSAGES.notConfigured).waitFor();
    },
  },
  {
    name: 'upgrade-without-coach',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await withoutCoach(page);
      await openSheet(page);
      await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
      await page.getByRole('button', { name: 'Maybe Later' }).waitFor();
    },
  },
  {
    name: 'reviews-consent',
    as: 'premium',
    path: ROUTES.reviews.path,
    whole: true,
    prepare: (page) => page.getByRole('button', { name: 'I agree' }).waitFor(),
  },
  { name: 'reviews-pictures', as: 'veteran', path: ROUTES.reviews.path, whole: true, prepare: reviews('30') },
  {
    name: 'reviews-result',
    as: 'veteran',
    path: ROUTES.reviews.path,
    whole: true,
    prepare: async (page) => {
      await generate(page);
      await page.getByRole('button', { name: 'Regenerate Analysis' }).waitFor();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  {
    name: 'reviews-writing',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await holdHalfway(page, [
        ['text', { delta: '**Pattern**: the days that count have one hard thing in the morning' }],
      ]);
      await generate(page);
      await page.getByText('the days that count').waitFor();
    },
  },
  {
    name: 'reviews-failed',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await page.route(TREND, (route) => route.fulfill(limited()));
      await generate(page);
      await page.getByRole('heading', { name: 'Analysis Error' }).waitFor();
    },
  },
  {
    name: 'reviews-cancelled',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await holdHalfway(page, []);
      await generate(page);
      await press(page, 'Cancel');
    },
  },
  {
    name: 'reviews-table',
    as: 'veteran',
    path: ROUTES.reviews.path,
    whole: true,
    prepare: async (page) => {
      await reviews('7')(page);
      await press(page, 'Show as table');
    },
  },
  {
    name: 'reviews-empty',
    as: 'ending',
    path: ROUTES.reviews.path,
    prepare: (page) => page.getByRole('heading', { name: 'Nothing to draw yet' }).waitFor(),
  },
  {
    name: 'profile-coach',
    as: 'veteran',
    path: ROUTES.profile.path,
    whole: true,
    prepare: (page) => page.getByRole('checkbox', { name: 'The coach may read my logs' }).waitFor(),
  },
];

/** The page as a server without a coach sends it. */
async function withoutCoach(page: Page): Promise<void> {
  await page.route('**/journal', async (route) => {
    const answer = await route.fetch();
    const html = (await answer.text()).replace('&quot;coach&quot;:true', '&quot;coach&quot;:false');
    await route.fulfill({ response: answer, body: html });
  });
  await page.goto(ROUTES.journal.path);
}
