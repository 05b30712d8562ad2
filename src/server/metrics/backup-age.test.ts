import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { registerBackupAge } from './backup-age.ts';
import { Registry } from './prom-client.ts';

test('reports the newest backup, and no age without a backup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backups-'));
  const registry = new Registry();
  registerBackupAge(registry, folder);
  expect(await registry.metrics()).not.toMatch(/^hustle_forge_backup/m);
  for (const name of ['20261121T031000Z.tar.zst', '20261122T031000Z.tar.zst.age'])
    await writeFile(join(folder, `hustle-forge-${name}`), '');
  const seconds = Date.UTC(2026, 10, 22, 3, 10) / 1000;
  expect(await registry.metrics()).toContain(`hustle_forge_backup_last_timestamp_seconds{encrypted="true"} ${seconds}`);
  await rm(folder, { recursive: true });
});
