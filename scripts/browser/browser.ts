/** Finds the browser for the tests, and installs one if necessary. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from '@playwright/test';
import { toolCommand } from '../tools.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome.exe'];
const FIXED_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  join(process.env['PROGRAMFILES'] ?? 'C:\\Program Files', 'Google', 'Chrome', 'Application', 'chrome.exe'),
];
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Returns the path of Chromium or Chrome. Throws with instructions if none can be installed. */
export async function ensureBrowser(): Promise<string> {
  const existing = findBrowser();
  if (existing !== null) return existing;
  process.stdout.write('Installing a browser for the tests…\n');
  for (const install of [installWithPlaywright, () => installWithApt(['chromium'])]) {
    await install();
    const installed = findBrowser();
    if (installed !== null) return installed;
  }
  throw new Error('No browser for the tests: install Chromium or Chrome, or set CHROME_PATH.');
}

/** Never installs. Throws if CHROME_PATH is set and does not exist, instead of falling back to another browser. */
export function findBrowser(): string | null {
  const named = process.env['CHROME_PATH'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new Error(`CHROME_PATH is ${named}, which does not exist.`);
  }
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...onPath, ...FIXED_PATHS, chromium.executablePath()].find((path) => existsSync(path)) ?? null;
}

const installWithPlaywright = (): Promise<void> =>
  runIgnoringResult(process.execPath, toolCommand('playwright', ['install', 'chromium']));

/** No-op without apt or without root. */
export async function installWithApt(packages: readonly string[]): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  await runIgnoringResult('apt-get', ['update']);
  await runIgnoringResult('apt-get', ['install', '--yes', '--no-install-recommends', ...packages]);
}

/** Discards output and exit code: callers check for the installed file. */
function runIgnoringResult(command: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(command, args, { env, stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS });
  return new Promise((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
}
