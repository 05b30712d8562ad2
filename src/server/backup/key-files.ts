/**
 * The key files beside the database: without them nobody stays signed in, and no second factor can be read. Signing keys
 * in the database (docs/decisions/0034) are a table like any other.
 */
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedKeyFile } from '../auth/keys/stored-keys.ts';
import type { Config } from '../config/config.ts';
import { BackupError } from './backup-error.ts';

const SIGNING_KEY = 'signing-key.json';
const SAML_KEY = 'saml-key.pem';

type KeyConfig = Pick<Config, 'dataDir'> & {
  auth: Pick<Config['auth'], 'signingKeyFile' | 'samlKeyFile'>;
};

/** @throws BackupError when a file that a setting names cannot be read. */
export async function readKeyFiles({ dataDir, auth }: KeyConfig): Promise<Map<string, Buffer>> {
  const { signingKeyFile, samlKeyFile } = auth;
  const files = new Map<string, Buffer>();
  const signingKey = await readIfExists(signingKeyFile ?? generatedKeyFile(dataDir));
  if (signingKey !== null) files.set(SIGNING_KEY, signingKey);
  else if (signingKeyFile !== null) throw missing('AUTH_SIGNING_KEY_FILE', signingKeyFile);
  const samlKey = samlKeyFile === null ? null : await readIfExists(samlKeyFile);
  if (samlKey !== null) files.set(SAML_KEY, samlKey);
  else if (samlKeyFile !== null) throw missing('AUTH_SAML_KEY_FILE', samlKeyFile);
  return files;
}

const missing = (setting: string, file: string): BackupError =>
  new BackupError(`${setting} names ${file}, which does not exist: without it the backup would be of no use`);

async function readIfExists(file: string): Promise<Buffer | null> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new BackupError(`the key ${file} cannot be read (${error.code ?? 'unknown error'})`);
  });
}

export type PlacedFile = {
  file: string;
  /** The setting that must name the file; null where the server finds it by itself. */
  setting: string | null;
};

type Placement = PlacedFile & { content: Buffer; exists: boolean };

export type KeyPlacement = {
  /** Writes the files. On failure the earlier ones are in place again. */
  place(): Promise<PlacedFile[]>;
  undo(): Promise<void>;
};

/**
 * Decides where the files of an archive go on this machine. `hasStoredKeys`: the archive has signing keys in the database
 * too, which a server prefers to a file that no setting names.
 *
 * @throws BackupError when another key is there already, unless `replace`, which keeps it under another name
 */
export async function planKeyFiles(
  files: ReadonlyMap<string, Buffer>,
  { dataDir, auth }: KeyConfig,
  { replace, now, hasStoredKeys }: { replace: boolean; now: Date; hasStoredKeys: boolean },
): Promise<KeyPlacement> {
  const targets: Record<string, PlacedFile> = {
    [SIGNING_KEY]: {
      file: auth.signingKeyFile ?? generatedKeyFile(dataDir),
      setting: auth.signingKeyFile === null && hasStoredKeys ? 'AUTH_SIGNING_KEY_FILE' : null,
    },
    [SAML_KEY]: {
      file: auth.samlKeyFile ?? join(dataDir, SAML_KEY),
      setting: auth.samlKeyFile === null ? 'AUTH_SAML_KEY_FILE' : null,
    },
  };
  const placements: Placement[] = [];
  for (const [name, content] of files) {
    const target = targets[name];
    if (!target) throw new BackupError(`the backup has a file that this program does not know: ${name}`);
    const current = await readIfExists(target.file);
    if (current?.equals(content)) continue;
    if (current !== null && !replace) {
      throw new BackupError(
        `${target.file} holds another key than the backup: move it away, or use --replace, which keeps it beside the new one`,
      );
    }
    placements.push({ ...target, content, exists: current !== null });
  }
  const undo: (() => Promise<void>)[] = [];
  return {
    async place() {
      for (const { file, content, exists } of placements) {
        const kept = `${file}.before-restore-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        if (exists) {
          await rename(file, kept);
          undo.push(() => rename(kept, file));
        } else undo.push(() => rm(file, { force: true }));
        await writeDurably(file, content);
      }
      return placements.map(({ file, setting }) => ({ file, setting }));
    },
    async undo() {
      for (const step of undo.toReversed()) await step();
    },
  };
}

async function writeDurably(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, 0o600);
}
