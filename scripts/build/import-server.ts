/**
 * A step of `npm run check`: imports every module of the server, as `npm start` does, so that a moved file with a wrong
 * path or a cycle that reads what is not set yet fails before it is merged. Starts nothing.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../project.ts';

/** Waits for its supervisor as soon as it is imported. */
const WORKER = 'workers/worker.ts';
const SERVER = join(ROOT, 'src/server');

const modules = globSync('**/*.ts', { cwd: SERVER }).filter((file) => !/\.(test|d)\.ts$/.test(file) && file !== WORKER);
for (const file of modules) await import(join(SERVER, file));
