/** Rules of `auth.audit_log`: the service only adds rows, and erases the person from the rows of a deleted account. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { setUpTestDatabase } from '../support/set-up.ts';
import { REFUSED, runAs } from './fixtures.ts';

/** restrict_violation */
const RESTRICTED = '23001';

const db = setUpTestDatabase();
let user = '';
beforeEach(async () => {
  user = randomUUID();
  await db.admin.query('insert into auth.users (id) values ($1)', [user]);
  const row = `insert into auth.audit_log (user_id, actor, event, ip, user_agent, details)
    values ($1, 'user', 'signed_in', '192.0.2.1', 'Firefox', '{"to": "ana@example.com"}')`;
  expect(await runAs(db.database, 'service', row, [user])).toBe(1);
});

const erase = () => runAs(db.database, 'service', 'select auth.erase_audit_log($1)', [user]);
const eventsOf = async (id: string) =>
  (await db.admin.query('select ip, user_agent, details from auth.audit_log where user_id = $1', [id])).rows;

test.each(["update auth.audit_log set event = 'signed_out'", 'delete from auth.audit_log', 'truncate auth.audit_log'])(
  'the service may not %s',
  async (statement) => {
    expect(await runAs(db.database, 'service', statement)).toBe(REFUSED);
  },
);

test('the events of an account that exists are not erased', async () => {
  expect(await erase()).toBe(RESTRICTED);
  expect(await eventsOf(user)).toHaveLength(1);
});

test('the events of a deleted account stay without the person', async () => {
  await db.admin.query('delete from auth.users where id = $1', [user]);
  const { rows: before } = await db.admin.query('select max(id) as id from auth.audit_log');
  expect(await erase()).toBe(1);
  expect(await eventsOf(user)).toEqual([]);
  const { rows } = await db.admin.query('select * from auth.audit_log where id = $1', [before[0].id]);
  expect(rows).toMatchObject([{ event: 'signed_in', user_id: null, ip: null, user_agent: null, details: {} }]);
});

test('the service can delete rows after 400 days only, and nobody else can', async () => {
  await db.admin.query(
    `insert into auth.audit_log (at, user_id, actor, event)
     select now() - age * interval '1 day', $1, 'user', 'signed_out' from unnest(array[399, 401, 402, 403]) age`,
    [user],
  );
  const purge = 'select auth.purge_audit_log(1000)';
  for (const actor of ['guest', 'free'] as const) expect(await runAs(db.database, actor, purge)).toBe(REFUSED);
  expect(await runAs(db.database, 'service', purge)).toBe(1);
  expect(await eventsOf(user)).toHaveLength(2);
  // The service can delete rows only through the function, which has the rights of its owner.
  expect(await runAs(db.database, 'service', 'delete from auth.audit_log')).toBe(REFUSED);
});
