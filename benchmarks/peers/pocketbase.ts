/**
 * PocketBase (Go, SQLite): builds it with the Go toolchain, and stores the same people, days and logs. Its access rules
 * compare the owner of a row with the caller. By default SQLite runs with `synchronous=NORMAL`, so a save is not
 * flushed to disk; with `FULL` it is, as the product's are.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addDays, dayOf } from '#domain/day/day.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { stopProcess } from '../../scripts/child-processes.ts';
import { someDay } from '../http/journal-requests.ts';
import { waitUntilReady } from '../processes.ts';
import { createLogHtml, DAYS_EACH } from '../seeded-database.ts';
import { PEERS_FOLDER, requestJson, type Peer, type PeerPerson } from './peer.ts';

const VERSION = 'v0.39.0';
const ADMIN = { identity: 'admin@example.com', password: 'correct horse battery' };
const OWN_ROWS = 'user = @request.auth.id';
const run = promisify(execFile);

/** The standard program's connection, whose `synchronous` is the environment's. */
const PROGRAM = `package main

import (
	"log"
	"os"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
)

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{DBConnect: func(path string) (*dbx.DB, error) {
		return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"+
			"&_pragma=journal_size_limit(200000000)&_pragma=synchronous("+os.Getenv("SYNCHRONOUS")+")"+
			"&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
	}})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}
`;

export type Synchronous = 'NORMAL' | 'FULL';

/** Needs `go` and a Go module proxy. */
export async function startPocketbase(count: number, synchronous: Synchronous): Promise<Peer> {
  const binary = await build();
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-pocketbase-'));
  const options = ['--dir', folder];
  const env = { ...process.env, SYNCHRONOUS: synchronous };
  await run(binary, ['superuser', 'upsert', ADMIN.identity, ADMIN.password, ...options], { env });
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(binary, ['serve', `--http=${new URL(url).host}`, ...options], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitUntilReady(`${url}/api/health`, child);
  const api = `${url}/api/collections/entries/records`;
  return {
    name: `PocketBase ${VERSION}, synchronous=${synchronous}`,
    url,
    pids: [child.pid!],
    people: await seed(url, count),
    readDay: ({ token }, index) => ({
      path: `${new URL(api).pathname}?perPage=1&skipTotal=1&filter=${encodeURIComponent(`date='${someDay(index)}'`)}`,
      headers: { authorization: token },
    }),
    listDates: ({ token }) => ({
      path: `${new URL(api).pathname}?perPage=${DAYS_EACH}&skipTotal=1&fields=date&sort=-date`,
      headers: { authorization: token },
    }),
    saveDay: ({ token, rows }, index) => ({
      method: 'PATCH',
      path: `${new URL(api).pathname}/${rows.get(someDay(index))}?fields=id,updated`,
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ content: createLogHtml(index) }),
    }),
    async stop() {
      await stopProcess(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The build of an earlier run is reused. */
async function build(): Promise<string> {
  const cwd = join(PEERS_FOLDER, `pocketbase-${VERSION}`);
  await mkdir(cwd, { recursive: true });
  process.stdout.write(`Building PocketBase ${VERSION}…\n`);
  await writeFile(join(cwd, 'main.go'), PROGRAM);
  await writeFile(join(cwd, 'go.mod'), 'module peer\n');
  await run('go', ['get', `github.com/pocketbase/pocketbase@${VERSION}`], { cwd });
  await run('go', ['mod', 'tidy'], { cwd });
  await run('go', ['build', '-o', 'peer', '.'], { cwd });
  return join(cwd, 'peer');
}

async function seed(url: string, count: number): Promise<PeerPerson[]> {
  const { token } = await requestJson<{ token: string }>(
    'POST',
    `${url}/api/collections/_superusers/auth-with-password`,
    ADMIN,
  );
  const admin = { authorization: token };
  // PocketBase's request log would write to the disk for every request.
  const batch = { enabled: true, maxRequests: DAYS_EACH, timeout: 60 };
  await requestJson('PATCH', `${url}/api/settings`, { batch, logs: { maxDays: 0 } }, admin);
  await requestJson('POST', `${url}/api/collections`, entriesCollection(), admin);
  const people: PeerPerson[] = [];
  for (let index = 0; index < count; index += 1)
    people.push(await seedPerson(url, `person-${index}@example.com`, admin));
  return people;
}

function entriesCollection() {
  const user = { name: 'user', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 1, required: true };
  return {
    name: 'entries',
    type: 'base',
    fields: [
      user,
      { name: 'date', type: 'text', required: true, max: 10 },
      { name: 'content', type: 'text', max: 262_144 },
      { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
    ],
    indexes: ['CREATE UNIQUE INDEX entries_of_user ON entries (user, date)'],
    ...{ listRule: OWN_ROWS, viewRule: OWN_ROWS, createRule: OWN_ROWS, updateRule: OWN_ROWS, deleteRule: OWN_ROWS },
  };
}

async function seedPerson(url: string, email: string, admin: Record<string, string>): Promise<PeerPerson> {
  const { password } = ADMIN;
  const { id } = await requestJson<{ id: string }>('POST', `${url}/api/collections/users/records`, {
    ...{ email, password, passwordConfirm: password },
  });
  const { token } = await requestJson<{ token: string }>('POST', `${url}/api/collections/users/auth-with-password`, {
    ...{ identity: email, password },
  });
  const today = dayOf(new Date());
  const requests = Array.from({ length: DAYS_EACH }, (_, days) => ({
    method: 'POST',
    url: '/api/collections/entries/records',
    body: { user: id, date: addDays(today, -days), content: createLogHtml(0) },
  }));
  const answers = await requestJson<{ body: { id: string; date: string } }[]>(
    'POST',
    `${url}/api/batch`,
    { requests },
    admin,
  );
  return { token, rows: new Map(answers.map(({ body }) => [body.date, body.id])) };
}
