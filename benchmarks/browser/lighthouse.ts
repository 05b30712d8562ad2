/** Measures Lighthouse's scores of the landing and login pages on its simulated phone: the median of three runs. */
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { freePort } from '#server/free-port.ts';
import lighthouse from 'lighthouse';
import { ensureBrowser } from '../../scripts/browser/browser.ts';
import { median, printFigures, type Figure } from '../figures.ts';
import { startProcess } from '../processes.ts';
import { openSeededDatabase } from '../seeded-database.ts';

const RUNS = 3;
const MIN_SCORE = 95;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
const PAGES = { landing: '/', login: '/login' };

const database = await openSeededDatabase();
const app = await startProcess(
  join('src', 'server', 'main.ts'),
  { DATABASE_URL: database.url, DATA_DIR: database.dataDir, SANDBOX: 'off' },
  '/readyz',
);
const debuggingPort = await freePort();
const browser = await chromium.launch({
  executablePath: await ensureBrowser(),
  args: [
    `--remote-debugging-port=${debuggingPort}`,
    '--no-sandbox',
    '--disable-background-networking',
    '--disable-sync',
  ],
});
try {
  const figures: Figure[] = [];
  // The server only accepts the host of PUBLIC_URL, which is `localhost` by default.
  const home = app.url.replace('127.0.0.1', 'localhost');
  for (const [name, path] of Object.entries(PAGES)) figures.push(await measureScores(name, home + path));
  printFigures('Lighthouse', figures);
} finally {
  await browser.close();
  await app.stop();
  await database.close();
}

async function measureScores(name: string, url: string): Promise<Figure> {
  const runs: Record<string, number>[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const result = await lighthouse(url, { port: debuggingPort, onlyCategories: [...CATEGORIES], logLevel: 'silent' });
    const categories = result?.lhr.categories ?? {};
    runs.push(Object.fromEntries(CATEGORIES.map((category) => [category, (categories[category]?.score ?? 0) * 100])));
  }
  const scores = CATEGORIES.map((category) => ({ category, score: median(runs.map((run) => run[category]!)) }));
  return {
    what: `${name} page, mobile`,
    measured: scores.map(({ category, score }) => `${category} ${score.toFixed(0)}`).join(', '),
    target: `at least ${MIN_SCORE} each`,
    isMet: scores.every(({ score }) => score >= MIN_SCORE),
  };
}
