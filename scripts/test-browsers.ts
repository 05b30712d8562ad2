/** `npm run test:browsers`: a few end-to-end tests in Firefox and WebKit. `npm test` uses only Chromium. */
import { mkdir } from 'node:fs/promises';
import { join, delimiter } from 'node:path';
import { buildClient } from './build/build-client.ts';
import { runTool } from './child-processes.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { ROOT } from './project.ts';
import { summaryLine, vitestResult } from './test-results.ts';
import { existsSync, readdirSync } from 'node:fs';
import { installWithApt } from './browser.ts';

/**
 * `settings`: environment variables with the paths of the engine's programs. `missing`: why the engine is unavailable.
 */
type Engine = { name: string; settings: Record<string, string> } | { name: string; missing: string };

const WEBKIT_FOLDERS = /^webkit(2gtk|gtk)-[\d.]+$/;

async function ensureFirefox(): Promise<Engine> {
  const path = await ensure(() => findOnPath('firefox-esr', 'firefox'), ['firefox-esr']);
  if (path === null) return { name: 'Firefox', missing: 'install Firefox, or firefox-esr on Debian' };
  return { name: 'Firefox', settings: { FIREFOX_PATH: path } };
}

async function ensureWebKit(): Promise<Engine> {
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

exitWithParent();

const engines = [await ensureFirefox(), await ensureWebKit()];
const settings: Record<string, string> = {};
for (const engine of engines) {
  if ('missing' in engine) process.stdout.write(`Skipping ${engine.name}: ${engine.missing}\n`);
  else Object.assign(settings, engine.settings);
}
if (Object.keys(settings).length === 0) {
  process.stderr.write('No browser engine is available.\n');
  process.stdout.write(`\n${summaryLine([{ passed: 0, failed: 1, skipped: 0 }])}\n`);
  process.exit(1);
}

await buildClient();
const report = join(ROOT, 'test-results', 'browsers.json');
await mkdir(join(ROOT, 'test-results'), { recursive: true });
const ok = await runTool(
  'vitest',
  [
    ...['run', '--config', 'tests/browsers/vitest.config.ts'],
    ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`],
  ],
  settings,
);
const result = await vitestResult(report, ok);
process.stdout.write(`\n${summaryLine([result])}\n`);
process.exit(result.failed > 0 ? 1 : 0);
