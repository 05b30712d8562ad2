/** The tasks behind every screen of a signed-in user. Loaded once the page can be edited. */
import { useLiveUpdates } from './live/use-live-updates.ts';

export function BackgroundTasks(): null {
  useLiveUpdates();
  return null;
}
