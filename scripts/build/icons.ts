/** Draws the icons of the installed app from `favicon.svg`: `node scripts/build/icons.ts`, after the favicon changes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { ensureBrowser } from '../browser.ts';
import { ROOT } from '../project.ts';

const FOLDER = join(ROOT, 'src', 'client', 'public');
/** Every mask shows a circle of 80 percent of an icon's width. At this scale the circle contains the whole mark. */
const MASKABLE_SCALE = 0.85;

const svg = await readFile(join(FOLDER, 'favicon.svg'), 'utf8');
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: await ensureBrowser(), args });
try {
  for (const size of [192, 512]) {
    await draw(`icon-${size}.png`, size, svg, 1);
    // The system's mask rounds the corners, so the background fills the whole square.
    await draw(`icon-maskable-${size}.png`, size, svg.replace('rx="7"', 'rx="0"'), MASKABLE_SCALE);
  }
} finally {
  await browser.close();
}

async function draw(name: string, size: number, markup: string, scale: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width: size, height: size }, colorScheme: 'light' });
  const paper = scale < 1 ? '#fbf8f2' : 'transparent';
  await page.setContent(
    `<style>body{margin:0;background:${paper}}svg{display:block;width:100vw;transform:scale(${scale})}</style>${markup}`,
  );
  await writeFile(join(FOLDER, name), await page.screenshot({ omitBackground: true }));
  await page.close();
}
