/** WebKitGTK's MiniBrowser on a display of its own, driven over WebDriver. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Builder, By, Capabilities, Key, until, type WebDriver } from 'selenium-webdriver';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { WAIT_LIMIT_MS, type BrowserPage, type EngineBrowser } from './browser-page.ts';

export type WebKitPrograms = { driver: string; browser: string; display: string };

const KEYS: Readonly<Record<string, string>> = {
  Control: Key.CONTROL,
  Shift: Key.SHIFT,
  Alt: Key.ALT,
  Enter: Key.ENTER,
  Backspace: Key.BACK_SPACE,
  Escape: Key.ESCAPE,
  Home: Key.HOME,
  End: Key.END,
};

export async function launchWebKit(programs: WebKitPrograms): Promise<EngineBrowser> {
  const display = spawn(programs.display, ['-displayfd', '3', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = (await once(display.stdio[3]!, 'data')) as [Buffer];
  const port = await freePort();
  const service = spawn(programs.driver, [`--port=${port}`], {
    env: {
      ...process.env,
      DISPLAY: `:${number.toString().trim()}`,
      GDK_BACKEND: 'x11',
      NO_AT_BRIDGE: '1',
      // WebKit's own sandbox needs user namespaces, which root in a container lacks. The tests load only our own pages.
      ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
    },
    stdio: 'ignore',
  });
  const stopPrograms = async (): Promise<void> => {
    await stop(service);
    await stop(display);
  };
  try {
    await untilAnswering(port);
    const capabilities = new Capabilities()
      .setBrowserName('MiniBrowser')
      .set('webkitgtk:browserOptions', { binary: programs.browser, args: ['--automation'] });
    const driver = await new Builder().usingServer(`http://127.0.0.1:${port}`).withCapabilities(capabilities).build();
    const version = (await driver.getCapabilities()).getBrowserVersion() ?? 'of an unknown version';
    return {
      page: pageOf(driver, await driver.getWindowHandle()),
      version: `WebKitGTK ${version}`,
      close: async () => {
        await driver.quit();
        await stopPrograms();
      },
    };
  } catch (error) {
    await stopPrograms();
    throw error;
  }
}

/** WebDriver has one current window, so every command first switches to the window of its page. */
function pageOf(driver: WebDriver, handle: string): BrowserPage {
  const here = async (): Promise<WebDriver> => {
    await driver.switchTo().window(handle);
    return driver;
  };
  return {
    async open(url) {
      await (await here()).get(url);
      await driver.executeScript(collectErrors);
    },
    async evaluate(work, ...args) {
      const script = `return (${work.toString()}).apply(null, arguments)`;
      return (await here()).executeScript(script, ...args);
    },
    async click(xpath) {
      const element = await (await here()).wait(until.elementLocated(By.xpath(xpath)), WAIT_LIMIT_MS);
      await driver.wait(until.elementIsVisible(element), WAIT_LIMIT_MS);
      await element.click();
    },
    async type(text) {
      const keys = text.split('\n').flatMap((line, index) => (index > 0 ? [Key.ENTER, line] : [line]));
      await (
        await here()
      )
        .actions()
        .sendKeys(...keys.filter((part) => part !== ''))
        .perform();
    },
    async press(key, ...modifiers) {
      const actions = (await here()).actions();
      for (const modifier of modifiers) actions.keyDown(KEYS[modifier]!);
      actions.sendKeys(KEYS[key] ?? key);
      for (const modifier of modifiers) actions.keyUp(KEYS[modifier]!);
      await actions.perform();
    },
    async resize(width, height) {
      const [outerWidth, outerHeight, innerWidth, innerHeight] = (await (
        await here()
      ).executeScript('return [outerWidth, outerHeight, innerWidth, innerHeight]')) as [number, number, number, number];
      const frame = { width: outerWidth - innerWidth, height: outerHeight - innerHeight };
      await driver
        .manage()
        .window()
        .setRect({ width: width + frame.width, height: height + frame.height });
    },
    async newTab() {
      await (await here()).switchTo().newWindow('tab');
      return pageOf(driver, await driver.getWindowHandle());
    },
    async errors() {
      return (await here()).executeScript('return globalThis.collectedErrors ?? []');
    },
  };
}

/** Runs in the page after it has loaded and collects the page's errors, because WebDriver does not report errors. */
const collectErrors = `
  const errors = (globalThis.collectedErrors = []);
  addEventListener('error', (event) => errors.push(String(event.message)));
  addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
  const log = console.error;
  console.error = (...words) => { errors.push(words.join(' ')); log(...words); };
`;

async function untilAnswering(port: number): Promise<void> {
  const since = Date.now();
  for (;;) {
    const answers = await fetch(`http://127.0.0.1:${port}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return;
    if (Date.now() - since > WAIT_LIMIT_MS) throw new Error('WebKitWebDriver does not answer');
    await new Promise((again) => setTimeout(again, 50));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
