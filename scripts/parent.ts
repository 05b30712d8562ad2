/** What every script does about its beginning and its end: the `.env` file, and leaving when its parent has left. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** The variables that are set already win over the file. */
export function loadEnvFile(): void {
  const file = join(ROOT, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/**
 * Calls `stop` when the process that started this one is gone, also after its kill -9: the channel between the two
 * closes then. Does nothing for a script that was started by hand.
 */
export function endWithParent(stop: () => void): void {
  if (!process.channel) return;
  process.once('disconnect', stop);
  process.channel.unref();
}
