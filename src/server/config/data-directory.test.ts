import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareDataDirectory } from './config.ts';
import { createLog } from '../log.ts';

let root = '';
let logged: string[] = [];
const log = createLog('info', { write: (line: string) => void logged.push(line) });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hustle-forge-data-'));
  logged = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('creates a missing data directory with mode 0700', async () => {
  const dataDir = join(root, 'new', 'data');
  await prepareDataDirectory(dataDir, log);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(logged).toEqual([]);
});

test.each([
  [0o755, true],
  [0o710, true],
  [0o700, false],
])('warns about an existing data directory with mode %o: %s', async (mode, warns) => {
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, mode);
  await prepareDataDirectory(dataDir, log);
  expect(logged.map((line) => line.includes(`chmod 700 ${dataDir}`))).toEqual(warns ? [true] : []);
});

test('names DATA_DIR when it is no folder', async () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  await expect(prepareDataDirectory(file, log)).rejects.toThrow(
    `DATA_DIR=${file} cannot be used (EEXIST): set it to a folder that this user can write`,
  );
});
