/**
 * Measures the time from navigation to an editable log (signed in, warm cache), compared with a bare TipTap page. Both
 * pages are under a service worker that stores their scripts and asks the network for the page first.
 */
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { median, printFigures, type Figure } from '../figures.ts';
import { bundleScript, EDITOR, openJournalBrowser } from './journal-browser.ts';

const ROUNDS = 15;
const TEXT = 'One thing done';
/** The page logs this when it shows the text and an editor. */
const MARKED = 'the log is editable';
/** Longer than any successful start takes. A start that waits for the silent API never succeeds. */
const TIMEOUT_MS = 10_000;

const script = await bundleScript(join(import.meta.dirname, 'bare-tiptap.ts'));
const BARE_PAGE = '<!doctype html><title>TipTap</title><body><script type="module" src="/bare.js"></script></body>';
const BARE_WORKER = `
  addEventListener('install', (event) => event.waitUntil(
    caches.open('bare').then((cache) => cache.addAll(['/', '/bare.js'])).then(() => skipWaiting())));
  addEventListener('activate', (event) => event.waitUntil(
    registration.navigationPreload.enable().then(() => clients.claim())));
  addEventListener('fetch', (event) => event.respondWith(event.request.mode === 'navigate'
    ? event.preloadResponse.then((response) => response ?? fetch(event.request))
    : caches.match(event.request).then((response) => response ?? fetch(event.request))));`;
const BARE_FILES: Readonly<Record<string, readonly [type: string, cache: string, body: string]>> = {
  '/bare.js': ['text/javascript', 'public, max-age=31536000, immutable', script],
  '/worker.js': ['text/javascript', 'no-cache', BARE_WORKER],
  '/blank': ['text/plain', 'no-cache', ''],
};
const bare = createServer((request, response) => {
  const [type, cache, body] = BARE_FILES[request.url!] ?? ['text/html', 'no-cache', BARE_PAGE];
  response.writeHead(200, { 'content-type': type, 'cache-control': cache });
  response.end(body);
}).listen(0, '127.0.0.1');
await once(bare, 'listening');
const bareUrl = `http://localhost:${(bare.address() as AddressInfo).port}/`;

