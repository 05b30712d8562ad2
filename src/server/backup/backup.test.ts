/**
 * Backs up and restores with the commands of the operator. The chain of the first test passes an external database, an
 * embedded one, and an external one whose owner is subject to row-level security.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeSchema } from '../../../database/describe-schema.ts';
import { withOrdinaryOwner as withOwner } from '../../../tests/support/ordinary-owner.ts';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import type { TestDatabase } from '../../../tests/support/test-database.ts';
import { openEmbeddedServer } from '../database/embedded/server.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { MIGRATIONS, readMigrations } from '../database/migrations/migration-files.ts';
import { createLog } from '../log.ts';
import { FORMAT_VERSION } from './archive/archive-format.ts';
import type { Header, Manifest } from './archive/archive-format.ts';
import { readArchive, verifyArchive } from './archive/read-archive.ts';
import { writeArchive } from './archive/write-archive.ts';
import { runBackup } from './backup-command.ts';
import { UsageError } from './backup-error.ts';
import type { CommandDeps } from './command-line.ts';
import { planKeyFiles } from './key-files.ts';
import { runRestore } from './restore-command.ts';

const log = createLog('silent');
const KEY = '{"kty":"EC"}\n';
const USERS = 40;

let source: TestDatabase;
let folder: string;
let warnings: string[] = [];

beforeAll(async () => {
  source = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backup-'));
  await source.admin.query(
    "insert into auth.users (email) select n || '@example.com' from generate_series(1, $1::int) n",
    [USERS],
  );
  // Every kind of byte that COPY escapes, a sequence ahead of its rows, and a fact that triggers would change.
  await source.admin.query(
    `insert into entries (user_id, date, content)
       select id, '2026-11-11', E'<p>tab\\t back\\\\slash\\r\\n end \\\\. ü 💪 ' || email || '</p>' from auth.users`,
  );
  await source.admin.query('update entries set revision = 7, updated_at = $1', ['2026-01-01T00:00:00.123456Z']);
  await source.admin.query("insert into auth.audit_log (actor, event) values ('operator', 'one'), ('operator', 'two')");
  await source.admin.query(
    "insert into payments (user_id, amount_minor, currency) select id, 2400, 'USD' from auth.users",
  );
});
afterAll(async () => {
  await source.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  warnings = [];
});

const deps = (env: Record<string, string>, signal = new AbortController().signal): CommandDeps => ({
  env: { NODE_ENV: 'test', ...env },
  now: () => new Date('2026-11-23T06:30:00Z'),
  signal,
  onProgress: () => undefined,
  warn: (line) => warnings.push(line),
  log,
});

async function newDataDir(): Promise<string> {
  return mkdtemp(join(folder, 'data-'));
}

const newFile = (): string => join(folder, `${randomBytes(6).toString('hex')}.tar.zst`);

async function backUp(env: Record<string, string>, ...args: string[]): Promise<string> {
  const file = newFile();
  await runBackup([file, ...args], deps(env));
  return file;
}

async function manifestOf(file: string): Promise<Manifest> {
  return (await verifyArchive({ file, identities: null })).manifest;
}

const withOrdinaryOwner = <T>(work: (url: string, owner: string) => Promise<T>): Promise<T> => withOwner(source, work);

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test('a backup during writes has the same content in an embedded and then in an external database', async () => {
  const sourceDir = await newDataDir();
  await writeFile(join(sourceDir, 'signing-key.json'), KEY, { mode: 0o600 });
  const writing = new AbortController();
  let written = 0;
  const writer = withClient(source.url, async (client) => {
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
  const during = await backUp({ DATABASE_URL: source.url, DATA_DIR: sourceDir });
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

  const dataDir = await newDataDir();
  await runRestore([during], deps({ DATA_DIR: dataDir }));
  expect(await readFile(join(dataDir, 'signing-key.json'), 'utf8')).toBe(KEY);
  expect((await stat(join(dataDir, 'signing-key.json'))).mode & 0o777).toBe(0o600);
  const embedded = await backUp({ DATA_DIR: dataDir });
  expect(await manifestOf(embedded)).toEqual({ ...manifest, header: expect.any(String) as string });

  await withOrdinaryOwner(async (url, owner) => {
    const lastDir = await newDataDir();
    await runRestore([embedded], deps({ DATABASE_URL: url, DATA_DIR: lastDir }));
    const external = await backUp({ DATABASE_URL: url, DATA_DIR: lastDir });
    expect(await manifestOf(external)).toEqual({ ...manifest, header: expect.any(String) as string });

    await withClient(url, async (client) => {
      // To load the rows, the restore drops indexes and foreign keys, disables triggers and stops forcing row-level
      // security. Afterwards the schema must be the same as before.
      const restored = (await describeSchema(url)).replaceAll(owner, 'hustle_forge');
      expect(restored).toBe(await readFile(join(import.meta.dirname, '../../../database/schema.sql'), 'utf8'));
      const next = "insert into auth.audit_log (actor, event) values ('operator', 'three') returning id";
      const { rows } = await withClient(source.url, (admin) => admin.query<{ id: string }>(next));
      expect((await client.query(next)).rows).toEqual(rows);
    });
  });
});

describe('a backup file', () => {
  test('is not readable by others, has a summary beside it, and the newest of a folder are kept', async () => {
    const dir = join(folder, 'kept');
    const env = { DATABASE_URL: source.url, DATA_DIR: folder, BACKUP_DIR: dir, BACKUP_KEEP: '2' };
    for (const minute of [1, 2, 3]) {
      await runBackup([], { ...deps(env), now: () => new Date(Date.UTC(2026, 10, 23, 6, minute)) });
    }
    const [two, three] = ['hustle-forge-20261123T060200Z.tar.zst', 'hustle-forge-20261123T060300Z.tar.zst'];
    expect(await readdir(dir)).toEqual([two, `${two}.json`, three, `${three}.json`]);
    expect((await stat(join(dir, three))).mode & 0o777).toBe(0o600);
    const summary = JSON.parse(await readFile(join(dir, `${three}.json`), 'utf8')) as object;
    expect(summary).toMatchObject({ encrypted: false, bytes: (await stat(join(dir, three))).size });
    expect(warnings.join('\n')).toContain('not encrypted');
  });

  test('that exists is never overwritten', async () => {
    const file = newFile();
    await writeFile(file, 'precious');
    await expect(runBackup([file], deps({ DATABASE_URL: source.url, DATA_DIR: folder }))).rejects.toThrow(
      'exists already',
    );
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('does not appear when the database is lost on the way, or after Ctrl-C', async () => {
    const env = { DATABASE_URL: source.url, DATA_DIR: folder };
    const dir = await newDataDir();
    const file = join(dir, 'interrupted.tar.zst');
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hustle-forge-backup'`;
    const lost = deps(env);
    let isLost = false;
    lost.onProgress = () => {
      if (!isLost) void source.admin.query(end);
      isLost = true;
    };
    await withManyRows(async () => {
      await expect(runBackup([file], lost)).rejects.toThrow(/terminat/i);
      const interrupt = new AbortController();
      const interrupted = deps(env, interrupt.signal);
      interrupted.onProgress = () => interrupt.abort(new Error('interrupted'));
      await expect(runBackup([file], interrupted)).rejects.toThrow('interrupted');
    });
    expect(await readdir(dir)).toEqual([]);
  });

  test('needs a database, and the key that a setting names', async () => {
    await expect(runBackup([newFile()], deps({ DATA_DIR: await newDataDir() }))).rejects.toThrow(
      'there is no database',
    );
    const env = { DATABASE_URL: source.url, DATA_DIR: folder, AUTH_SIGNING_KEY_FILE: join(folder, 'missing.json') };
    await expect(runBackup([newFile()], deps(env))).rejects.toThrow('AUTH_SIGNING_KEY_FILE names');
    await withOrdinaryOwner(async (url) => {
      await expect(backUp({ DATABASE_URL: url, DATA_DIR: folder })).rejects.toThrow('there is nothing to back up');
    });
  });
});

/** Enough rows that the COPY of one table needs several reads of the socket. */
async function withManyRows(work: () => Promise<void>): Promise<void> {
  const filler =
    "insert into auth.audit_log (actor, event) select 'job', repeat('x', 1000) from generate_series(1, 20000)";
  await source.admin.query('begin; alter table auth.audit_log disable trigger user; commit');
  try {
    await source.admin.query(filler);
    await work();
  } finally {
    await source.admin.query("delete from auth.audit_log where actor = 'job'");
    await source.admin.query('alter table auth.audit_log enable trigger user');
  }
}

