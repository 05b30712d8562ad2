/** Measures the time from navigation to an editable log (signed in, warm cache), compared with a bare TipTap page. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { build } from 'vite';
import { median, printFigures } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { EDITOR, openJournalBrowser } from './journal-browser.ts';

const ROUNDS = 15;

const script = await bundle(join(import.meta.dirname, 'bare-tiptap.ts'));
const bare = createServer((request, response) => {
  if (request.url === '/bare.js') {
    response.writeHead(200, {
      'content-type': 'text/javascript',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    response.end(script);
  } else {
    response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-cache' });
    response.end('<!doctype html><title>TipTap</title><body><script type="module" src="/bare.js"></script></body>');
  }
}).listen(0, '127.0.0.1');
await once(bare, 'listening');
const bareUrl = `http://localhost:${(bare.address() as AddressInfo).port}/`;

const journal = await openJournalBrowser();
const oursUrl = `${journal.app.url.replace('127.0.0.1', 'localhost')}/journal`;
try {
  const ours = await journal.openSignedInPage('<ol><li><p>One thing done</p></li></ol>');
  const theirs = await (await journal.browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await Promise.all([markEditable(ours), markEditable(theirs)]);

  printFigures('Opening the journal', [
    await compare('from another page of the site', ours, theirs, (url) => new URL('/healthz', url).href),
    // Navigation from about:blank starts a new renderer process, which must compile all code again.
    await compare('in a fresh process', ours, theirs, () => 'about:blank'),
  ]);
} finally {
  await journal.close();
  bare.close();
}

/** Measures both pages alternately. `leaveFor(url)` returns the page to open before navigating to `url`. */
async function compare(from: string, ours: Page, theirs: Page, leaveFor: (url: string) => string): Promise<Figure> {
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = 0; round < ROUNDS + 3; round += 1) {
    const measured = {
      ours: await msToEditable(ours, oursUrl, leaveFor(oursUrl)),
      theirs: await msToEditable(theirs, bareUrl, leaveFor(bareUrl)),
    };
    // The first three rounds warm the browser's caches, including the code cache.
    if (round >= 3) rounds.push(measured);
  }
  const ratio = median(rounds.map((round) => round.ours / round.theirs));
  const typical = (of: 'ours' | 'theirs') => median(rounds.map((round) => round[of])).toFixed(0);
  return {
    what: `navigation to editable, signed in, warm cache, ${from}`,
    measured: `${ratio.toFixed(2)}x a bare TipTap page (${typical('ours')} ms against ${typical('theirs')} ms)`,
    target: 'at most 1.3x',
    isMet: ratio <= 1.3,
  };
}

/** Marks the time when the editor first appears, in every later document of the page. */
async function markEditable(page: Page): Promise<void> {
  await page.addInitScript((selector) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector(selector)) return;
      observer.disconnect();
      performance.mark('editable');
    });
    observer.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['contenteditable'],
    });
  }, EDITOR);
}

async function msToEditable(page: Page, url: string, from: string): Promise<number> {
  await page.bringToFront();
  await page.goto(from);
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(EDITOR).waitFor();
  return page.evaluate(() => performance.getEntriesByName('editable')[0]!.startTime);
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, target: 'es2023', rolldownOptions: { input: entry } },
  });
  const outputs = Array.isArray(built) ? built : [built];
  for (const result of outputs) {
    if ('output' in result) return result.output[0].code;
  }
  throw new Error('the bundle is empty');
}
