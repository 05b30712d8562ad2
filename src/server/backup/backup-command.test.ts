import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { setUpBackups } from '../../../tests/support/commands/backups.ts';
import { runBackup } from './backup-command.ts';
import { UsageError } from './archive-format.ts';

const world = setUpBackups();

describe('a backup file', () => {
  test('is not readable by others, has a summary beside it, and the newest of a folder are kept', async () => {
    const dir = join(world.folder, 'kept');
    const env = { DATABASE_URL: world.source.url, DATA_DIR: world.folder, BACKUP_DIR: dir, BACKUP_KEEP: '2' };
    for (const minute of [1, 2, 3]) {
      await runBackup([], { ...world.deps(env), now: () => new Date(Date.UTC(2026, 10, 23, 6, minute)) });
    }
    const [two, three] = ['hustle-forge-20261123T060200Z.tar.zst', 'hustle-forge-20261123T060300Z.tar.zst'];
    expect(await readdir(dir)).toEqual([two, `${two}.json`, three, `${three}.json`]);
    expect((await stat(join(dir, three))).mode & 0o777).toBe(0o600);
    const summary = JSON.parse(await readFile(join(dir, `${three}.json`), 'utf8')) as object;
    expect(summary).toMatchObject({ encrypted: false, bytes: (await stat(join(dir, three))).size });
    expect(world.warnings.join('\n')).toContain('not encrypted');
  });

  test('that exists is never overwritten', async () => {
    const file = world.newFile();
    await writeFile(file, 'precious');
    await expect(
      runBackup([file], world.deps({ DATABASE_URL: world.source.url, DATA_DIR: world.folder })),
    ).rejects.toThrow('exists already');
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('does not appear when the database is lost on the way, or after Ctrl-C', async () => {
    const env = { DATABASE_URL: world.source.url, DATA_DIR: world.folder };
    const dir = await world.newDataDir();
    const file = join(dir, 'interrupted.tar.zst');
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'hustle-forge-backup'`;
    const lost = world.deps(env);
    let isLost = false;
    lost.onProgress = () => {
      if (!isLost) void world.source.admin.query(end);
      isLost = true;
    };
    await withManyRows(async () => {
      await expect(runBackup([file], lost)).rejects.toThrow(/terminat/i);
      const interrupt = new AbortController();
      const interrupted = world.deps(env, interrupt.signal);
      interrupted.onProgress = () => interrupt.abort(new Error('interrupted'));
      await expect(runBackup([file], interrupted)).rejects.toThrow('interrupted');
    });
    expect(await readdir(dir)).toEqual([]);
  });

  test('needs a database, and the key that a setting names', async () => {
    await expect(runBackup([world.newFile()], world.deps({ DATA_DIR: await world.newDataDir() }))).rejects.toThrow(
      'there is no database',
    );
    const env = {
      DATABASE_URL: world.source.url,
      DATA_DIR: world.folder,
      AUTH_SIGNING_KEY_FILE: join(world.folder, 'missing.json'),
    };
    await expect(runBackup([world.newFile()], world.deps(env))).rejects.toThrow('AUTH_SIGNING_KEY_FILE names');
    await world.withOrdinaryOwner(async (url) => {
      await expect(world.backUp({ DATABASE_URL: url, DATA_DIR: world.folder })).rejects.toThrow(
        'there is nothing to back up',
      );
    });
  });
});

/** Runs `work` with enough rows that the COPY of one table takes several reads of the socket, and can be interrupted. */
async function withManyRows(work: () => Promise<void>): Promise<void> {
  const filler =
    "insert into auth.audit_log (actor, event) select 'job', repeat('x', 1000) from generate_series(1, 20000)";
  await world.source.admin.query('begin; alter table auth.audit_log disable trigger user; commit');
  try {
    await world.source.admin.query(filler);
    await work();
  } finally {
    await world.source.admin.query("delete from auth.audit_log where actor = 'job'");
    await world.source.admin.query('alter table auth.audit_log enable trigger user');
  }
}

test('--keep 0 is wrong usage', async () => {
  await expect(runBackup(['--keep', '0'], world.deps({ DATA_DIR: world.folder }))).rejects.toThrow(UsageError);
});
