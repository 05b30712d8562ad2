-- A client may send the columns that only the server writes along with a save, as the product's first clients do. The
-- save succeeds and the database keeps its own values. A trigger and not the server does it, so that it also holds where
-- the tables lie in a hosted project.

-- With the caller's rights: it has to see who writes. Nobody but the service and whoever may act as the table's owner
-- is let through, so a role that is added later writes none of these columns either.
create function public.keep_server_columns() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if current_user = 'service_role'
    or pg_catalog.pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'member')
  then
    return new;
  end if;
  if tg_op = 'INSERT' then
    new.updated_at := now();
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  else
    new.updated_at := old.updated_at;
    new.ai_feedback := old.ai_feedback;
    new.hustle_score := old.hustle_score;
    new.ai_analyzed_at := old.ai_analyzed_at;
  end if;
  return new;
end
$$;

-- Before an update triggers run by their names: this one comes first, so that `revise_entry` can renew `updated_at` and
-- `revised_to_nothing` can take the feedback away. Saves without these columns do not call it.
create trigger keep_server_columns before update on public.entries
  for each row
  when ((new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
    is distinct from (old.updated_at, old.ai_feedback, old.hustle_score, old.ai_analyzed_at))
  execute function public.keep_server_columns();
create trigger keep_server_columns_of_new before insert on public.entries
  for each row
  when ((new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
    is distinct from (now(), null, null, null))
  execute function public.keep_server_columns();

grant insert (updated_at, ai_feedback, hustle_score, ai_analyzed_at),
  update (updated_at, ai_feedback, hustle_score, ai_analyzed_at) on public.entries to authenticated;
