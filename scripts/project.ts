import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The repository's root folder. */
export const ROOT = join(import.meta.dirname, '..');

/** Loads `.env`. Variables that are set already take precedence. */
export function loadEnvFile(): void {
  const file = join(ROOT, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}
