/** The stories in a real browser, against what `npm start` starts: built pages, embedded database, sandbox. */
import { defineConfig, devices } from '@playwright/test';
import { findBrowser } from './scripts/browser/browser.ts';

/**
 * Another port lets two runs on one machine stay out of each other's way; each has its own database folder. This one is
 * none that a system gives to whoever asks for any.
 */
const port = Number(process.env['E2E_PORT'] ?? 24139);
/** Where it is noon as the stories begin, for them and for their browser: they meet no midnight but their own. */
const timezoneId = (process.env['E2E_TIME_ZONE'] ??= zoneOfNoon(new Date()));
process.env['TZ'] = timezoneId;
const baseURL = `http://localhost:${port}`;
const root = process.getuid?.() === 0;
const browser = findBrowser();

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results/e2e',
  fullyParallel: true,
  forbidOnly: Boolean(process.env['CI']),
  workers: 2,
  retries: 0,
  // For stories that hang; the longest takes a quarter of this on a busy machine.
  timeout: 120_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    baseURL,
    timezoneId,
    trace: 'retain-on-failure',
    launchOptions: {
      ...(browser !== null && { executablePath: browser }),
      args: [
        // Chromium has no sandbox for root; the pages are our own.
        ...(root ? ['--no-sandbox'] : []),
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  projects: [{ name: 'chromium' }],
  webServer: {
    command: `"${process.execPath}" tests/e2e/support/server.ts`,
    url: `${baseURL}/readyz`,
    env: { PORT: String(port) },
    timeout: 180_000,
    reuseExistingServer: false,
    stdout: 'ignore',
    stderr: 'pipe',
    gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
  },
});

/** The names of these zones count westward. */
function zoneOfNoon(now: Date): string {
  const west = now.getUTCHours() - 12;
  return west === 0 ? 'Etc/GMT' : `Etc/GMT${west > 0 ? '+' : ''}${west}`;
}
