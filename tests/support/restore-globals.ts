/** Vitest `setupFiles`: restores the globals that a test file replaced, because the next file runs in the same process. */
import { afterAll, vi } from 'vitest';

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
