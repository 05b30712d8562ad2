/**
 * The server of one worker: `npm start` with a database of its own and no rate limits. The database is empty, unless the
 * server is started again after a test has killed it.
 */
import { rmSync } from 'node:fs';
import { sandboxedServerSettings } from '../../../scripts/screenshots/server-settings.ts';
import { e2eDataDir } from './data-dir.ts';

const port = process.env['PORT']!;
const dataDir = e2eDataDir(port);
if (process.env['E2E_KEEP_DATA'] !== 'on') rmSync(dataDir, { recursive: true, force: true });
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

Object.assign(process.env, sandboxedServerSettings(port, dataDir));

const { start } = await import('../../../scripts/start.ts');
await start();
