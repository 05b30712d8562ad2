/** Authentication requests that wait for their response, stored in the database for node-saml's `CacheProvider`. */
import type { CacheProvider } from '@node-saml/node-saml';
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { FlowRow } from '../sessions/flows.ts';

export type SamlRequestRow = Selectable<AuthTables['auth.saml_requests']>;

/** Saves the id of the request that node-saml writes for the flow. */
export const newFlowRequestCache = (
  service: AsService,
  flow: FlowRow,
  providerId: string,
  now: Date,
): CacheProvider => ({
  async saveAsync(id, value) {
    await service.run(
      queryBuilder
        .insertInto('auth.saml_requests')
        .values({ id, flow_id: flow.id, provider_id: providerId, created_at: now, expires_at: flow.expires_at })
        .returning('id'),
    );
    return { value, createdAt: now.getTime() };
  },
  getAsync: () => Promise.resolve(null),
  removeAsync: () => Promise.resolve(null),
});

/**
 * Deletes the request of a flow. Null for all but the first of concurrent responses.
 *
 * Threat: node-saml looks a request up and removes it in two steps, so a response that is sent twice at the same time
 * would pass twice. Each flow therefore accepts one response, valid or not, and node-saml sees only the claimed
 * request.
 */
export async function claimSamlRequest(service: AsService, flowId: string): Promise<SamlRequestRow | null> {
  const [request] = await service.run(
    queryBuilder.deleteFrom('auth.saml_requests').where('flow_id', '=', flowId).returningAll(),
  );
  return request ?? null;
}

/** Lets node-saml find only the claimed request. */
export const claimedRequestCache = (request: SamlRequestRow): CacheProvider => ({
  saveAsync: () => Promise.resolve(null),
  getAsync: (id) => Promise.resolve(id === request.id ? request.created_at.toISOString() : null),
  removeAsync: () => Promise.resolve(null),
});
