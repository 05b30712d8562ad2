/** Takes a screenshot of every scene into `screenshots/`. `npm run screenshots [-- NAME…]` runs it, and not `npm test`. */
import { join } from 'node:path';
import { test as base } from '@playwright/test';
import { ROOT } from '../../scripts/project.ts';
import { startProduct, type Product } from '../support/product.ts';
import { createAccounts, type Accounts } from './accounts.ts';
import { SCENES } from './scenes.ts';

const START_LIMIT_MS = 300_000;

const test = base.extend<object, { server: Product; accounts: Accounts }>({
  server: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright insists on a destructured first parameter
    async ({}, use) => {
      const server = await startProduct();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: START_LIMIT_MS },
  ],
  accounts: [
    async ({ server }, use) => use(await createAccounts(server)),
    { scope: 'worker', timeout: START_LIMIT_MS },
  ],
  baseURL: ({ server }, use) => use(server.url),
});

for (const { name, as, path, prepare, fullPage = false } of SCENES) {
  test.describe(() => {
    test.use({ storageState: ({ accounts }, use) => use(as === 'guest' ? undefined : accounts[as].storageState) });

    test(name, async ({ page, server }, { project }) => {
      await page.goto(path);
      await prepare?.(page, server);
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({ path: join(ROOT, 'screenshots', `${name}-${project.name}.png`), fullPage });
    });
  });
}
