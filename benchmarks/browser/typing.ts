/**
 * Measures the main-thread time per key compared with a bare contenteditable with the same text and style sheets, and
 * the time from a key to the next frame. Typing alternates between both editors, so that other load affects both
 * equally.
 */
import type { Page } from '@playwright/test';
import { median, percentile, printFigures, type Figure } from '../figures.ts';
import { EDITOR, createLogHtml, mainThreadMs, openJournalBrowser, type JournalBrowser } from './journal-browser.ts';

const KEYS = 120;
const KEY_INTERVAL_MS = 25;
const ROUNDS = 5;
const SENTENCE = 'the quick brown fox jumps over the lazy dog and goes on ';

const journal = await openJournalBrowser();
try {
  printFigures('Typing', [await compareWithBareEditor(journal), ...(await measureFrameDelay(journal))]);
} finally {
  await journal.close();
}

async function openEditor({ app, openSignedInPage }: JournalBrowser, html: string): Promise<Page> {
  const page = await openSignedInPage(html);
  await page.goto(`${app.url.replace('127.0.0.1', 'localhost')}/journal`);
  await page.locator(EDITOR).waitFor();
  return page;
}

/** Replaces the editor with a copy of its content in a contenteditable without listeners. */
async function replaceWithBareEditor(page: Page): Promise<void> {
  await page.evaluate((selector) => {
    const bare = document.querySelector<HTMLElement>(selector)!.cloneNode(true) as HTMLElement;
    const place = document.createElement('main');
    place.className = document.querySelector('main')!.className;
    place.append(bare);
    // Removes the app's root from the document, together with its listeners.
    document.body.replaceChildren(place);
    bare.id = 'bare';
  }, EDITOR);
}

async function moveCaretToMiddle(page: Page, selector: string): Promise<void> {
  await page.evaluate((wanted) => {
    const editor = document.querySelector<HTMLElement>(wanted)!;
    editor.focus();
    const paragraphs = editor.querySelectorAll('p');
    const middle = paragraphs[Math.floor(paragraphs.length / 2)]!;
    middle.scrollIntoView({ block: 'center' });
    getSelection()!.collapse(middle.firstChild, 3);
  }, selector);
  await page.waitForFunction(() => document.activeElement?.getAttribute('contenteditable') === 'true');
}

function sentence(length: number): string {
  return SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length);
}

async function msPerKey(page: Page): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const before = await mainThreadMs(cdp);
  await page.keyboard.type(sentence(KEYS), { delay: KEY_INTERVAL_MS });
  const spent = (await mainThreadMs(cdp)) - before;
  await cdp.detach();
  return spent / KEYS;
}

async function compareWithBareEditor(browser: JournalBrowser): Promise<Figure> {
  const html = createLogHtml(400, 50);
  const ours = await openEditor(browser, html);
  const theirs = await openEditor(browser, html);
  await replaceWithBareEditor(theirs);
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    await ours.bringToFront();
    await moveCaretToMiddle(ours, EDITOR);
    const mine = await msPerKey(ours);
    await theirs.bringToFront();
    await moveCaretToMiddle(theirs, '#bare');
    const bare = await msPerKey(theirs);
    // The first round is a warm-up.
    if (round > 0) rounds.push({ ours: mine, theirs: bare });
  }
  const ratio = median(rounds.map((round) => round.ours / round.theirs));
  const typical = (of: 'ours' | 'theirs') => median(rounds.map((round) => round[of])).toFixed(1);
  return {
    what: 'main thread per key in a log of 20,000 words',
    measured: `${ratio.toFixed(2)}x a bare contenteditable (${typical('ours')} ms against ${typical('theirs')} ms)`,
    target: 'at most 1.5x',
    isMet: ratio <= 1.5,
  };
}

async function measureFrameDelay(browser: JournalBrowser): Promise<Figure[]> {
  const page = await openEditor(browser, createLogHtml(100, 8));
  await moveCaretToMiddle(page, EDITOR);
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(globalThis, { frameTimes: times });
    addEventListener(
      'keydown',
      () => {
        const pressed = performance.now();
        requestAnimationFrame(() => {
          // The message event fires after the current frame has been rendered.
          const { port1, port2 } = new MessageChannel();
          port1.addEventListener('message', () => times.push(performance.now() - pressed));
          port1.start();
          port2.postMessage(null);
        });
      },
      { capture: true },
    );
  });
  const cdp = await page.context().newCDPSession(page);
  const figures: Figure[] = [];
  for (const { slower, limitMs } of [
    { slower: 1, limitMs: 16 },
    { slower: 4, limitMs: 50 },
  ]) {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slower });
    await page.keyboard.type(sentence(30), { delay: 60 });
    await page.evaluate(() => ((globalThis as unknown as { frameTimes: number[] }).frameTimes.length = 0));
    await page.keyboard.type(sentence(KEYS), { delay: 60 });
    const times = await page.evaluate(() => (globalThis as unknown as { frameTimes: number[] }).frameTimes);
    const p75 = percentile(times, 75);
    figures.push({
      what: `key to the next frame in a log of 100 items${slower === 1 ? '' : `, CPU ${slower}x slower`}`,
      measured: `p75 ${p75.toFixed(1)} ms (p50 ${percentile(times, 50).toFixed(1)}, p99 ${percentile(times, 99).toFixed(1)})`,
      target: `at most ${limitMs} ms`,
      isMet: p75 <= limitMs,
    });
  }
  return figures;
}
