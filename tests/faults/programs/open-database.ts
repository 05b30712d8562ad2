/**
 * A process of its own that opens the embedded database, so that tests can kill it.
 *
 *   node open-database.ts DATA_DIR idle|write|throw
 *
 * Says `ready` or `failed REASON`. With `write` it inserts logs as fast as it can and says `kept WRITER NUMBER` for each
 * one that the database has acknowledged, until it is killed; a database that is away for a moment is asked again.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { openDatabase } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';

const WRITERS = 8;
const [dataDir = '', mode] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const database = await openDatabase({
  config: { dataDir, databaseUrl: null },
  log: createLog('silent'),
}).catch((error: Error) => {
  say(`failed ${error.message}`);
  process.exit(1);
});
say('ready');
setInterval(() => undefined, 60_000);
if (mode === 'throw') throw new Error('nobody catches this');
if (mode === 'write') await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

async function write(writer: number): Promise<void> {
  const service = database.asService('storm');
  const id = `00000000-0000-4000-8000-00000000000${writer}`;
  const addUser = 'insert into auth.users (id) values ($1) on conflict do nothing';
  const last = "select coalesce(max(date) - '2000-01-01', 0) as number from entries where user_id = $1";
  const add = "insert into entries (user_id, date, content) values ($1, '2000-01-01'::date + $2::int, $3)";
  for (;;) {
    try {
      await service.statement(addUser, [id]);
      let { number } = (await service.statement<{ number: number }>(last, [id])).rows[0]!;
      for (;;) {
        number += 1;
        await service.statement(add, [id, number, `<p>${number} ${'word '.repeat(100)}</p>`]);
        say(`kept ${writer} ${number}`);
      }
    } catch {
      await delay(20);
    }
  }
}