describe('encryption with age', () => {
  let identityFile: string;
  let otherIdentityFile: string;
  let recipient: string;
  let file: string;
  beforeAll(async () => {
    const identity = await generateIdentity();
    recipient = await identityToRecipient(identity);
    identityFile = join(folder, 'identity.txt');
    otherIdentityFile = join(folder, 'other.txt');
    await writeFile(identityFile, `# created: today\n${identity}\n`);
    await writeFile(otherIdentityFile, await generateIdentity());
    file = await backUp({ DATABASE_URL: source.url, DATA_DIR: folder, BACKUP_AGE_RECIPIENT: recipient });
  });

  test('hides the content, and the private key opens it', async () => {
    expect(await readFile(file, 'latin1')).toMatch(/^age-encryption\.org\/v1\n/);
    const checked = await runRestore([file, '--check', '--identity', identityFile], deps({}));
    expect(checked).toContain('The backup is whole');
    await withOrdinaryOwner(async (url) => {
      await runRestore([file, '--identity', identityFile], deps({ DATABASE_URL: url, DATA_DIR: await newDataDir() }));
      const rows = await withClient(url, (client) => client.query('select from auth.users'));
      expect(rows.rowCount).toBeGreaterThanOrEqual(USERS);
    });
  });

  test('is refused with another key, without a key, and with a file that is no key', async () => {
    const restore = (...args: string[]) => runRestore([file, ...args], deps({ DATA_DIR: folder }));
    await expect(restore('--identity', otherIdentityFile)).rejects.toThrow(
      `${file}: no key in ${otherIdentityFile} opens it: it was encrypted to another key`,
    );
    await expect(restore()).rejects.toThrow('it is encrypted: name the private key with --identity FILE');
    await expect(restore('--identity', file)).rejects.toThrow('is itself encrypted');
    const plain = await backUp({ DATABASE_URL: source.url, DATA_DIR: folder });
    await expect(runRestore([plain, '--identity', identityFile], deps({ DATA_DIR: folder }))).rejects.toThrow(
      'it is not encrypted: if that is what you expect, leave --identity out',
    );
    await writeFile(join(folder, 'words.txt'), 'correct horse');
    await expect(restore('--identity', join(folder, 'words.txt'))).rejects.toThrow(
      /^(?!.*horse).*holds no private age key/,
    );
    await expect(restore('--identity', join(folder, 'none.txt'))).rejects.toThrow('cannot be read (ENOENT)');
  });

  test('is refused to a recipient that is no public key, and a private key is not repeated', async () => {
    const withRecipient = (key: string) => backUp({ DATABASE_URL: source.url, DATA_DIR: folder }, '--recipient', key);
    await expect(withRecipient('age1nonsense')).rejects.toThrow('"age1nonsense" is no public age key');
    await expect(withRecipient((await readFile(identityFile, 'utf8')).split('\n')[1]!)).rejects.toThrow(
      /^(?!.*SECRET).*is a private key/,
    );
  });

  test('detects damage without the private key by the summary', async () => {
    expect(await runRestore([file, '--check'], deps({}))).toContain('The file is as it was written');
    const copy = newFile();
    const bytes = await readFile(file);
    bytes[bytes.length - 100]! ^= 1;
    await writeFile(copy, bytes);
    await writeFile(`${copy}.json`, await readFile(`${file}.json`));
    await expect(runRestore([copy, '--check'], deps({}))).rejects.toThrow('it was changed or is damaged');
    await expect(runRestore([copy, '--check', '--identity', identityFile], deps({}))).rejects.toThrow(
      `${copy}: it is damaged or was cut off`,
    );
  });
});

