/** The commands for the signing key and for tokens that it signs. */
import { exportJWK, generateKeyPair } from 'jose';
import { recordAuditEvent } from '../auth/accounts/audit-log.ts';
import { writeKeyFile } from '../auth/keys/key-file.ts';
import type { KeyFile } from '../auth/keys/key-file.ts';
import { replaceKeyFile, rotateKeys } from '../auth/keys/rotate-key.ts';
import { signServiceToken } from '../auth/keys/service-token.ts';
import { loadSigningKeys, readKeyFile, signingKeyPath } from '../auth/keys/signing-keys.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { CommandError, readDays, withDatabase } from './command.ts';
import type { Command, Invocation } from './command.ts';

const SERVICE_TOKEN_DAYS = 30;
const MAX_SERVICE_TOKEN_DAYS = 366;

export const KEY_COMMANDS: readonly Command[] = [
  { usage: 'key:create', help: ['print a private key for AUTH_SIGNING_KEY_FILE'], run: createKey },
  {
    usage: 'key:rotate [--print] [--now]',
    help: [
      'sign with a new key and keep the old ones until their tokens ended;',
      'nobody is signed out. --print leaves the file and prints its new content.',
      '--now ends the old keys at once, if somebody else may know them',
    ],
    run: (invocation) => withDatabase(invocation, (database, config) => rotateKey(database, config, invocation)),
  },
  {
    usage: 'service-token [--days N]',
    help: [
      `print a token for the admin routes, valid for N days (${SERVICE_TOKEN_DAYS});`,
      'it is stored nowhere and ends with its key',
    ],
    run: (invocation) => {
      const days = readDays(invocation.options, MAX_SERVICE_TOKEN_DAYS) ?? SERVICE_TOKEN_DAYS;
      return withDatabase(invocation, (database, config) => createServiceToken(database, config, days));
    },
  },
];

async function createKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'ES256' });
}

/**
 * The key of an advisory lock, an arbitrary number that no other lock has. Without the lock, one of two concurrent
 * rotations would overwrite the new key of the other.
 */
const ROTATION_LOCK_KEY = 7_203_417;

function rotateKey(
  database: Database,
  { auth, dataDir }: Config,
  { options: { print = false, now: endsNow = false } }: Pick<Invocation, 'options'>,
): Promise<string> {
  const file = signingKeyPath({ signingKeyFile: auth.signingKeyFile, dataDir });
  const now = systemClock.now();
  return database.transactAsService('rotate the signing key', async (transaction) => {
    await transaction.statement('select pg_advisory_xact_lock($1)', [ROTATION_LOCK_KEY]);
    const rotated = await rotateKeys(await readExistingKey(file), { now, endsNow });
    const text = writeKeyFile(rotated);
    const { kid } = rotated.signing;
    await recordAuditEvent(transaction, {
      at: now,
      userId: null,
      actor: 'operator',
      event: 'key_rotated',
      details: { kid, endsNow, printed: print },
    });
    if (print) return text.trimEnd();
    await replaceFile(file, text);
    return describeRotation(rotated);
  });
}

async function readExistingKey(file: string): Promise<KeyFile> {
  try {
    return await readKeyFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new CommandError(`There is no key to rotate at ${file}: the first start of the server makes one.`);
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await replaceKeyFile(file, text);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    // A mounted secret cannot be replaced.
    throw new CommandError(`${file} cannot be replaced (${code}): use --print and store the printed keys there.`, {
      cause: error,
    });
  }
}

function describeRotation({ signing, others }: KeyFile): string {
  const latestEnd = Math.max(...others.map(({ endsAt }) => endsAt ?? 0));
  const oldKeys = others.length === 0 ? 'The old keys ended.' : `The old keys end ${formatTime(latestEnd)}.`;
  return [
    `Tokens are signed with the key ${signing.kid} once the server has read the file, within 10 seconds.`,
    `${oldKeys} So do the service tokens that they signed: make new ones with "service-token".`,
  ].join('\n');
}

const formatTime = (unixSeconds: number): string => `at ${new Date(unixSeconds * 1000).toISOString()}`;

async function createServiceToken(database: Database, config: Config, days: number): Promise<string> {
  const { auth, dataDir, publicUrl } = config;
  const { signingKeyFile } = auth;
  const keys = await loadSigningKeys({ signingKeyFile, dataDir, clock: systemClock, log: createLog('warn') });
  const now = systemClock.now();
  const { token, id } = await signServiceToken(keys, { publicUrl, days, now });
  await recordAuditEvent(database.asService('create a service token'), {
    at: now,
    userId: null,
    actor: 'operator',
    event: 'service_token_created',
    details: { id, days },
  });
  return token;
}
