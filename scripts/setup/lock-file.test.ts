/**
 * Every locked package carries the hash that npm compares with the downloaded archive.
 *
 * Threat: without the hash, npm installs whatever the registry answers for that name and version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Lock = { packages: Record<string, { version: string; integrity?: string }> };

test('locks every package with its integrity hash', () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8')) as Lock;
  const unverified = Object.entries(lock.packages)
    .filter(([path, { integrity }]) => path !== '' && !integrity?.startsWith('sha512-'))
    .map(([path]) => path);
  expect(unverified).toEqual([]);
});
