import { expect, test } from 'vitest';
import { purgeWebhookPayloads } from '#server/jobs/purges.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();

const clock = { now: () => new Date('2026-11-21T12:00:00Z') };

test('purges the payload of an old event and keeps its row', async () => {
  await db.admin.query(
    `insert into payment_events (id, type, raw, received_at, processed_at) values
       ('WH-old', 'X', '{"payer":"Ada"}', '2026-05-25T11:59:00Z', '2026-05-25T12:00:00Z'),
       ('WH-never-followed', 'X', '{"payer":"Ada"}', '2026-01-01T00:00:00Z', null),
       ('WH-new', 'X', '{"payer":"Cleo"}', '2026-05-25T12:01:00Z', '2026-05-25T12:02:00Z')`,
  );
  expect(await purgeWebhookPayloads(db.database, clock, new AbortController().signal)).toBe(2);
  expect(await purgeWebhookPayloads(db.database, clock, new AbortController().signal)).toBe(0);
  const { rows } = await db.admin.query('select id, raw from payment_events order by received_at');
  expect(rows).toEqual([
    { id: 'WH-never-followed', raw: '' },
    { id: 'WH-old', raw: '' },
    { id: 'WH-new', raw: '{"payer":"Cleo"}' },
  ]);
});
