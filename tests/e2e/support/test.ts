/**
 * What every story in the browser starts from: a page that fails the test when it logs an error, breaks the content
 * security policy or throws; somebody who is signed up; a check of accessibility; an operator's command.
 */
import { randomUUID } from 'node:crypto';
import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect } from '@playwright/test';
import type { Page } from '@playwright/test';
import { ROUTES } from '#domain/routes.ts';
import { runAdminCommand } from '#server/admin.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { e2eDataDir } from './data-dir.ts';

export { expect };

export type Person = { name: string; email: string; password: string };

/** Only the colour rules depend on the theme. */
export type AxeRules = 'all' | 'contrast';

type Fixtures = {
  /** Console errors that a story is about, such as the failed requests of an offline page. */
  expectedErrors: RegExp | null;
  /** Makes an account through the API, as quick as can be, and leaves the page signed in on the journal. */
  signUp: (page: Page, person?: Partial<Person>) => Promise<Person>;
  /** Fails with the violations of WCAG 2.2 AA that axe finds on the page; `contrast` runs only the colour rules. */
  expectAccessible: (page: Page, rules?: AxeRules) => Promise<void>;
  /** `npm run admin -- ...` against the stories' server, without a process of its own; answers what it prints. */
  admin: (...args: string[]) => Promise<string>;
};

/** The browser logs every 4xx answer by itself: whether one was right is for the story to say. */
const REFUSED_REQUEST = /^Failed to load resource: the server responded with a status of 4\d\d/;

const SAID_KEY = 'e2e-toasts';

/** Runs in the page: keeps the words of every toast, for a story that a busy machine lets look too late. */
function rememberToasts(key: string): void {
  new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes) {
      if (!(target instanceof Element) || !target.matches('[role="status"], [role="alert"]')) continue;
      const words = [...addedNodes].map(
        (node) => (node instanceof Element && node.querySelector('p')?.textContent) || '',
      );
      const said = JSON.parse(sessionStorage.getItem(key) ?? '[]') as string[];
      sessionStorage.setItem(key, JSON.stringify([...said, ...words]));
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Waits until a toast has said this in this tab; it may be gone by then, and the page may have loaded again. */
export async function expectToast(page: Page, text: string): Promise<void> {
  await expect(async () => {
    const said = await page.evaluate((key) => JSON.parse(sessionStorage.getItem(key) ?? '[]') as string[], SAID_KEY);
    expect(said).toContain(text);
  }).toPass({ timeout: 20_000 });
}

export const test = base.extend<Fixtures>({
  expectedErrors: [null, { option: true }],

  page: async ({ page, expectedErrors }, use) => {
    await page.addInitScript(rememberToasts, SAID_KEY);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(`threw: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() !== 'error' && !/content security policy/i.test(message.text())) return;
      const refused =
        REFUSED_REQUEST.test(message.text()) && /\/(auth|rest|functions)\/v1\//.test(message.location().url);
      const expected = expectedErrors?.test(message.text()) ?? false;
      if (!refused && !expected) problems.push(`logged: ${message.text()} (${message.location().url})`);
    });
    await use(page);
    expect(problems, 'what the page logged as errors').toEqual([]);
  },

  signUp: async ({ baseURL }, use) => {
    await use(async (page, given = {}) => {
      const person = { name: 'Ada Smith', email: `${randomUUID()}@example.com`, password: 'correct horse', ...given };
      const answer = await page.request.post('/auth/v1/signup', {
        headers: { apikey: PUBLISHABLE_KEY },
        data: { email: person.email, password: person.password, data: { name: person.name } },
      });
      expect(answer.status(), await answer.text()).toBe(200);
      const key = `sb-${new URL(baseURL!).hostname.split('.')[0]}-auth-token`;
      const session = (await answer.json()) as { expires_in: number };
      const stored = { expires_at: Math.floor(Date.now() / 1000) + session.expires_in, ...session };
      // A page of the same origin without the app, whose first look at its storage shall find the session.
      await page.goto(ROUTES.terms.path);
      await page.evaluate(([name, value]) => localStorage.setItem(name!, value!), [key, JSON.stringify(stored)]);
      await page.goto('/journal');
      await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
      return person;
    });
  },

  // oxlint-disable-next-line no-empty-pattern -- Playwright insists on a destructured first parameter
  expectAccessible: async ({}, use) => {
    await use(async (page, rules = 'all') => {
      // What still fades in has the contrast of neither state.
      await page.emulateMedia({ reducedMotion: 'reduce' });
      // Legacy mode opens no second page for each run. The pages have no frames, which is all it leaves out.
      const axe = new AxeBuilder({ page }).setLegacyMode();
      if (rules === 'all') axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']);
      else axe.withRules(['color-contrast', 'link-in-text-block']);
      const { violations } = await axe.analyze();
      const found = violations.map(
        ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(' | ')})`,
      );
      expect(found, 'what axe found').toEqual([]);
    });
  },

  admin: async ({ baseURL }, use) => {
    const { port } = new URL(baseURL!);
    Object.assign(process.env, { DATA_DIR: e2eDataDir(port), PORT: port, DATABASE_URL: '', NODE_ENV: 'development' });
    await use((...args) => runAdminCommand(args));
  },
});
