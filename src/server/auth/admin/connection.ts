/**
 * GET /admin/connection: how a request of the operator arrives through the proxy. `npm run doctor` sends it to PUBLIC_URL
 * (docs/operations/doctor.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { eventStream, type StreamEvent } from '#server/http/event-stream.ts';
import { clientAddress } from '#server/http/requests/client-address.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import { ADMIN_ROLES, PROBE_ROLE } from '../keys/service-token.ts';
import { readDatabaseIdentity } from './database-identity.ts';
import { requireAdmin } from '../http/require-admin.ts';

/** The pause between the two events of the answer. A proxy that buffers delivers them together. */
const GAP_MS = 1_000;

const ROLES: ReadonlySet<string> = new Set([...ADMIN_ROLES, PROBE_ROLE]);

export const showConnection: Endpoint = async (context, deps) => {
  await requireAdmin(context, deps, ROLES);
  const database = await readDatabaseIdentity(deps.database.asService('show the connection'));
  const address = clientAddress(context, deps.config.auth);
  const host = context.req.header('host') ?? '';
  return eventStream(async function* (disconnected): AsyncGenerator<StreamEvent> {
    yield { event: 'connection', data: { address, host, database } };
    await delay(GAP_MS, undefined, { signal: disconnected }).catch(() => undefined);
    yield { event: 'end', data: {} };
  });
};
