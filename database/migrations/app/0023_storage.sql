-- phase: expand
-- Storage of the tables that are updated most, and a bound for analyses (docs/operations/data-growth.md).

-- Each save updates its log, which grows during its day: room in each page keeps the update HOT, so that no index is written.
-- With the defaults a year of 100,000 users would wait for seven million dead rows before it is vacuumed; an insert counts as
-- well, because only vacuumed pages let the dates of a year be listed from the index alone.
alter table public.entries set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table public.entry_words set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- A version lives for 30 days at most: as many rows are deleted as are inserted.
alter table public.entry_versions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- A day, or a period, keeps its 20 newest analyses. As the owner: the service may not delete any.
create function public.thin_analyses() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.kind = 'feedback' then
    delete from public.analyses
     where user_id = new.user_id and id in (
       select id from public.analyses
        where user_id = new.user_id and kind = 'feedback' and date = new.date
        order by created_at desc, id offset 20);
  else
    delete from public.analyses
     where user_id = new.user_id and id in (
       select id from public.analyses
        where user_id = new.user_id and kind = 'trend' and period_to = new.period_to and period_from = new.period_from
        order by created_at desc, id offset 20);
  end if;
  return null;
end
$$;
revoke execute on function public.thin_analyses() from public;

create trigger thin_analyses after insert on public.analyses
  for each row execute function public.thin_analyses();
