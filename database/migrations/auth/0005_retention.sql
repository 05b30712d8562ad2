-- phase: expand
-- Purges and storage settings of tables that would otherwise grow without bound (docs/operations/data-growth.md).

-- Deletes at most `max_rows` audit rows that are older than 400 days, oldest first, and returns their number. The ids rise with the
-- time, so no further index is needed. Threat: a thief with the rights of the service wipes the traces. So the age is fixed
-- here and no caller can choose it.
create function auth.purge_audit_log(max_rows integer) returns integer
  language plpgsql security definer set search_path = ''
as $$
declare
  deleted integer;
begin
  perform set_config('auth.erasing_audit_log', 'on', true);
  delete from auth.audit_log
   where at < now() - interval '400 days' and id in (select id from auth.audit_log order by id limit max_rows);
  get diagnostics deleted = row_count;
  perform set_config('auth.erasing_audit_log', 'off', true);
  return deleted;
end
$$;
revoke execute on function auth.purge_audit_log(integer) from public;
grant execute on function auth.purge_audit_log(integer) to service_role;

-- Every renewal updates its session and replaces a token. Room in each page keeps the updates HOT, and vacuum comes
-- long before a fifth of a large table is dead.
alter table auth.sessions set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table auth.refresh_tokens set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- A counter is updated by every request that it limits.
alter table auth.rate_limits set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
