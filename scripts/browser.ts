/** Finds the browser that the tests drive, and installs one where there is none. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from '@playwright/test';
import { toolCommand } from './tools.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome.exe'];
const FIXED_PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  join(process.env['PROGRAMFILES'] ?? 'C:\\Program Files', 'Google', 'Chrome', 'Application', 'chrome.exe'),
];
const INSTALL_LIMIT_MS = 10 * 60_000;

/** The path of a Chromium or Chrome. Throws an Error that says what to do when none can be had. */
export async function ensureBrowser(): Promise<string> {
  const present = installedBrowser();
  if (present !== null) return present;
  process.stdout.write('Installing a browser for the tests…\n');
  for (const install of [installWithPlaywright, () => installWithApt(['chromium'])]) {
    await install();
    const installed = installedBrowser();
    if (installed !== null) return installed;
  }
  throw new Error('There is no browser for the tests: install Chromium or Chrome, or name one with CHROME_PATH.');
}

/** Without installing anything; a CHROME_PATH that leads nowhere is an error rather than a reason to look elsewhere. */
export function installedBrowser(): string | null {
  const named = process.env['CHROME_PATH'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new Error(`CHROME_PATH names ${named}, and there is nothing there.`);
  }
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...onPath, ...FIXED_PLACES, chromium.executablePath()].find((place) => existsSync(place)) ?? null;
}

const installWithPlaywright = (): Promise<void> =>
  quietly(process.execPath, toolCommand('playwright', ['install', 'chromium']));

/** Does nothing where there is no apt or no right to use it. */
export async function installWithApt(packages: readonly string[]): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  await quietly('apt-get', ['update']);
  await quietly('apt-get', ['install', '--yes', '--no-install-recommends', ...packages]);
}

/** Whether it worked shows in what is there afterwards, so neither its output nor its exit code matter. */
function quietly(command: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(command, args, { env, stdio: 'ignore', timeout: INSTALL_LIMIT_MS });
  return new Promise((ended) => {
    child.on('error', () => ended());
    child.on('close', () => ended());
  });
}