const journal = await openJournalBrowser();
const app = new URL(journal.app.url.replace('127.0.0.1', 'localhost'));
/** While true, the proxy does not answer requests to the APIs. It passes all other requests on to the app. */
let isApiSilent = false;
const proxy = createServer((request, response) => {
  if (isApiSilent && /^\/(auth|rest|functions)\/v1\//.test(request.url!)) return;
  const { method, headers, url } = request;
  const sent = send(new URL(url!, app), { method: method!, headers: { ...headers, host: app.host } }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  request.pipe(sent);
}).listen(0, '127.0.0.1');
await once(proxy, 'listening');
const oursUrl = `${journal.app.url.replace('127.0.0.1', 'localhost')}/journal`;
const proxiedUrl = `http://localhost:${(proxy.address() as AddressInfo).port}/journal`;
const HTML = `<ol><li><p>${TEXT}</p></li></ol>`;

try {
  const ours = await journal.openSignedInPage(HTML);
  const proxied = await journal.openSignedInPage(HTML, new URL(proxiedUrl).origin);
  const theirs = await (await journal.browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await theirs.goto(bareUrl);
  await theirs.evaluate(() => navigator.serviceWorker.register('/worker.js'));
  for (const [page, url] of [
    [ours, oursUrl],
    [proxied, proxiedUrl],
    [theirs, bareUrl],
  ] as const)
    await prepare(page, url);

  const blank = (url: string) => new URL(url === bareUrl ? '/blank' : '/healthz', url).href;
  printFigures('Opening the journal, both pages under a service worker', [
    ...(await compare('from another page of the site', 1.5, ours, theirs, blank)),
    // Navigation from about:blank starts a new renderer process, which has compiled no code yet.
    ...(await compare('in a fresh process', 2.5, ours, theirs, () => 'about:blank')),
    await compareWithSilentApi(proxied, blank),
  ]);
} finally {
  await journal.close();
  bare.closeAllConnections();
  bare.close();
  proxy.closeAllConnections();
  proxy.close();
}

/** Waits until the worker controls the page. */
async function prepare(page: Page, url: string): Promise<void> {
  await markTimes(page);
  await page.bringToFront();
  await page.goto(url);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated', null, {
    timeout: 60_000,
  });
}

type Times = { editable: number; visible: number };

/** Measures both pages alternately. `leaveFor(url)` returns the page to open before navigating to `url`. */
async function compare(
  from: string,
  target: number,
  ours: Page,
  theirs: Page,
  leaveFor: (url: string) => string,
): Promise<Figure[]> {
  const rounds: { ours: Times; theirs: Times }[] = [];
  for (let round = 0; round < ROUNDS + 3; round += 1) {
    const measured = {
      ours: await measureStart(ours, oursUrl, leaveFor(oursUrl)),
      theirs: await measureStart(theirs, bareUrl, leaveFor(bareUrl)),
    };
    // The first three rounds warm the browser's caches, including the code cache.
    if (round >= 3) rounds.push(measured);
  }
  const ratio = median(rounds.map((round) => round.ours.editable / round.theirs.editable));
  const typical = (of: 'ours' | 'theirs') => median(rounds.map((round) => round[of].editable)).toFixed(0);
  const visible = median(rounds.map((round) => round.ours.visible / round.ours.editable));
  return [
    {
      what: `navigation to editable, signed in, warm cache, ${from}`,
      measured: `${ratio.toFixed(2)}x a bare TipTap page (${typical('ours')} ms against ${typical('theirs')} ms)`,
      target: `at most ${target}x`,
      isMet: ratio <= target,
    },
    {
      what: `text of today visible, ${from}`,
      measured: `${visible.toFixed(2)} of the time to editable`,
      target: 'at most 0.6',
      isMet: visible <= 0.6,
    },
  ];
}

/** Measures in turn a start with an API that answers and a start with an API that does not. */
async function compareWithSilentApi(page: Page, leaveFor: (url: string) => string): Promise<Figure> {
  const rounds: { answering: number; silent: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const answering = (await measureStart(page, proxiedUrl, leaveFor(proxiedUrl))).editable;
    isApiSilent = true;
    const silent = (await measureStart(page, proxiedUrl, leaveFor(proxiedUrl))).editable;
    isApiSilent = false;
    rounds.push({ answering, silent });
    if (silent === Infinity) break;
  }
  const ratio = median(rounds.map(({ answering, silent }) => silent / answering));
  return {
    what: 'navigation to editable while the API does not answer',
    measured: ratio === Infinity ? 'not editable' : `${ratio.toFixed(2)}x the time with an API that answers`,
    target: 'at most 1.1x',
    isMet: ratio <= 1.1,
  };
}

/** Marks the times when the text and the editor first appear, in every later document of the page. */
async function markTimes(page: Page): Promise<void> {
  await page.addInitScript(
    ({ editor, text, marked }) => {
      const seen = new Set<string>();
      const markOnce = (name: string, isThere: boolean): void => {
        if (!isThere || seen.has(name)) return;
        seen.add(name);
        performance.mark(name);
      };
      const observer = new MutationObserver(() => {
        markOnce('text-visible', (document.body as HTMLElement | null)?.textContent.includes(text) ?? false);
        markOnce('log-editable', document.querySelector(editor) !== null);
        if (seen.size < 2) return;
        observer.disconnect();
        console.info(marked);
      });
      observer.observe(document, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
        attributeFilter: ['contenteditable'],
      });
    },
    { editor: EDITOR, text: TEXT, marked: MARKED },
  );
}

/** The times of one start: Infinity for a text or an editor that does not appear. */
async function measureStart(page: Page, url: string, from: string): Promise<Times> {
  await page.bringToFront();
  await page.goto(from);
  // Not a locator: Playwright would compile its own script in the page while the page starts.
  const marked = page
    .waitForEvent('console', { predicate: (message) => message.text() === MARKED, timeout: TIMEOUT_MS })
    .catch(() => undefined);
  await page.goto(url, { waitUntil: 'commit' });
  await marked;
  return page.evaluate(() => {
    const timeOf = (name: string) => performance.getEntriesByName(name)[0]?.startTime ?? Infinity;
    return { editable: timeOf('log-editable'), visible: timeOf('text-visible') };
  });
}
