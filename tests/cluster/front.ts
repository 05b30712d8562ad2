/** HAProxy and PgBouncer, in front of the applications and of the database, and a certificate of this run. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startService, type Service } from './processes.ts';
import { CONFIG, STATE } from './state-folder.ts';

const run = promisify(execFile);

export const HOST_NAME = 'journal.test';
export const PUBLIC_URL = `https://${HOST_NAME}`;

/** Returns the certificate, which clients must trust. */
export async function createCertificate(): Promise<string> {
  const [key, certificate] = [join(STATE, 'key.pem'), join(STATE, 'certificate.pem')];
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'],
    ...['-subj', `/CN=${HOST_NAME}`, '-addext', `subjectAltName=DNS:${HOST_NAME}`, '-keyout', key, '-out', certificate],
  ]);
  const text = await readFile(certificate, 'utf8');
  await writeFile(join(STATE, 'journal.pem'), text + (await readFile(key, 'utf8')), { mode: 0o600 });
  return text;
}

export const startBalancer = (): Service =>
  startService({
    part: 'balancer',
    name: 'haproxy',
    command: ['haproxy', '-W', '-f', join(CONFIG, 'haproxy.cfg')],
    env: { JOURNAL_CERTIFICATE: join(STATE, 'journal.pem') },
  });

export const POOLER_PASSWORD = 'pooler-password';
const USERS_FILE = join(STATE, 'userlist.txt');

/** Starts PgBouncer as the user `postgres`, because it refuses to run as root. */
export async function startPooler(): Promise<Service> {
  await writeFile(USERS_FILE, `"pooler" "${POOLER_PASSWORD}"\n`, { mode: 0o644 });
  const settings = join(STATE, 'pgbouncer.ini');
  await writeFile(settings, `%include ${join(CONFIG, 'pgbouncer.ini')}\nauth_file = ${USERS_FILE}\n`);
  return startService({
    part: 'pooler',
    name: 'pgbouncer',
    user: 'postgres',
    cwd: '/',
    command: ['pgbouncer', settings],
  });
}
