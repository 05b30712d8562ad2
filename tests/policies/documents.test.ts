/** Wins documents and read-only links (docs/specification/wins.md 1 and 2): who writes, reads and ends them. */
import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { DOCUMENT_MAX_BYTES, MAX_DOCUMENTS, TITLE_MAX_LENGTH } from '#domain/documents/wins-document.ts';
import { MAX_LINKS } from '#domain/documents/document-links.ts';
import { setUpTestDatabase } from '../support/set-up.ts';
import { ACTORS, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures, runAs, type Actor, type Person } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(async () => {
  await resetFixtures(db.admin);
  for (const name of PERSON_NAMES) await seed(name);
});

const CHECK_VIOLATION = '23514';
const FOREIGN_KEY_VIOLATION = '23503';
const LIMIT_EXCEEDED = '54000';

const DOCUMENT = '00000000-0000-4000-8000-00000000d0c0';
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** A document and a link to it. */
async function seed(name: Person): Promise<void> {
  const { id } = PEOPLE[name];
  await db.admin.query(
    `insert into documents (user_id, id, title, first_day, last_day, content)
     values ($1, $2, 'My year', '2026-01-01', '2026-12-31', '{}')`,
    [id, DOCUMENT],
  );
  await db.admin.query(
    `insert into document_links (user_id, document_id, token_hash, expires_at)
     values ($1, $2, $3, now() + interval '7 days')`,
    [id, DOCUMENT, hashOf(name)],
  );
}

const insertDocument = (actor: Actor, userId: string, title = 'Q3', content = '{}', id = randomUUID()) =>
  runAs(
    db.database,
    actor,
    `insert into documents (user_id, id, title, first_day, last_day, content) values ($1, $2, $3, '2026-07-01', '2026-09-30', $4)`,
    [userId, id, title, content],
  );

const insertLink = (actor: Actor, userId: string, documentId: string | null = DOCUMENT, hours = 24 * 90) =>
  runAs(
    db.database,
    actor,
    `insert into document_links (user_id, document_id, token_hash, expires_at)
     values ($1, $2, $3, now() + make_interval(hours => $4))`,
    [userId, documentId, hashOf(randomUUID()), hours],
  );

const isPaid = (actor: Actor): boolean => actor === 'premium' || actor === 'endless';

describe.each(ACTORS)('%s', (actor) => {
  const own = actor === 'guest' ? PEOPLE.free.id : PEOPLE[actor].id;
  const stranger = actor === 'premium' ? PEOPLE.endless.id : PEOPLE.premium.id;

  test(isPaid(actor) ? 'writes documents' : 'writes no document', async () => {
    expect(await insertDocument(actor, own)).toBe(isPaid(actor) ? 1 : REFUSED);
    const update = await runAs(db.database, actor, `update documents set title = 'x' where user_id = $1`, [own]);
    if (actor === 'guest') expect(update).toBe(REFUSED);
    // A row that the policy hides from an update is no error.
    else expect(update).toBe(isPaid(actor) ? 2 : 0);
  });

  test(isPaid(actor) ? 'makes links' : 'makes no link', async () => {
    expect(await insertLink(actor, own)).toBe(isPaid(actor) ? 1 : REFUSED);
  });

  test(actor === 'guest' ? 'reads nothing' : 'reads and deletes own documents and links, on every plan', async () => {
    const isRefused = actor === 'guest';
    expect(await runAs(db.database, actor, 'select id from document_links')).toBe(isRefused ? REFUSED : 1);
    expect(await runAs(db.database, actor, 'select id from documents')).toBe(isRefused ? REFUSED : 1);
    expect(await runAs(db.database, actor, 'delete from document_links')).toBe(isRefused ? REFUSED : 1);
    expect(await runAs(db.database, actor, 'delete from documents')).toBe(isRefused ? REFUSED : 1);
    const { rows } = await db.admin.query('select from documents');
    expect(rows).toHaveLength(PERSON_NAMES.length - (isRefused ? 0 : 1));
  });

  test("touches none of another user's", async () => {
    expect(await insertDocument(actor, stranger)).toBe(REFUSED);
    expect(await insertLink(actor, stranger)).toBe(REFUSED);
    const none = actor === 'guest' ? REFUSED : 0;
    for (const text of [
      'select id from documents where user_id = $1',
      'select id from document_links where user_id = $1',
      `update documents set title = 'x' where user_id = $1`,
      'delete from documents where user_id = $1',
      'delete from document_links where user_id = $1',
    ]) {
      expect(await runAs(db.database, actor, text, [stranger]), text).toBe(none);
    }
  });

  test('never reads the hash of a token', async () => {
    expect(await runAs(db.database, actor, 'select token_hash from document_links')).toBe(REFUSED);
    expect(await runAs(db.database, actor, 'select id from document_links where token_hash is not null')).toBe(REFUSED);
  });
});