/** The migrations of an earlier release: all of `auth`, and those of `app` up to a number. */
async function oldMigrations(last: number): Promise<URL> {
  const copy = pathToFileURL(`${await mkdtemp(join(folder, 'migrations-'))}/`);
  await cp(MIGRATIONS, copy, {
    recursive: true,
    filter: (path) => !(Number(/app\/(\d{4})_/.exec(path)?.[1]) > last),
  });
  return copy;
}

describe('a restore', () => {
  let file: string;
  beforeAll(async () => {
    file = await backUp({ DATABASE_URL: source.url, DATA_DIR: folder });
  });

  const damage: readonly (readonly [what: string, (file: string) => Promise<unknown>, fault: string])[] = [
    ['that was cut off', async (copy) => truncate(copy, (await stat(copy)).size - 100), 'it is damaged or was cut off'],
    ['that was cut in half', async (copy) => truncate(copy, 5_000), 'it is damaged or was cut off'],
    ['that is empty', (copy) => truncate(copy, 0), 'it is no backup of Hustle Forge'],
    [
      'of pg_dump',
      (copy) => writeFile(copy, 'PGDMP\u0001'),
      'it is no backup of Hustle Forge but an archive of pg_dump: restore it with pg_restore',
    ],
    ['of words', (copy) => writeFile(copy, 'Dear operator'), 'it is no backup of Hustle Forge'],
  ];
  test.each(damage)('of a file %s is refused', async (_what, change, fault) => {
    const copy = newFile();
    await writeFile(copy, await readFile(file));
    await change(copy);
    const dataDir = join(folder, randomBytes(6).toString('hex'));
    const failure = await runRestore([copy], deps({ DATA_DIR: dataDir })).catch((error: Error) => error.message);
    expect(failure).toBe(`${copy}: ${fault}`);
    expect(existsSync(dataDir)).toBe(false);
  });

  /** Writes an archive again with other parts, as somebody with the right tools would. */
  async function rewrite(change: (name: string, data: Buffer) => Buffer | null): Promise<string> {
    const copy = newFile();
    async function* entries() {
      for await (const entry of readArchive({ file, identities: null })) {
        const name =
          entry.kind === 'data'
            ? `data/${entry.table}/00000001.copy`
            : entry.kind === 'file'
              ? `files/${entry.name}`
              : `${entry.kind}.json`;
        const data = change(name, entry.data);
        if (data !== null) yield { name, data };
      }
    }
    await writeArchive(copy, { entries: entries(), recipients: [], createdAt: new Date(0) });
    return copy;
  }

  test.each([
    [
      'a changed row',
      (name: string, data: Buffer) =>
        name.includes('entries') ? Buffer.from(data.toString().replace('back', 'BACK')) : data,
      'it was changed or is damaged: public.entries',
    ],
    [
      'a missing table',
      (name: string, data: Buffer) => (name.includes('auth.users') ? null : data),
      'damaged: auth.users',
    ],
    [
      'a changed header',
      (name: string, data: Buffer) =>
        name === 'header.json' ? Buffer.from(data.toString().replace('18.', '17.')) : data,
      'damaged',
    ],
    [
      'a part that ends within a row',
      (name: string, data: Buffer) => (name.includes('auth.users') ? data.subarray(0, -1) : data),
      'ends within a row',
    ],
    [
      'a header of many megabytes',
      (name: string, data: Buffer) =>
        name === 'header.json' ? Buffer.concat([data, Buffer.alloc(17 * 1024 * 1024, ' ')]) : data,
      'too large',
    ],
    ['no manifest', (name: string, data: Buffer) => (name === 'manifest.json' ? null : data), 'it was cut off'],
  ])('of an archive with %s is refused', async (_what, change, fault) => {
    await expect(runRestore([await rewrite(change)], deps({ DATA_DIR: folder }))).rejects.toThrow(fault);
  });

  async function archiveWith(change: (header: Header) => void): Promise<string> {
    const { header, manifest } = await verifyArchive({ file, identities: null });
    change(header);
    const text = JSON.stringify(header);
    manifest.header = createHash('sha256').update(text).digest('hex');
    return rewrite((name, data) =>
      name === 'header.json'
        ? Buffer.from(text)
        : name === 'manifest.json'
          ? Buffer.from(JSON.stringify(manifest))
          : data,
    );
  }

  test.each([
    ['a newer format', (header: Header) => void (header.version += 1), `has format ${FORMAT_VERSION + 1}`],
    [
      'another format',
      (header: Header) => void (header.format = 'tar' as Header['format']),
      'is no backup of Hustle Forge',
    ],
    [
      'a newer migration',
      (header: Header) => {
        header.program = '9.1.0';
        header.migrations.push({
          set: 'app',
          number: 9999,
          name: 'from_the_future',
          checksum: 'x',
          appliedAt: '2026-01-01',
        });
      },
      'it has app/9999_from_the_future. Restore it with version 9.1.0 or a newer one',
    ],
    [
      'another migration',
      (header: Header) => void (header.migrations[0]!.checksum = 'x'),
      'with another app/0001_profiles',
    ],
  ])('of an archive with %s is refused', async (_what, change, fault) => {
    const copy = await archiveWith(change);
    await withOrdinaryOwner(async (url) => {
      const env = { DATABASE_URL: url, DATA_DIR: await newDataDir() };
      await expect(runRestore([copy], deps(env))).rejects.toThrow(fault);
      expect(
        (await withClient(url, (client) => client.query("select from pg_class where relname = 'users'"))).rows,
      ).toEqual([]);
    });
  });

  test('prints no control sequence of an archive to the terminal', async () => {
    const title = '\u001b]0;title\u0007';
    const newer = await archiveWith((header) => Object.assign(header, { version: FORMAT_VERSION + 1, program: title }));
    const whole = await archiveWith((header) => Object.assign(header, { program: title }));
    const program = join(import.meta.dirname, 'restore-command.ts');
    const outputs = await Promise.all(
      [newer, whole].map((copy) => {
        const child = spawn(process.execPath, [program, copy, '--check'], {
          env: {},
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        return Promise.all([readText(child.stdout), readText(child.stderr)]);
      }),
    );
    expect(outputs).toEqual([
      ['', expect.stringContaining('(?]0;title?)')],
      [expect.stringContaining('version ?]0;title? from'), ''],
    ]);
  });

  test('of an older backup with a table of somebody else runs the newer migrations and names the table', async () => {
    const oldRelease = await oldMigrations(22);
    const older = await withOrdinaryOwner(async (url) => {
      const env = { DATABASE_URL: url, DATA_DIR: await newDataDir() };
      await migrate(url, log, { folder: oldRelease });
      await withClient(url, (client) =>
        client.query("create table stray (id integer); insert into auth.users (email) values ('old@example.com')"),
      );
      await rm(await backUp(env));
      expect(warnings.join('\n')).toContain('public.stray is not in the backup');
      await withClient(url, (client) => client.query('grant select on stray to service_role'));
      return backUp(env);
    });
    await withOrdinaryOwner(async (url) => {
      await runRestore([older], deps({ DATABASE_URL: url, DATA_DIR: await newDataDir() }));
      expect(warnings.join('\n')).toContain('public.stray was left out');
      const { rows } = await withClient(url, (client) =>
        client.query<{ number: number }>("select number from migrations.applied where set = 'app'"),
      );
      // The other phases follow while a server runs.
      const expansions = (await readMigrations()).filter(({ set, phase }) => set === 'app' && phase === 'expand');
      expect(expansions.length).toBeGreaterThan(22);
      expect(rows.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual(
        expansions.map(({ number }) => number),
      );
      const users = await withClient(url, (client) => client.query('select email from auth.users'));
      expect(users.rows).toEqual([{ email: 'old@example.com' }]);
    });
  });

  test('into a database with data, or one that a server uses, is refused and changes nothing', async () => {
    await withOrdinaryOwner(async (url) => {
      const env = { DATABASE_URL: url, DATA_DIR: await newDataDir() };
      await runRestore([file], deps(env));
      await expect(runRestore([file], deps(env))).rejects.toThrow(/the database is not empty .*use --replace/);
      await withClient(url, (client) => client.query("insert into auth.users (email) values ('new@example.com')"));
      await withClient(`${url}&application_name=hustle-forge`, async () => {
        await expect(runRestore([file, '--replace'], deps(env))).rejects.toThrow('a server uses the database');
      });
      const count = async () => (await withClient(url, (client) => client.query('select from auth.users'))).rowCount!;
      const before = await count();
      const interrupt = new AbortController();
      const interrupted = deps(env, interrupt.signal);
      interrupted.onProgress = ({ doing }) =>
        doing.startsWith('comparing') && interrupt.abort(new Error('interrupted'));
      await expect(runRestore([file, '--replace'], interrupted)).rejects.toThrow('interrupted');
      expect(await count()).toBe(before);
      await runRestore([file, '--replace'], deps(env));
      expect(await count()).toBe(before - 1);
    });
  });

  test('beside a running embedded server is refused', async () => {
    const dataDir = await newDataDir();
    const server = await openEmbeddedServer({ dataDir, log, settings: { fsync: 'off' } });
    await expect(runRestore([file], deps({ DATA_DIR: dataDir }))).rejects.toThrow('is already running');
    await server.close();
  });

  test('never overwrites another signing key unless told, and then keeps it', async () => {
    const dataDir = await newDataDir();
    const config = { dataDir, auth: { signingKeyFile: null, samlKeyFile: null } };
    const plan = (replace: boolean, content = KEY) =>
      planKeyFiles(new Map([['signing-key.json', Buffer.from(content)]]), config, {
        replace,
        now: new Date(0),
        hasStoredKeys: false,
      });
    const name = join(dataDir, 'signing-key.json');
    await writeFile(name, 'another');
    await expect(plan(false)).rejects.toThrow(`${name} holds another key than the backup`);
    const discarded = await plan(true);
    await discarded.stage();
    await discarded.discard();
    expect(await readdir(dataDir)).toEqual(['signing-key.json']);
    const placement = await plan(true);
    await placement.stage();
    expect(await readFile(name, 'utf8')).toBe('another');
    expect(await placement.place()).toEqual([{ file: name, setting: null }]);
    const kept = `signing-key.json.before-restore-${placement.restoreId}`;
    expect(kept).toContain('before-restore-19700101T000000Z-');
    expect(await readdir(dataDir)).toEqual(['signing-key.json', kept]);
    expect(await readFile(name, 'utf8')).toBe(KEY);
    expect(await readFile(join(dataDir, kept), 'utf8')).toBe('another');
    // The same key again is no change.
    expect(await (await plan(false)).place()).toEqual([]);
  });
});

test.each([
  ['no file', runRestore, []],
  ['two files', runRestore, ['a', 'b']],
  ['an unknown option', runRestore, ['a', '--force']],
  ['a number of zero', runBackup, ['--keep', '0']],
] as const)('%s is wrong usage', async (_what, run, args) => {
  await expect(run(args, deps({ DATA_DIR: folder }))).rejects.toThrow(UsageError);
});
