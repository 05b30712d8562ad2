/**
 * The migrations that the baselines replace, as the last version had them that shipped them: for databases and backups
 * which that version, or an older one, has made.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const FILES = new URL('replaced-migrations.json.br', import.meta.url);

/** Writes the files below `folder`, those of `app` up to number `last`. */
export async function writeReplacedMigrations(folder: URL, last = Infinity): Promise<void> {
  const files = JSON.parse(brotliDecompressSync(await readFile(FILES)).toString()) as Record<string, string>;
  for (const [name, sql] of Object.entries(files)) {
    if (Number(/^app\/(\d{4})_/.exec(name)?.[1] ?? 0) > last) continue;
    const path = fileURLToPath(new URL(name, folder));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, sql);
  }
}
