/** Finds Firefox and WebKitGTK for `npm run test:browsers`, and installs Debian's packages if it runs as root. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installWithApt } from './browser.ts';

/**
 * `settings`: environment variables with the paths of the engine's programs. `missing`: why the engine is unavailable.
 */
export type Engine = { name: string; settings: Record<string, string> } | { name: string; missing: string };

const WEBKIT_FOLDERS = /^webkit(2gtk|gtk)-[\d.]+$/;

export async function ensureFirefox(): Promise<Engine> {
  const path = await ensure(() => findOnPath('firefox-esr', 'firefox'), ['firefox-esr']);
  if (path === null) return { name: 'Firefox', missing: 'install Firefox, or firefox-esr on Debian' };
  return { name: 'Firefox', settings: { FIREFOX_PATH: path } };
}

export async function ensureWebKit(): Promise<Engine> {
  const name = 'WebKit';
  if (process.platform !== 'linux') return { name, missing: 'WebKitGTK and its driver run only on Linux' };
  const programs = await ensure(findWebKitPrograms, ['webkit2gtk-driver', 'xvfb']);
  if (programs === null) return { name, missing: 'install webkit2gtk-driver and xvfb' };
  return { name, settings: programs };
}

async function ensure<T>(find: () => T | null, packages: readonly string[]): Promise<T | null> {
  const existing = find();
  if (existing !== null) return existing;
  process.stdout.write(`Installing ${packages.join(' and ')} for the tests…\n`);
  await installWithApt(packages);
  return find();
}

function findWebKitPrograms(): Record<string, string> | null {
  const driver = findOnPath('WebKitWebDriver');
  const display = findOnPath('Xvfb');
  const browser = findMiniBrowser();
  if (driver === null || display === null || browser === null) return null;
  return { WEBKIT_DRIVER_PATH: driver, WEBKIT_BROWSER_PATH: browser, XVFB_PATH: display };
}

/** Debian installs WebKitGTK's MiniBrowser outside the PATH, in `/usr/lib/<architecture>/<library version>`. */
function findMiniBrowser(): string | null {
  const candidates = [
    '/usr/lib',
    '/usr/libexec',
    ...childrenOf('/usr/lib').filter((folder) => /-linux-gnu/.test(folder)),
  ]
    .flatMap(childrenOf)
    .filter((folder) => WEBKIT_FOLDERS.test(folder.split('/').at(-1)!))
    .map((folder) => join(folder, 'MiniBrowser'));
  return candidates.find((path) => existsSync(path)) ?? null;
}

const childrenOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];

function findOnPath(...names: readonly string[]): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path)) ?? null;
}
