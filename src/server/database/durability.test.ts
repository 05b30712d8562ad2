import pg from 'pg';
import { expect, test } from 'vitest';
import { createLog } from '#server/log.ts';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { warnUnlessDurable } from './connect.ts';
import { serverSettings } from './embedded/supervisor.ts';

const db = setUpTestDatabase();

async function warningsWith(options: string): Promise<unknown[]> {
  const lines: { level: string; settings?: string[] }[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const client = new pg.Client({ connectionString: db.url, options });
  await client.connect();
  await warnUnlessDurable(client, log);
  await client.end();
  return lines.map(({ level, settings }) => ({ level, settings }));
}

// The server of the tests runs with all three settings off.
test('warns of each setting that can lose an acknowledged save', async () => {
  expect(await warningsWith('')).toEqual([
    { level: 'warn', settings: ['fsync', 'full_page_writes', 'synchronous_commit'] },
  ]);
});

test('reads the settings of its session, which may override those of the server', async () => {
  expect(await warningsWith('-c synchronous_commit=on')).toEqual([
    { level: 'warn', settings: ['fsync', 'full_page_writes'] },
  ]);
});

test('the embedded server has fsync, full_page_writes and synchronous_commit on', () => {
  const settings = serverSettings({ kind: 'socket', port: 5432 }, '18.4');
  expect(settings).toMatchObject({ fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' });
});
