/**
 * Backs up and restores with the commands of the operator: from an external database to an embedded one, and from there
 * to an external one whose owner is subject to row-level security.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSchema } from '../../../database/describe-schema.ts';
import { setUpBackups, USERS, withClient } from '../../../tests/support/commands/backups.ts';
import type { Manifest } from './archive-format.ts';
import { verifyArchive } from './read-archive.ts';
import { runRestore } from './restore-command.ts';

const world = setUpBackups();

const KEY = '{"kty":"EC"}\n';

async function manifestOf(file: string): Promise<Manifest> {
  return (await verifyArchive({ file, identities: null })).manifest;
}

test('a backup during writes has the same content in an embedded and then in an external database', async () => {
  const sourceDir = await world.newDataDir();
  await writeFile(join(sourceDir, 'signing-key.json'), KEY, { mode: 0o600 });
  const writing = new AbortController();
  let written = 0;
  const writer = withClient(world.source.url, async (client) => {
    while (!writing.signal.aborted) {
      // One transaction, so a snapshot shows the user with the log, or neither.
      await client.query(
        `with one as (insert into auth.users (email) values ($1) returning id)
         insert into entries (user_id, date, content) select id, '2026-11-12', '<p>late</p>' from one`,
        [`late-${(written += 1)}@example.com`],
      );
    }
  });
  await expect.poll(() => written).toBeGreaterThan(3);
  const during = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: sourceDir });
  const writtenAtEnd = written;
  await expect.poll(() => written).toBeGreaterThan(writtenAtEnd);
  writing.abort();
  await writer;

  const { header, manifest, files } = await verifyArchive({ file: during, identities: null });
  const rowsOf = (name: string) => manifest.tables[name]!.rows;
  expect(rowsOf('public.entries')).toBeGreaterThan(USERS);
  expect(rowsOf('public.entries')).toBe(rowsOf('auth.users'));
  expect(rowsOf('public.profiles')).toBe(rowsOf('auth.users'));
  expect(header.tables.map(({ name }) => name)).not.toContain('auth.rate_limits');
  expect(files.get('signing-key.json')?.toString()).toBe(KEY);

  const dataDir = await world.newDataDir();
  await runRestore([during], world.deps({ DATA_DIR: dataDir }));
  expect(await readFile(join(dataDir, 'signing-key.json'), 'utf8')).toBe(KEY);
  expect((await stat(join(dataDir, 'signing-key.json'))).mode & 0o777).toBe(0o600);
  const embedded = await world.backUp({ DATA_DIR: dataDir });
  expect(await manifestOf(embedded)).toEqual({ ...manifest, header: expect.any(String) as string });

  await world.withOrdinaryOwner(async (url, owner) => {
    const lastDir = await world.newDataDir();
    await runRestore([embedded], world.deps({ DATABASE_URL: url, DATA_DIR: lastDir }));
    const external = await world.backUp({ DATABASE_URL: url, DATA_DIR: lastDir });
    expect(await manifestOf(external)).toEqual({ ...manifest, header: expect.any(String) as string });

    await withClient(url, async (client) => {
      // To load the rows, the restore drops indexes and foreign keys, disables triggers and stops forcing row-level
      // security. Afterwards the schema must be the same as before.
      const restored = (await describeSchema(url)).replaceAll(owner, 'hustle_forge');
      expect(restored).toBe(await describeSchema(world.source.url));
      const next = "insert into auth.audit_log (actor, event) values ('operator', 'three') returning id";
      const { rows } = await withClient(world.source.url, (admin) => admin.query<{ id: string }>(next));
      expect((await client.query(next)).rows).toEqual(rows);
    });
  });
});
