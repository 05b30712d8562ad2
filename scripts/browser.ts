/** Finds Chromium or Chrome for tests, benchmarks and screenshots, and installs Chromium if necessary. */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { chromium } from '@playwright/test';
import { toolCommand } from './child-processes.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome.exe'];
const SHELL_NAMES = ['chromium-headless-shell', 'chrome-headless-shell'];
const FIXED_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  join(process.env['PROGRAMFILES'] ?? 'C:\\Program Files', 'Google', 'Chrome', 'Application', 'chrome.exe'),
];
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Returns the path of Chromium or Chrome, or installs Chromium. Throws with instructions if the installation fails. */
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

/** Never installs a browser. Throws if the file of CHROME_PATH is missing, instead of choosing another browser. */
function findBrowser(): string | null {
  const named = process.env['CHROME_PATH'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new Error(`CHROME_PATH is ${named}, which does not exist.`);
  }
  return [...namesOnPath(NAMES), ...FIXED_PATHS, chromium.executablePath()].find((path) => existsSync(path)) ?? null;
}

/**
 * Like `ensureBrowser`, but prefers the headless shell: the same engine without the browser's own windows and services,
 * which take half of the CPU time of an end-to-end test.
 */
export async function ensureTestBrowser(): Promise<string> {
  const existing = findTestBrowser();
  if (existing !== null && (process.env['CHROME_PATH'] || existing === findHeadlessShell())) return existing;
  await installWithApt(['chromium-headless-shell']);
  const shell = findHeadlessShell();
  if (shell !== null) return shell;
  if (existing !== null) process.stdout.write(`${HEADLESS_SHELL_HINT}\n`);
  return existing ?? ensureBrowser();
}

const HEADLESS_SHELL_HINT =
  'Testing in full Chromium. "npx playwright install --only-shell chromium" installs the headless shell, which is twice as fast.';

/** Prefers the headless shell to full Chromium or Chrome, but CHROME_PATH to all of them. Never installs a browser. */
export const findTestBrowser = (): string | null =>
  process.env['CHROME_PATH'] ? findBrowser() : (findHeadlessShell() ?? findBrowser());

function findHeadlessShell(): string | null {
  // Playwright downloads to `chromium-1234/platform/chrome` and to
  // `chromium_headless_shell-1234/platform/chrome-headless-shell`.
  const playwrightFolder = dirname(dirname(chromium.executablePath()));
  const playwrightShells = globSync(
    join(
      playwrightFolder.replace(/chromium-(\d+)$/, 'chromium_headless_shell-$1'),
      '*',
      'chrome-headless-shell{,.exe}',
    ),
  );
  return [...namesOnPath(SHELL_NAMES), ...playwrightShells].find((path) => existsSync(path)) ?? null;
}

const namesOnPath = (names: readonly string[]): string[] =>
  (process.env['PATH'] ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));

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
