/** An empty database whose owner is no superuser, as on hosted services, and so is subject to row-level security. */
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from './test-database.ts';

type Server = Pick<TestDatabase, 'url' | 'admin'>;

/** @param work gets the owner's connection string and name; the database is dropped afterwards */
export async function withOrdinaryOwner<T>(
  { url, admin }: Server,
  work: (url: string, owner: string) => Promise<T>,
): Promise<T> {
  const owner = `owner_${randomBytes(6).toString('hex')}`;
  await admin.query(`create role ${owner} login createrole password 'geheim'`);
  await admin.query(`grant anon, authenticated, service_role to ${owner} with admin option`);
  await admin.query(`create database ${owner} owner ${owner}`);
  try {
    return await work(url.replace(/\/\/[^@]*@\/\w+/, `//${owner}:geheim@/${owner}`), owner);
  } finally {
    await admin.query(`drop database ${owner} with (force)`);
    await admin.query(`drop role ${owner}_requests, ${owner}`).catch(() => admin.query(`drop role ${owner}`));
  }
}
