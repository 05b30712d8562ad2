import { join } from 'node:path';
import { ROOT } from '../../scripts/project.ts';

/** The files that operators get. */
export const CONFIG = join(ROOT, 'deploy', 'cluster');
export const LOGS = join(ROOT, 'test-results', 'cluster');
/** The data of one run. */
export const STATE = '/run/hustle-forge-cluster';
