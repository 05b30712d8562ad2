/** The server for the browser's stories: `npm start` with an empty database of its own and no rate limits. */
import { rmSync } from 'node:fs';
import { sandboxedServerSettings } from '../../scripts/screenshots/server-settings.ts';
import { storyDataDir } from './story-data.ts';

const port = process.env['PORT']!;
const dataDir = storyDataDir(port);
rmSync(dataDir, { recursive: true, force: true });
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

Object.assign(process.env, sandboxedServerSettings(port, dataDir));

const { start } = await import('../../scripts/start.ts');
await start();
