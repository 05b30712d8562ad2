/**
 * Measures the first visit: an empty browser profile on a slow network and a processor four times slower, from the
 * sign-up page to the journal, on a second device, with a link to the reset page, and with a session but no cache. The
 * baseline is a bare TipTap page on the same network.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { median, printFigures, type Figure } from '../figures.ts';
import { bundleScript, createAccount, EDITOR, openJournalBrowser, type Session } from './journal-browser.ts';

type Network = { name: string; latencyMs: number; kilobits: number };

/** The first is `mobileSlow4G` of Lighthouse for a throttled browser. */
const NETWORKS: readonly Network[] = [
  { name: '4G', latencyMs: 562.5, kilobits: 1_474.6 },
  { name: '400 kbit/s', latencyMs: 400, kilobits: 400 },
];
const CPU_SLOWDOWN = 4;
const ROUNDS = 3;
const TEXT = 'One thing done';
const PASSWORD = 'correct horse battery';
/** A fast typist: ten characters a second. */
const KEY_DELAY_MS = 100;
const TIMEOUT_MS = 60_000;
const NAME_FIELD = 'input[name=name]';
const EMAIL_FIELD = 'input[name=email]';
const PASSWORD_FIELD = 'input[name=password]';
const NEW_PASSWORD_FIELD = 'input[autocomplete=new-password]';

type Visit = { page: Page; close(): Promise<void> };

const journal = await openJournalBrowser();
const origin = journal.app.url.replace('127.0.0.1', 'localhost');
const bare = await serveBarePage();
try {
  for (const network of NETWORKS)
    printFigures(`First visit, ${network.name}, processor ${CPU_SLOWDOWN}x slower`, await measure(network));
} finally {
  await journal.close();
  bare.close();
}

async function measure(network: Network): Promise<Figure[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(network));
  const of = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const is4G = network === NETWORKS[0];
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  const time = (what: string, ms: number, target: number | null): Figure => ({
    what,
    measured: seconds(ms),
    target: target === null ? 'none' : `at most ${target} s`,
    isMet: target === null || ms <= target * 1_000,
  });
  const ratio = (what: string, ms: number): Figure => ({
    what,
    measured: `${(ms / of((round) => round.bare)).toFixed(2)}x the bare page (${seconds(ms)} against ${seconds(of((round) => round.bare))})`,
    target: 'at most 1.3x',
    isMet: ms <= 1.3 * of((round) => round.bare),
  });
  const requests = of((round) => round.open.requests);
  const kilobytes = of((round) => round.open.scriptBytes) / 1_024;
  return [
    time(
      'sign-up page: largest paint',
      of((round) => round.signUp.paint),
      is4G ? 1.5 : 2,
    ),
    time(
      'sign-up page: its fields take keys',
      of((round) => round.signUp.keys),
      is4G ? 2 : null,
    ),
    ratio(
      'journal editable after sign-up',
      of((round) => round.signUp.editable),
    ),
    time(
      'sign-in page of a second device: its fields take keys',
      of((round) => round.signIn.keys),
      is4G ? 2 : null,
    ),
    ratio(
      "journal with today's log editable after sign-in",
      of((round) => round.signIn.editable),
    ),
    time(
      'a link to the reset page: its fields take keys',
      of((round) => round.reset),
      null,
    ),
    time(
      'journal, signed in, nothing cached: something to read',
      of((round) => round.open.paint),
      2,
    ),
    ratio(
      'the same: editable',
      of((round) => round.open.editable),
    ),
    {
      what: 'the same: requests and JavaScript until editable',
      measured: `${requests}, ${kilobytes.toFixed(0)} KB`,
      target: 'at most 12 and 200 KB',
      isMet: requests <= 12 && kilobytes <= 200,
    },
  ];
}

type Round = Awaited<ReturnType<typeof measureRound>>;

async function measureRound(network: Network) {
  return {
    bare: await measureBare(network),
    signUp: await measureSignUp(network),
    signIn: await measureSignIn(network),
    reset: await measureReset(network),
    open: await measureOpen(network),
  };
}

async function measureBare(network: Network): Promise<number> {
  const visit = await open(network, EDITOR);
  await visit.page.goto(bare.url, { waitUntil: 'commit' });
  const editable = await timeOf(visit.page, EDITOR);
  await visit.close();
  return editable;
}

/** A person who types fast, and who begins as soon as the fields take keys. */
async function measureSignUp(network: Network) {
  const visit = await open(network, NAME_FIELD);
  const { page } = visit;
  await page.goto(`${origin}/signup`, { waitUntil: 'commit' });
  const keys = await timeOf(page, NAME_FIELD);
  await typeInto(page, NAME_FIELD, 'Ada');
  await typeInto(page, EMAIL_FIELD, address());
  await typeInto(page, PASSWORD_FIELD, PASSWORD);
  await page.check('input[name=terms]');
  const paint = await largestPaint(page);
  const pressed = await press(page);
  const editable = (await timeOfEditor(page)) - pressed;
  await page.locator(EDITOR).pressSequentially('word');
  await page.locator(EDITOR, { hasText: 'word' }).waitFor();
  await visit.close();
  return { keys, paint, editable };
}

