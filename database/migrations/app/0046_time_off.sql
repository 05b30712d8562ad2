-- phase: expand
-- The days on which a user does not work (docs/specification/time-off.md 2). A day in a range counts neither as worked nor as
-- missed. Ranges of a user neither overlap nor touch: a new one takes the place of those that it meets.
create table public.time_off (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  first_day date not null,
  -- Included.
  last_day date not null,
  created_at timestamptz not null default now(),
  primary key (user_id, id),
  constraint time_off_order check (first_day <= last_day),
  constraint time_off_length check (last_day - first_day < 3653),
  constraint time_off_dates check (first_day >= '0001-01-01' and last_day <= '9999-12-31')
);

alter table public.time_off enable row level security, force row level security;
create policy user_select_time_off on public.time_off
  for select to authenticated using (user_id = (select auth.uid()));
create policy user_insert_time_off on public.time_off
  for insert to authenticated with check (user_id = (select auth.uid()));
create policy user_delete_time_off on public.time_off
  for delete to authenticated using (user_id = (select auth.uid()));
-- A personal access token reads them at most (docs/specification/capture.md).
create policy reject_insert_by_token on public.time_off as restrictive for insert to authenticated
  with check ((select public.token_scopes()) is null);
create policy reject_delete_by_token on public.time_off as restrictive for delete to authenticated
  using ((select public.token_scopes()) is null);

revoke all on public.time_off from anon, authenticated, service_role;
grant select, insert (user_id, id, first_day, last_day), delete on public.time_off to authenticated;
grant select, insert, delete on public.time_off to service_role;

-- As the caller, under the policies: it reads and deletes ranges of the caller alone. The lock is needed, because two
-- devices would not see each other's range. Each statement sees what was committed before it.
create function public.merge_time_off() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  met record;
begin
  if new.first_day > new.last_day or new.last_day - new.first_day >= 3653 then
    -- The constraints refuse it.
    return new;
  end if;
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('time_off ' || new.user_id, 0));
  with taken as (
    delete from public.time_off
     where user_id = new.user_id and first_day <= new.last_day + 1 and last_day >= new.first_day - 1
    returning first_day, last_day
  )
  select min(first_day) as first_day, max(last_day) as last_day into met from taken;
  new.first_day := least(new.first_day, met.first_day);
  new.last_day := greatest(new.last_day, met.last_day);
  -- Threat: an account that stores rows without end, one request each.
  if (select count(*) from public.time_off where user_id = new.user_id) >= 500 then
    raise exception 'an account has at most 500 ranges of time off' using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create trigger merge_time_off before insert on public.time_off
  for each row execute function public.merge_time_off();
