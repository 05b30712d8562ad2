/** The data folder of a worker's server, from which tests reach its database. */
import { join } from 'node:path';

export const e2eDataDir = (port: string): string =>
  join(import.meta.dirname, '..', '..', '..', '.cache', `e2e-${port}`);
