/**
 * GET /admin/connection: how a request of the operator arrives through the proxy. `npm run doctor` sends it to PUBLIC_URL
 * (docs/operations/doctor.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { eventStream } from '#server/functions/event-stream.ts';
import type { StreamEvent } from '#server/functions/event-stream.ts';
import { clientAddress } from '#server/http/requests/client-address.ts';
import type { Endpoint } from '../auth-deps.ts';
import type { AccessClaims } from '../keys/access-tokens.ts';
import { PROBE_ROLE } from '../keys/service-token.ts';
import { AuthError } from '../wire/errors.ts';
import { readBearer } from '../wire/require-user.ts';
import { readDatabaseIdentity } from './database-identity.ts';
import { isAdminToken } from './require-admin.ts';

/** Between the two events. A proxy that buffers delivers them together. */
const GAP_MS = 1_000;

const isProbeToken = ({ role, sessionId }: AccessClaims): boolean => role === PROBE_ROLE && sessionId === null;

export const showConnection: Endpoint = async (context, deps) => {
  const claims = await readBearer(context, deps);
  if (!isProbeToken(claims) && !isAdminToken(claims)) throw new AuthError('not_admin');
  const database = await readDatabaseIdentity(deps.database.asService('show the connection'));
  const address = clientAddress(context, deps.config.auth);
  const host = context.req.header('host') ?? '';
  return eventStream(async function* (disconnected): AsyncGenerator<StreamEvent> {
    yield { event: 'connection', data: { address, host, database } };
    await delay(GAP_MS, undefined, { signal: disconnected }).catch(() => undefined);
    yield { event: 'end', data: {} };
  });
};
