/**
 * `npm run screenshots [-- NAME…]`: takes screenshots of every scene in both themes at three widths, into
 * `screenshots/`, with an index page. Starts its own server. With arguments, takes only scenes whose names contain one.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from '@playwright/test';
import { ensureBrowser } from './browser/browser.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.ts';
import { ROOT } from './project.ts';
import { contactSheet } from './screenshots/contact-sheet.ts';
import { createAccounts, type Accounts } from '../tests/screenshots/accounts.ts';
import { SCENES } from '../tests/screenshots/scenes.ts';
import type { Scene } from '../tests/screenshots/scene.ts';
import { startProduct } from '../tests/support/product.ts';

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 768, 1440] as const;
const HEIGHTS: Record<(typeof WIDTHS)[number], number> = { 390: 844, 768: 1024, 1440: 900 };
const FOLDER = join(ROOT, 'screenshots');

exitWithParent(() => process.exit(1));

const filters = process.argv.slice(2);
const scenes = SCENES.filter(({ name }) => filters.length === 0 || filters.some((filter) => name.includes(filter)));
if (filters.length === 0) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });

const server = await startProduct();
const chrome = await chromium.launch({
  executablePath: await ensureBrowser(),
  // Chromium does not start its sandbox as root. The pages are our own, so it is not needed.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
let failures = 0;
try {
  const accounts = await createAccounts(server);
  for (const scene of scenes) failures += await takeScreenshots(chrome, scene, accounts);
  await writeFile(
    join(FOLDER, 'index.html'),
    contactSheet(
      SCENES.map(({ name }) => name),
      THEMES,
      WIDTHS,
    ),
  );
} finally {
  await chrome.close();
  await server.stop();
}
process.stdout.write(`Wrote ${scenes.length} screens to ${join(FOLDER, 'index.html')}\n`);
process.exit(failures === 0 ? 0 : 1);

/** Returns the number of failed screenshots. */
async function takeScreenshots(browser: Browser, scene: Scene, storedAccounts: Accounts): Promise<number> {
  let failed = 0;
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({
        viewport: { width, height: HEIGHTS[width] },
        colorScheme: theme,
        reducedMotion: 'reduce',
        hasTouch: width === 390,
        baseURL: server.url,
        ...(scene.as === 'guest' ? {} : { storageState: storedAccounts[scene.as].storageState }),
      });
      try {
        const page = await context.newPage();
        await openScene(page, scene);
        const fullPage = scene.fullPage ?? false;
        await page.screenshot({ path: join(FOLDER, `${scene.name}-${width}-${theme}.png`), fullPage });
      } catch (error) {
        failed += 1;
        process.stderr.write(`${scene.name} at ${width} px, ${theme}: ${String(error)}\n`);
      } finally {
        await context.close();
      }
    }
  }
  return failed;
}

async function openScene(page: Page, scene: Scene): Promise<void> {
  page.setDefaultTimeout(8_000);
  await page.goto(scene.path);
  await scene.prepare?.(page, server);
  await page.evaluate(() => document.fonts.ready);
}
