/** Firefox, driven over WebDriver BiDi. */
import puppeteer, { type KeyInput, type Page } from 'puppeteer-core';
import { WAIT_LIMIT_MS, type BrowserPage, type EngineBrowser } from './browser-page.ts';

/**
 * Headless Firefox reports no pointer, so the journal would treat it as a phone. The value 6 is a fine pointer (2) that
 * can hover (4).
 */
export const WITH_A_MOUSE = { 'ui.primaryPointerCapabilities': 6, 'ui.allPointerCapabilities': 6 };

export async function launchFirefox(executablePath: string): Promise<EngineBrowser> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    extraPrefsFirefox: WITH_A_MOUSE,
  });
  return {
    page: pageOf((await browser.pages())[0] ?? (await browser.newPage())),
    version: await browser.version(),
    close: () => browser.close(),
  };
}

/** Leaving a page aborts the fonts that it is loading (NS_BINDING_ABORTED), which Firefox reports as an error. */
const ABORTED_FONT = /^downloadable font: download failed .*\bstatus=2152398850\b/;

function pageOf(page: Page): BrowserPage {
  const errors: string[] = [];
  const report = (text: string): void => void (ABORTED_FONT.test(text) || errors.push(text));
  page.on('pageerror', (error) => report(error instanceof Error ? error.message : String(error)));
  page.on('console', (message) => message.type() === 'error' && report(message.text()));
  return {
    async open(url) {
      // A page in the background never gets the focus.
      await page.bringToFront();
      await page.goto(url, { timeout: WAIT_LIMIT_MS });
    },
    evaluate: (work, ...args) => page.evaluate(work as never, ...(args as unknown as never[])),
    async click(xpath) {
      await page.locator(`::-p-xpath(${xpath})`).setTimeout(WAIT_LIMIT_MS).click();
    },
    async type(text) {
      for (const [index, line] of text.split('\n').entries()) {
        if (index > 0) await page.keyboard.press('Enter');
        await page.keyboard.type(line);
      }
    },
    async press(key, ...modifiers) {
      for (const modifier of modifiers) await page.keyboard.down(modifier);
      await page.keyboard.press(key as KeyInput);
      for (const modifier of modifiers) await page.keyboard.up(modifier);
    },
    resize: (width, height) => page.setViewport({ width, height }),
    newTab: async () => pageOf(await page.browser().newPage()),
    errors: () => Promise.resolve(errors),
  };
}
