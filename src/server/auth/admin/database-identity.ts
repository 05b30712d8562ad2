/**
 * A digest of the identity of a running database. With it `npm run doctor` notices that PUBLIC_URL leads to a server of
 * another database.
 */
import { createHash } from 'node:crypto';
import { READ_IDENTITY } from '#server/database/connection/inspect-pooler.ts';
import type { Statements } from '#server/database/database.ts';

export async function readDatabaseIdentity(service: Pick<Statements, 'statement'>): Promise<string> {
  const { rows } = await service.statement<{ identity: string }>(READ_IDENTITY, []);
  return createHash('sha256').update(rows[0]!.identity).digest('hex');
}