describe('a document', () => {
  const { id } = PEOPLE.premium;

  test('gets a higher revision with each change, whatever the client sends', async () => {
    const save = (based: number) =>
      runAs(db.database, 'premium', `update documents set content = '{"a":1}' where user_id = $1 and revision = $2`, [
        id,
        based,
      ]);
    expect(await save(1)).toBe(1);
    // The second device is based on the first revision.
    expect(await save(1)).toBe(0);
    expect(await save(2)).toBe(1);
  });

  test('has at most the length of the product', async () => {
    expect(await insertDocument('premium', id, 'x'.repeat(TITLE_MAX_LENGTH))).toBe(1);
    expect(await insertDocument('premium', id, 'x'.repeat(TITLE_MAX_LENGTH + 1))).toBe(CHECK_VIOLATION);
    expect(await insertDocument('premium', id, '', 'x'.repeat(DOCUMENT_MAX_BYTES))).toBe(1);
    expect(await insertDocument('premium', id, '', 'x'.repeat(DOCUMENT_MAX_BYTES + 1))).toBe(CHECK_VIOLATION);
  });

  test('has a period that does not end before it begins', async () => {
    const text = `update documents set last_day = '2025-01-01' where user_id = $1`;
    expect(await runAs(db.database, 'premium', text, [id])).toBe(CHECK_VIOLATION);
  });

  test('is one of a limited number', async () => {
    for (let count = 1; count < MAX_DOCUMENTS; count += 1) expect(await insertDocument('premium', id)).toBe(1);
    expect(await insertDocument('premium', id)).toBe(LIMIT_EXCEEDED);
    expect(await insertDocument('endless', PEOPLE.endless.id)).toBe(1);
  });
});

test.each([
  [
    'documents',
    MAX_DOCUMENTS,
    `insert into documents (user_id, title, first_day, last_day, content)
     select $1, 'Q3', '2026-07-01', '2026-09-30', '{}' from generate_series(1, $2)`,
  ],
  [
    'links',
    MAX_LINKS,
    `insert into document_links (user_id, document_id, token_hash, expires_at)
     select $1, '${DOCUMENT}', sha256(convert_to(number::text, 'UTF8')), now() + interval '7 days'
       from generate_series(1, $2) as number`,
  ],
])('requests at once store no more %s than the limit', async (what, limit, text) => {
  const { id } = PEOPLE.premium;
  const other = await db.admin.connect();
  try {
    await other.query('begin');
    // With the row of `seed`, the last one that may be stored.
    await other.query(text, [id, limit - 1]);
    let hasEnded = false;
    const late = (what === 'links' ? insertLink('premium', id) : insertDocument('premium', id)).finally(() => {
      hasEnded = true;
    });
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => hasEnded || (await db.admin.query(waiting)).rowCount! > 0).toBe(true);
    await other.query('commit');
    expect(await late).toBe(LIMIT_EXCEEDED);
  } finally {
    other.release();
  }
});

describe('a link', () => {
  const { id } = PEOPLE.premium;
  const linksOf = async () => (await db.admin.query('select from document_links where user_id = $1', [id])).rows.length;

  test('ends within 90 days', async () => {
    expect(await insertLink('premium', id, DOCUMENT, 24 * 90)).toBe(1);
    expect(await insertLink('premium', id, DOCUMENT, 24 * 91)).toBe(CHECK_VIOLATION);
  });

  test('points to exactly one document or review of its owner', async () => {
    expect(await insertLink('premium', id, null)).toBe(CHECK_VIOLATION);
    expect(await insertLink('premium', id, randomUUID())).toBe(FOREIGN_KEY_VIOLATION);
    const other = randomUUID();
    await insertDocument('endless', PEOPLE.endless.id, 'Theirs', '{}', other);
    expect(await insertLink('premium', id, other)).toBe(FOREIGN_KEY_VIOLATION);
  });

  test('ends with its document and with the account', async () => {
    await runAs(db.database, 'premium', 'delete from documents where user_id = $1', [id]);
    expect(await linksOf()).toBe(0);
    await db.admin.query('delete from auth.users where id = $1', [PEOPLE.endless.id]);
    const { rows } = await db.admin.query('select user_id from document_links union select user_id from documents');
    expect(rows.map(({ user_id }: { user_id: string }) => user_id)).not.toContain(PEOPLE.endless.id);
  });

  test('is one of a limited number of links that live', async () => {
    for (let count = 1; count < MAX_LINKS; count += 1) expect(await insertLink('premium', id)).toBe(1);
    expect(await insertLink('premium', id)).toBe(LIMIT_EXCEEDED);
    await db.admin.query(`update document_links set expires_at = now() where user_id = $1`, [id]);
    expect(await insertLink('premium', id)).toBe(1);
  });

  test('has a token whose hash no other link has', async () => {
    const text = `insert into document_links (user_id, document_id, token_hash, expires_at) values ($1, $2, $3, now())`;
    expect(await runAs(db.database, 'premium', text, [id, DOCUMENT, hashOf('free')])).toBe('23505');
    expect(await runAs(db.database, 'premium', text, [id, DOCUMENT, Buffer.from('short')])).toBe(CHECK_VIOLATION);
  });
});
