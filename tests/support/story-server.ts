/** The server for the browser's stories: `npm start` with an empty database of its own and no rate limits. */
import { rmSync } from 'node:fs';
import { storyDataDir } from './story-data.ts';

const port = process.env['PORT'] ?? '41390';
const dataDir = storyDataDir(port);
rmSync(dataDir, { recursive: true, force: true });
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

Object.assign(process.env, {
  HOST: '127.0.0.1',
  PUBLIC_URL: `http://localhost:${port}`,
  DATA_DIR: dataDir,
  DATABASE_URL: '',
  NODE_ENV: 'development',
  SANDBOX: 'on',
  AUTH_AUTOCONFIRM: 'on',
  AUTH_RATE_LIMITS: 'off',
  LOG_LEVEL: 'error',
});

await import('../../scripts/start.ts');
