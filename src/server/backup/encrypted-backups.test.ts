/** Backups that are encrypted with age. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { beforeAll, expect, test } from 'vitest';
import { setUpBackups, USERS, withClient } from '../../../tests/support/commands/backups.ts';
import { runRestore } from './restore-command.ts';

const world = setUpBackups();

let identityFile: string;
let otherIdentityFile: string;
let recipient: string;
let file: string;
beforeAll(async () => {
  const identity = await generateIdentity();
  recipient = await identityToRecipient(identity);
  identityFile = join(world.folder, 'identity.txt');
  otherIdentityFile = join(world.folder, 'other.txt');
  await writeFile(identityFile, `# created: today\n${identity}\n`);
  await writeFile(otherIdentityFile, await generateIdentity());
  file = await world.backUp({
    DATABASE_URL: world.source.url,
    DATA_DIR: world.folder,
    BACKUP_AGE_RECIPIENT: recipient,
  });
});

test('encryption hides the content, and the private key opens it', async () => {
  expect(await readFile(file, 'latin1')).toMatch(/^age-encryption\.org\/v1\n/);
  const checked = await runRestore([file, '--check', '--identity', identityFile], world.deps({}));
  expect(checked).toContain('The backup is whole');
  await world.withOrdinaryOwner(async (url) => {
    await runRestore(
      [file, '--identity', identityFile],
      world.deps({ DATABASE_URL: url, DATA_DIR: await world.newDataDir() }),
    );
    const rows = await withClient(url, (client) => client.query('select from auth.users'));
    expect(rows.rowCount).toBeGreaterThanOrEqual(USERS);
  });
});

test('a restore is refused with another key, without a key, and with a file that is no key', async () => {
  const restore = (...args: string[]) => runRestore([file, ...args], world.deps({ DATA_DIR: world.folder }));
  await expect(restore('--identity', otherIdentityFile)).rejects.toThrow(
    `${file}: no key in ${otherIdentityFile} opens it: it was encrypted to another key`,
  );
  await expect(restore()).rejects.toThrow('it is encrypted: name the private key with --identity FILE');
  await expect(restore('--identity', file)).rejects.toThrow('is itself encrypted');
  const plain = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder });
  await expect(runRestore([plain, '--identity', identityFile], world.deps({ DATA_DIR: world.folder }))).rejects.toThrow(
    'it is not encrypted: if that is what you expect, leave --identity out',
  );
  await writeFile(join(world.folder, 'words.txt'), 'correct horse');
  await expect(restore('--identity', join(world.folder, 'words.txt'))).rejects.toThrow(
    /^(?!.*horse).*holds no private age key/,
  );
  await expect(restore('--identity', join(world.folder, 'none.txt'))).rejects.toThrow('cannot be read (ENOENT)');
});

test('a backup is refused to a recipient that is no public key, and a private key is not repeated', async () => {
  const withRecipient = (key: string) =>
    world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder }, '--recipient', key);
  await expect(withRecipient('age1nonsense')).rejects.toThrow('"age1nonsense" is no public age key');
  await expect(withRecipient((await readFile(identityFile, 'utf8')).split('\n')[1]!)).rejects.toThrow(
    /^(?!.*SECRET).*is a private key/,
  );
});

test('--check detects damage without the private key by the summary', async () => {
  expect(await runRestore([file, '--check'], world.deps({}))).toContain('The file is as it was written');
  const copy = world.newFile();
  const bytes = await readFile(file);
  bytes[bytes.length - 100]! ^= 1;
  await writeFile(copy, bytes);
  await writeFile(`${copy}.json`, await readFile(`${file}.json`));
  await expect(runRestore([copy, '--check'], world.deps({}))).rejects.toThrow('it was changed or is damaged');
  await expect(runRestore([copy, '--check', '--identity', identityFile], world.deps({}))).rejects.toThrow(
    `${copy}: it is damaged or was cut off`,
  );
});
