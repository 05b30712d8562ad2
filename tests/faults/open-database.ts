/**
 * Opens the embedded database in a child process that tests can kill.
 *
 *   node open-database.ts DATA_DIR idle|write|throw
 *
 * Prints `ready` or `failed REASON`. With `write` it inserts logs as fast as it can, prints `written WRITER NUMBER` for
 * each acknowledged insert, and retries while the database restarts, until it is killed. With `throw` it throws an
 * uncaught error after `ready`.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { openDatabase } from '#server/database/connect.ts';
import { createLog } from '#server/log.ts';

const WRITERS = 8;
const [dataDir = '', mode] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

const database = await openDatabase({ config: { dataDir, databaseUrl: null }, log: createLog('silent') }).catch(
  (error: Error) => {
    print(`failed ${error.message}`);
    process.exit(1);
  },
);
print('ready');
setInterval(() => undefined, 60_000);
if (mode === 'throw') throw new Error('uncaught on purpose');
if (mode === 'write') await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

async function write(writer: number): Promise<void> {
  const service = database.asService('storm');
  const id = `00000000-0000-4000-8000-00000000000${writer}`;
  const addUser = 'insert into auth.users (id) values ($1) on conflict do nothing';
  const readLast = "select coalesce(max(date) - '2000-01-01', 0) as number from entries where user_id = $1";
  const insertLog = "insert into entries (user_id, date, content) values ($1, '2000-01-01'::date + $2::int, $3)";
  for (;;) {
    try {
      await service.statement(addUser, [id]);
      let { number } = (await service.statement<{ number: number }>(readLast, [id])).rows[0]!;
      for (;;) {
        number += 1;
        await service.statement(insertLog, [id, number, `<p>${number} ${'word '.repeat(100)}</p>`]);
        print(`written ${writer} ${number}`);
      }
    } catch {
      await delay(20);
    }
  }
}
