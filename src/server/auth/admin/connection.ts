/**
 * GET /admin/connection: how a request of the operator arrives through the proxy. `npm run doctor` sends it to
 * PUBLIC_URL (docs/decisions/0039).
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { READ_IDENTITY } from '#server/database/connection/inspect-pooler.ts';
import type { Statements } from '#server/database/database.ts';
import { clientAddress } from '#server/http/client-address.ts';
import { eventStream, type StreamEvent } from '#server/http/event-stream.ts';
import type { Endpoint } from '../http/auth-deps.ts';

/** The pause between the two events of the answer. A proxy that buffers delivers them together. */
const GAP_MS = 1_000;

export const showConnection: Endpoint = async (context, deps) => {
  const database = await readDatabaseIdentity(deps.database.asService('show the connection'));
  const address = clientAddress(context, deps.config.auth);
  const host = context.req.header('host') ?? '';
  return eventStream(async function* (disconnected): AsyncGenerator<StreamEvent> {
    yield { event: 'connection', data: { address, host, database } };
    await delay(GAP_MS, undefined, { signal: disconnected }).catch(() => undefined);
    yield { event: 'end', data: {} };
  });
};

/**
 * A digest of the identity of a running database. With it `npm run doctor` notices that PUBLIC_URL leads to a server of
 * another database.
 */
export async function readDatabaseIdentity(service: Pick<Statements, 'statement'>): Promise<string> {
  const { rows } = await service.statement<{ identity: string }>(READ_IDENTITY, []);
  return createHash('sha256').update(rows[0]!.identity).digest('hex');
}