async function measureSignIn(network: Network) {
  const { email } = await createWriter();
  const visit = await open(network, EMAIL_FIELD);
  const { page } = visit;
  await page.goto(`${origin}/login`, { waitUntil: 'commit' });
  const keys = await timeOf(page, EMAIL_FIELD);
  await typeInto(page, EMAIL_FIELD, email);
  await typeInto(page, PASSWORD_FIELD, PASSWORD);
  const pressed = await press(page);
  const editable = (await timeOfEditor(page, TEXT)) - pressed;
  await visit.close();
  return { keys, editable };
}

async function measureReset(network: Network): Promise<number> {
  const { session } = await createWriter();
  const visit = await open(network, NEW_PASSWORD_FIELD);
  const link = new URLSearchParams({
    access_token: session.access_token,
    refresh_token: session.refresh_token,
    expires_in: '3600',
    token_type: 'bearer',
    type: 'recovery',
  });
  await visit.page.goto(`${origin}/reset-password#${link.toString()}`, { waitUntil: 'commit' });
  const keys = await timeOf(visit.page, NEW_PASSWORD_FIELD);
  await visit.close();
  return keys;
}

/** The browser has the session, such as after it dropped its caches. */
async function measureOpen(network: Network) {
  const { session } = await createWriter();
  const visit = await open(network, EDITOR, JSON.stringify(session));
  const { page } = visit;
  await page.goto(`${origin}/journal`, { waitUntil: 'commit' });
  const editable = await timeOf(page, EDITOR);
  // An unfinished request has no entry yet.
  await page.waitForLoadState('networkidle');
  const { requests, scriptBytes } = await page.evaluate((mark) => {
    const { startTime: found } = performance.getEntriesByName(mark)[0]!;
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const scripts = entries.filter(({ name, responseEnd }) => name.endsWith('.js') && responseEnd <= found);
    return {
      requests: 1 + entries.filter(({ startTime }) => startTime <= found).length,
      scriptBytes: scripts.reduce((sum, { transferSize }) => sum + transferSize, 0),
    };
  }, `${EDITOR} found`);
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime);
  await visit.close();
  return { paint, editable, requests, scriptBytes };
}

function address(): string {
  return `${randomUUID().slice(0, 8)}@example.com`;
}

/** An account with a log of today. */
async function createWriter(): Promise<{ email: string; session: Session }> {
  const email = address();
  return { email, session: await createAccount(origin, email, PASSWORD, `<ol><li><p>${TEXT}</p></li></ol>`) };
}

/** A page of an empty profile, which marks when an element of `selector` is shown and takes keys. */
async function open(network: Network, selector: string, session?: string): Promise<Visit> {
  const context = await journal.browser.newContext({ viewport: { width: 412, height: 823 } });
  const page = await context.newPage();
  await page.addInitScript(
    ({ selector: wanted, stored }) => {
      if (stored !== undefined) localStorage.setItem('sb-localhost-auth-token', stored);
      const observer = new MutationObserver(mark);
      observer.observe(document, { subtree: true, childList: true, attributes: true });
      function mark(): void {
        const found = document.querySelector(wanted);
        if (!found || found.closest('[inert]')) return;
        observer.disconnect();
        performance.mark(`${wanted} found`);
        // An element that is there before the style sheets takes keys once it is painted.
        requestAnimationFrame(() => performance.mark(wanted));
      }
    },
    { selector, stored: session },
  );
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: network.latencyMs,
    downloadThroughput: (network.kilobits * 1_000) / 8,
    uploadThroughput: (network.kilobits * 1_000) / 8,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  return { page, close: () => context.close() };
}

async function timeOf(page: Page, mark: string): Promise<number> {
  const found = await page.waitForFunction((name) => performance.getEntriesByName(name)[0]?.startTime, mark, {
    timeout: TIMEOUT_MS,
  });
  return (await found.jsonValue())!;
}

function typeInto(page: Page, field: string, text: string): Promise<void> {
  return page.locator(field).pressSequentially(text, { delay: KEY_DELAY_MS });
}

/** Presses Enter in the password field. Returns the time of the page's clock. */
async function press(page: Page): Promise<number> {
  const pressed = await page.evaluate(() => performance.now());
  await page.press(PASSWORD_FIELD, 'Enter');
  return pressed;
}

async function timeOfEditor(page: Page, text = ''): Promise<number> {
  await page.locator(EDITOR, { hasText: text }).waitFor({ timeout: TIMEOUT_MS });
  return page.evaluate(() => performance.now());
}

function largestPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1)!.startTime)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        });
      }),
  );
}

async function serveBarePage(): Promise<{ url: string; close: () => void }> {
  const script = brotliCompressSync(await bundleScript(join(import.meta.dirname, 'bare-tiptap.ts')));
  const html =
    '<!doctype html><title>TipTap</title><meta name="viewport" content="width=device-width"><body><script type="module" src="/bare.js"></script></body>';
  const server = createServer((request, response) => {
    if (request.url !== '/bare.js') return response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    return response.writeHead(200, { 'content-type': 'text/javascript', 'content-encoding': 'br' }).end(script);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
