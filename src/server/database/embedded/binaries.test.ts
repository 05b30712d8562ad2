import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBinaries, findInstalled } from './binaries.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hustle-forge-programs-'));
});
afterEach(() => rm(root, { recursive: true }));

/** A program that prints a version, where Debian puts `postgres`. Returns its folder. */
async function install(major: number, printed: string, mode = 0o755): Promise<string> {
  const folder = join(root, 'postgresql', String(major), 'bin');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'postgres'), `#!/bin/sh\necho 'postgres (PostgreSQL) ${printed}'\n`);
  await chmod(join(folder, 'postgres'), mode);
  return folder;
}
const find = async (existing: number | null = null) => {
  const folders = [join(root, 'postgresql', '*', 'bin')];
  const { postgres, version } = await findBinaries(join(root, 'data'), null, existing, folders);
  return { folder: dirname(postgres), version };
};
/** The version of the npm package. */
const BUNDLED = 18;

describe('the programs of a new cluster', () => {
  test('come from an installed PostgreSQL if it is a newer minor release', async () => {
    const folder = await install(BUNDLED, `${BUNDLED}.99 (Debian ${BUNDLED}.99-1.pgdg12+1)`);
    expect(await find()).toEqual({ folder, version: `${BUNDLED}.99` });
  });

  test.each([
    ['is an older minor release', BUNDLED, `${BUNDLED}.0`],
    ['is of another major version', 19, '19.3'],
    ['is not released yet', BUNDLED, `${BUNDLED}beta1`],
  ])('come from the package if the installed one %s', async (_what, major, printed) => {
    await install(major, printed);
    expect((await find()).folder).not.toContain(root);
  });
});

describe('the programs of an existing cluster', () => {
  test('are of its major version', async () => {
    const folder = await install(17, '17.6 (Homebrew)');
    expect(await find(17)).toEqual({ folder, version: '17.6' });
  });

  test('are asked for if no PostgreSQL of its version is installed', async () => {
    await install(19, '19.3');
    await expect(find(17)).rejects.toThrow(
      /was created by PostgreSQL 17, but this program brings PostgreSQL 18\.\d+\. Install/,
    );
  });
});

test('the newest of the versions that have the built-in locale comes first', async () => {
  const newest = await install(19, '19.0');
  const older = await install(17, '17.10');
  await install(16, '16.14');
  const found = findInstalled([join(root, 'postgresql', '*', 'bin')], null, null);
  expect(found.map(({ folder }) => folder)).toEqual([newest, older]);
});

test.runIf(process.getuid?.() === 0)('a program that other users can replace is not run by root', async () => {
  await install(BUNDLED, `${BUNDLED}.99`, 0o777);
  expect((await find()).folder).not.toContain(root);
});
