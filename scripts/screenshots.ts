/**
 * `npm run screenshots [-- NAME…]`: every screen in its states, in both themes, at three widths, as files below
 * `screenshots/` and one page with all of them. It starts a server of its own; names pick single screens.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import type { Browser, Page } from '@playwright/test';
import { ensureBrowser } from './browser.ts';
import { endWithParent, ROOT } from './parent.ts';
import { contactSheet } from './show/contact-sheet.ts';
import { createPeople } from './show/people.ts';
import type { People } from './show/people.ts';
import { SCENES } from './show/scenes.ts';
import type { Scene } from './show/scenes.ts';
import { startShowServer } from './show/show-server.ts';

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 768, 1440] as const;
const HEIGHTS: Record<(typeof WIDTHS)[number], number> = { 390: 844, 768: 1024, 1440: 900 };
const FOLDER = join(ROOT, 'screenshots');

endWithParent(() => process.exit(1));

const wanted = process.argv.slice(2);
const scenes = SCENES.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (wanted.length === 0) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });

const server = await startShowServer();
const browser = await chromium.launch({
  executablePath: await ensureBrowser(),
  // Chromium has no sandbox for root; the pages are our own.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
let failed = 0;
try {
  const people = await createPeople(server);
  for (const scene of scenes) failed += await show(browser, scene, people);
  await writeFile(
    join(FOLDER, 'index.html'),
    contactSheet(
      SCENES.map(({ name }) => name),
      THEMES,
      WIDTHS,
    ),
  );
} finally {
  await browser.close();
  await server.close();
}
process.stdout.write(`${scenes.length} screens are in ${join(FOLDER, 'index.html')}\n`);
process.exit(failed === 0 ? 0 : 1);

/** Answers how many of the scene's pictures could not be taken. */
async function show(using: Browser, scene: Scene, people: People): Promise<number> {
  let missing = 0;
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      const context = await using.newContext({
        viewport: { width, height: HEIGHTS[width] },
        colorScheme: theme,
        reducedMotion: 'reduce',
        hasTouch: width === 390,
        baseURL: server.url,
        ...(scene.as === 'guest' ? {} : { storageState: people[scene.as].storageState }),
      });
      try {
        const page = await context.newPage();
        await stage(page, scene);
        const fullPage = scene.whole ?? false;
        await page.screenshot({ path: join(FOLDER, `${scene.name}-${width}-${theme}.png`), fullPage });
      } catch (error) {
        missing += 1;
        process.stderr.write(`${scene.name} at ${width} px, ${theme}: ${String(error)}\n`);
      } finally {
        await context.close();
      }
    }
  }
  return missing;
}

async function stage(page: Page, scene: Scene): Promise<void> {
  page.setDefaultTimeout(8_000);
  await page.goto(scene.path);
  await scene.prepare?.(page, server);
  await page.evaluate(() => document.fonts.ready);
}
