/** GET /admin/audit: the audit log, newest first (docs/specification/wire.md 33). */
import { sql } from 'kysely';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Endpoint } from '../auth-deps.ts';
import { readPage, setPageHeaders } from './paging.ts';
import { requireAdmin } from './require-admin.ts';

export const listAuditLog: Endpoint = async (context, deps) => {
  await requireAdmin(context, deps);
  const page = readPage(context);
  const service = deps.database.asService('read the audit log');
  const log = queryBuilder.selectFrom('auth.audit_log');
  const [rows, [count]] = await Promise.all([
    service.run(log.selectAll().orderBy('id', 'desc').limit(page.size).offset(page.offset)),
    service.run(log.select(sql<number>`count(*)::integer`.as('total'))),
  ]);
  setPageHeaders(context, page, count!.total);
  return context.json(
    rows.map(({ id, event, actor, user_id, user_agent, details, ip, at }) => ({
      id: String(id),
      payload: { action: event, actor_type: actor, user_id, user_agent, traits: details },
      created_at: at.toISOString(),
      ip_address: ip ?? '',
    })),
  );
};
