/** The projects of `npm run screenshots`: every scene in both themes at three widths. */
import { defineConfig } from '@playwright/test';
import base from '../../playwright.config.ts';

const SIZES = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
];

export default defineConfig({
  ...base,
  testDir: '.',
  outputDir: '../../test-results/screenshots',
  globalSetup: '../../scripts/build/build-client.ts',
  // Each worker starts a server and writes a year of logs.
  workers: 2,
  projects: (['light', 'dark'] as const).flatMap((colorScheme) =>
    SIZES.map(({ width, height }) => ({
      name: `${width}-${colorScheme}`,
      use: {
        ...base.use,
        viewport: { width, height },
        colorScheme,
        hasTouch: width === 390,
        contextOptions: { reducedMotion: 'reduce' },
        serviceWorkers: 'allow',
        actionTimeout: 20_000,
      },
    })),
  ),
});
