/** The server of one worker: `npm start` with an empty database of its own and no rate limits. */
import { rmSync } from 'node:fs';
import { sandboxedServerSettings } from '../../../scripts/screenshots/server-settings.ts';
import { e2eDataDir } from './data-dir.ts';

const port = process.env['PORT']!;
const dataDir = e2eDataDir(port);
rmSync(dataDir, { recursive: true, force: true });
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

Object.assign(process.env, sandboxedServerSettings(port, dataDir));

const { start } = await import('../../../scripts/start.ts');
await start();
