/**
 * Runs the end-to-end tests in Chromium against what `npm start` starts: built pages, embedded database, sandbox. Each
 * worker has its own server.
 */
import { defineConfig, devices } from '@playwright/test';
import { findTestBrowser } from './scripts/browser.ts';

/**
 * The time zone of the tests and their browser. The run begins there between 12:00 and 13:00, so it spans no midnight.
 */
const timezoneId = (process.env['E2E_TIME_ZONE'] ??= zoneOfNoon(new Date()));
process.env['TZ'] = timezoneId;
const root = process.getuid?.() === 0;
const browser = findTestBrowser();
/** Files with settings of their own, and so with a server of their own (`serverSettings`). */
const ownServer = ['**/account/captcha.spec.ts', '**/account/closed-sign-ups.spec.ts'];

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results/e2e',
  fullyParallel: true,
  forbidOnly: Boolean(process.env['CI']),
  // Three more than the two cores: they run while others wait for timers, animations or the server.
  workers: 5,
  retries: 0,
  // Ends a test that hangs. The longest test takes a quarter of this time on a busy machine.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    timezoneId,
    // A worker would answer requests before `page.route` sees them; only its own tests allow it.
    serviceWorkers: 'block',
    // A trace records every action and frame, also of tests that pass. `npm test -- --trace FILE` turns tracing on.
    trace: 'off',
    launchOptions: {
      ...(browser !== null && { executablePath: browser }),
      args: [
        // Chromium has no sandbox for root; the pages are our own.
        ...(root ? ['--no-sandbox'] : []),
        // Each test opens its pages in a new process, where optimised code would not pay for its compilation.
        '--js-flags=--no-maglev --no-turbofan',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  projects: [
    // First, so that no worker starts another server while all others have run out of tests.
    { name: 'own server', testMatch: ownServer },
    { name: 'chromium', testIgnore: ownServer },
  ],
  globalSetup: './scripts/build/build-client.ts',
});

/** `Etc/GMT+5` is five hours west of Greenwich, so local time there is UTC minus five hours. */
function zoneOfNoon(now: Date): string {
  const west = now.getUTCHours() - 12;
  return west === 0 ? 'Etc/GMT' : `Etc/GMT${west > 0 ? '+' : ''}${west}`;
}
