/** Where the stories' server keeps its data, so that a story can run an operator's command against it. */
import { join } from 'node:path';

export const e2eDataDir = (port: string): string =>
  join(import.meta.dirname, '..', '..', '..', '.cache', `e2e-${port}`);
