/** The commands of the server itself: the signing key and tokens that it signs, mail, migrations. */
import { CommandError, readDays, withDatabase, type Command, type Invocation } from './command.ts';
import { recordAuditEvent } from '../auth/accounts/audit-log.ts';
import {
  writeKeyFile,
  NoKeysError,
  databaseKeySource,
  fileKeySource,
  readKeys,
  type KeyFile,
  type KeySource,
  type SigningJwk,
  type VerificationJwk,
} from '../auth/keys/key-file.ts';
import { signServiceToken } from '../auth/keys/service-token.ts';
import { loadSigningKeys, JWKS_CACHE_SECONDS } from '../auth/keys/signing-keys.ts';
import { forgetStoredKeys, generateJwk } from '../auth/keys/stored-keys.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { renderEmail } from '../mail/email-template.ts';
import { MailRejected, createMailer } from '../mail/mailer.ts';
import { randomUUID } from 'node:crypto';
import { chmod, chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { ACCESS_TOKEN_SECONDS } from '../auth/keys/access-tokens.ts';

const SERVICE_TOKEN_DAYS = 30;
const MAX_SERVICE_TOKEN_DAYS = 366;

export const KEY_COMMANDS: readonly Command[] = [
  { usage: 'key:create', help: ['print a private key for AUTH_SIGNING_KEY_FILE'], run: createKey },
  {
    usage: 'key:rotate [--print] [--now]',
    help: [
      'sign with a new key and keep the old ones until their tokens ended;',
      'nobody is signed out. --print stores nothing and prints the new key file.',
      '--now ends the old keys at once, if somebody else may know them',
    ],
    run: (invocation) => withDatabase(invocation, (database, config) => rotateKey(database, config, invocation)),
  },
  {
    usage: 'key:forget',
    help: ['remove the keys from the database, once AUTH_SIGNING_KEY_FILE holds them'],
    run: (invocation) => withDatabase(invocation, forgetKeys),
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
  return JSON.stringify(await generateJwk());
}

/**
 * The key of an advisory lock, an arbitrary number that no other lock has. Without the lock, one of two concurrent
 * rotations would overwrite the new key of the other.
 */
const ROTATION_LOCK_KEY = 7_203_417;

function rotateKey(
  database: Database,
  { auth: { signingKeyFile } }: Config,
  { options: { print = false, now: endsNow = false } }: Pick<Invocation, 'options'>,
): Promise<string> {
  const now = systemClock.now();
  return database.transactAsService('rotate the signing key', async (transaction) => {
    await transaction.statement('select pg_advisory_xact_lock($1)', [ROTATION_LOCK_KEY]);
    const source =
      signingKeyFile === null ? databaseKeySource(transaction) : fileKeySource(signingKeyFile, 'AUTH_SIGNING_KEY_FILE');
    const rotated = await rotateKeys(await readExistingKeys(source), { now, endsNow });
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
    if (signingKeyFile === null) await replaceStoredKeys(transaction, text, now);
    else await replaceFile(signingKeyFile, text);
    return describeRotation(rotated);
  });
}

async function readExistingKeys(source: KeySource): Promise<KeyFile> {
  try {
    return await readKeys(source);
  } catch (error) {
    if (!(error instanceof NoKeysError)) throw error;
    throw new CommandError(`${error.message} The first start of the server makes one, unless a file is set.`);
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await replaceKeyFile(file, text);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    // The file is read-only if the platform mounts it as a secret, as Kubernetes does.
    throw new CommandError(`${file} cannot be replaced (${code}): use --print and store the printed keys there.`, {
      cause: error,
    });
  }
}

function describeRotation({ signing, others }: KeyFile): string {
  const latestEnd = Math.max(...others.map(({ endsAt }) => endsAt ?? 0));
  const oldKeys = others.length === 0 ? 'The old keys ended.' : `The old keys end ${formatTime(latestEnd)}.`;
  return [
    `Tokens are signed with the key ${signing.kid} once the servers have read it, within 10 seconds.`,
    `${oldKeys} So do the service tokens that they signed: make new ones with "service-token".`,
  ].join('\n');
}

/**
 * Deletes the stored keys once a file has replaced them. Refuses a file with another `root`: the keys that encrypt
 * second factors and pending sign-ins are derived from the root, so no server could decrypt them any more.
 */
function forgetKeys(database: Database, { auth: { signingKeyFile } }: Config): Promise<string> {
  if (signingKeyFile === null) {
    throw new CommandError('Set AUTH_SIGNING_KEY_FILE to a file with the output of "key:rotate --print" first.');
  }
  return database.transactAsService('forget the signing keys', async (transaction) => {
    await transaction.statement('select pg_advisory_xact_lock($1)', [ROTATION_LOCK_KEY]);
    const stored = await readExistingKeys(databaseKeySource(transaction));
    const { signing, root } = await readExistingKeys(fileKeySource(signingKeyFile, 'AUTH_SIGNING_KEY_FILE'));
    if (!stored.root.equals(root)) {
      throw new CommandError(`${signingKeyFile} derives other secrets than the keys in the database: nothing changes.`);
    }
    await forgetStoredKeys(transaction);
    await recordAuditEvent(transaction, {
      at: systemClock.now(),
      userId: null,
      actor: 'operator',
      event: 'key_forgotten',
      details: { kid: signing.kid },
    });
    return `The database holds no signing keys any more. Backups made until now still do.`;
  });
}

const formatTime = (unixSeconds: number): string => `at ${new Date(unixSeconds * 1000).toISOString()}`;

async function createServiceToken(database: Database, config: Config, days: number): Promise<string> {
  const { auth, dataDir, publicUrl } = config;
  const { signingKeyFile } = auth;
  const keys = await loadSigningKeys({ signingKeyFile, dataDir, database, clock: systemClock, log: createLog('warn') });
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

export const MAIL_COMMANDS: readonly Command[] = [
  {
    usage: 'mail:test ADDRESS',
    help: ['send a mail with the settings of the server and say whether it was accepted'],
    run: (invocation) => withDatabase(invocation, (database, config) => testMail(database, config, invocation.subject)),
  },
];

async function testMail(database: Database, { mail, publicUrl }: Config, address: string): Promise<string> {
  if (mail.smtpUrl === null) throw new CommandError('Mail is off: SMTP_URL is not set.');
  const mailer = createMailer(mail, createLog('warn'));
  const message = renderEmail(address, 'Mail works', [
    `The operator of ${publicUrl} sent this mail to see whether mail arrives.`,
  ]);
  const failure = await mailer.deliver(message).then(
    () => null,
    (error: unknown) => error,
  );
  await mailer.close();
  await recordAuditEvent(database.asService('test mail'), {
    at: systemClock.now(),
    userId: null,
    actor: 'operator',
    event: 'test_mail_sent',
    details: { accepted: failure === null },
  });
  if (failure === null) return `The mail server accepted a mail from ${mail.from} to ${address}.`;
  throw new CommandError(
    failure instanceof MailRejected
      ? `The mail server rejected the recipient or the content. The log line has its reply code.`
      : `The mail server did not accept the mail. The log line has the reason; check SMTP_URL and MAIL_FROM.`,
    { cause: failure },
  );
}

export const MIGRATION_COMMANDS: readonly Command[] = [
  {
    usage: 'migrations:finish [--anyway]',
    help: [
      'apply the migrations that run while servers serve, or say what they wait for;',
      '--anyway: do not wait for servers of an older version, which then stop being ready',
    ],
    run: (invocation) =>
      withDatabase(invocation, async (database) => {
        const { applied, waitsFor } = await database.finishMigrations({ force: invocation.options.anyway });
        if (waitsFor !== null) throw new CommandError(`Applied ${applied}. The next one waits: ${waitsFor}.`);
        return applied === 0 ? 'No migration is left to apply.' : `Applied ${applied}. No migration is left to apply.`;
      }),
  },
];

// Replaces the signing key without signing anybody out (docs/operations.md, "The signing key").

type Rotation = {
  now: Date;
  /** Ends the old keys at once, because somebody else may know the signing key. */
  endsNow?: boolean;
};

/**
 * Returns the keys with a new signing key and the same root, so that refresh tokens, codes and sealed secrets stay
 * valid. The old keys lose their private members. They verify until the access tokens of sessions that they have signed
 * have expired and no verifier caches the old JWKS; with `endsNow` they end at once.
 */
export async function rotateKeys(file: KeyFile, { now, endsNow = false }: Rotation): Promise<KeyFile> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const lastTokenEnds = nowSeconds + ACCESS_TOKEN_SECONDS + JWKS_CACHE_SECONDS;
  const { kid, algorithm, jwk } = file.signing;
  const others: VerificationJwk[] = [{ kid, algorithm, jwk, endsAt: null }, ...file.others].map((key) => ({
    ...key,
    endsAt: Math.min(key.endsAt ?? Infinity, lastTokenEnds),
  }));
  return {
    signing: await generateSigningKey(file.signing.algorithm),
    others: endsNow ? [] : others.filter((key) => key.endsAt! > nowSeconds),
    root: file.root,
  };
}

async function generateSigningKey(algorithm: SigningJwk['algorithm']): Promise<SigningJwk> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const [privateJwk, publicJwk] = await Promise.all([exportJWK(pair.privateKey), exportJWK(pair.publicKey)]);
  const kid = await calculateJwkThumbprint(publicJwk);
  const jwk = { ...publicJwk, kid, alg: algorithm, use: 'sig', key_ops: ['verify'] };
  return { kid, algorithm, jwk, privateJwk, endsAt: null };
}

/** Atomic: a server that reads the file meanwhile sees the old or the new keys. Keeps the owner and the mode. */
export async function replaceKeyFile(file: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  const temporary = `${file}.${randomUUID()}`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    // An operator may run the command as another user than the server, which must still be able to read the file.
    if (process.getuid?.() !== uid || process.getgid?.() !== gid) await chown(temporary, uid, gid);
    await chmod(temporary, mode & 0o777);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @param transaction the one that has read the keys, under a lock against other rotations */
export async function replaceStoredKeys(transaction: AsService, text: string, now: Date): Promise<void> {
  await transaction.run(queryBuilder.updateTable('auth.signing_keys').set({ key_set: text, rotated_at: now }));
}
