/** Finds Firefox and WebKitGTK for `npm run test:browsers`, and installs them from Debian's packages as root. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installWithApt } from './browser.ts';

/** The environment variables that name an engine's programs for the tests, or why there is none. */
export type Engine = { name: string; settings: Record<string, string> } | { name: string; missing: string };

const WEBKIT_FOLDERS = /^webkit(2gtk|gtk)-[\d.]+$/;

export async function ensureFirefox(): Promise<Engine> {
  const path = await ensure(() => onPath('firefox-esr', 'firefox'), ['firefox-esr']);
  if (path === null) return { name: 'Firefox', missing: 'install Firefox, or firefox-esr on Debian' };
  return { name: 'Firefox', settings: { FIREFOX_PATH: path } };
}

export async function ensureWebKit(): Promise<Engine> {
  const name = 'WebKit';
  if (process.platform !== 'linux') return { name, missing: 'WebKitGTK and its driver are for Linux alone' };
  const programs = await ensure(webKitPrograms, ['webkit2gtk-driver', 'xvfb']);
  if (programs === null) return { name, missing: 'install webkit2gtk-driver and xvfb' };
  return { name, settings: programs };
}

async function ensure<T>(find: () => T | null, packages: readonly string[]): Promise<T | null> {
  const present = find();
  if (present !== null) return present;
  process.stdout.write(`Installing ${packages.join(' and ')} for the tests…\n`);
  await installWithApt(packages);
  return find();
}

function webKitPrograms(): Record<string, string> | null {
  const driver = onPath('WebKitWebDriver');
  const display = onPath('Xvfb');
  const browser = miniBrowser();
  if (driver === null || display === null || browser === null) return null;
  return { WEBKIT_DRIVER_PATH: driver, WEBKIT_BROWSER_PATH: browser, XVFB_PATH: display };
}

/** Debian keeps it out of the path, in a folder named by the library's version below that of the architecture. */
function miniBrowser(): string | null {
  const places = ['/usr/lib', '/usr/libexec', ...childrenOf('/usr/lib').filter((folder) => /-linux-gnu/.test(folder))]
    .flatMap(childrenOf)
    .filter((folder) => WEBKIT_FOLDERS.test(folder.split('/').at(-1)!))
    .map((folder) => join(folder, 'MiniBrowser'));
  return places.find((place) => existsSync(place)) ?? null;
}

const childrenOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];

function onPath(...names: readonly string[]): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return (
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find((place) => existsSync(place)) ?? null
  );
}
