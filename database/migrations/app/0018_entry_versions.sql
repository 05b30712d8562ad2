-- Earlier versions of a log (docs/specification/days-and-saving.md 12). A version is the text that stood before a change.

create table public.entry_versions (
  user_id uuid not null references auth.users on delete cascade,
  date date not null,
  id uuid not null default gen_random_uuid(),
  -- The row of `entries` that held the text. Without a foreign key: the versions of a deleted log outlive its row.
  entry_id uuid not null,
  content text not null,
  -- When the text was saved, and when a change or a deletion replaced it.
  written_at timestamptz not null,
  kept_at timestamptz not null default clock_timestamp(),
  -- The change that replaced the text: an ordinary edit, one that dropped most items, an earlier version that was
  -- brought back, or the deletion of the log.
  replaced_by text not null
    constraint entry_versions_known_change check (replaced_by in ('edit', 'drop', 'restore', 'deletion')),
  primary key (user_id, date, id)
);
-- For the job that deletes what is older than 30 days (src/server/versions/purge-versions.ts).
create index entry_versions_by_age on public.entry_versions (kept_at);

-- True if more than half of the items (lines of the plain text) of a log are gone. An item that was edited in place still
-- begins with the first half of the old item or ends with its last half. The limits keep the time linear; where they
-- apply, the answer is true, so that a version too many is kept and never one too few.
create function public.drops_most_items(before text, after text) returns boolean
  language plpgsql immutable strict parallel safe set search_path = ''
as $$
declare
  items constant text[] := string_to_array(before, E'\n');
  lost text[];
begin
  if starts_with(after, before) then
    return false;
  end if;
  if cardinality(string_to_array(after, E'\n')) * 2 < cardinality(items) then
    return true;
  end if;
  lost := array(select unnest(items) except all select unnest(string_to_array(after, E'\n')));
  if cardinality(lost) * 2 <= cardinality(items) or cardinality(lost) > 50 then
    return cardinality(lost) * 2 > cardinality(items);
  end if;
  return (
    with gained as (
      select item from (select unnest(string_to_array(after, E'\n')) except all select unnest(items)) as added (item)
       limit 100)
    select count(*) * 2 > cardinality(items)
      from (select item, (char_length(item) + 1) / 2 as half from unnest(lost) as item) as old
     where not exists (
       select from gained as new
        where starts_with(new.item, left(old.item, old.half)) or right(new.item, old.half) = right(old.item, old.half)));
end
$$;

-- The date header of a log names its day (0015_moved_logs.sql).
create function public.replace_date_header(content text, to_date date) returns text
  language sql immutable strict parallel safe set search_path = ''
return regexp_replace(content, '^<h2 class="date-header">[^<]*</h2>',
  '<h2 class="date-header">' || to_char(to_date, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2>');

create or replace function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if new.date is distinct from old.date then
    new.content := public.replace_date_header(new.content, new.date);
  end if;
  new.revision := old.revision;
  if (new.date, new.content) is distinct from (old.date, old.content) then
    new.revision := old.revision + 1;
    new.updated_at := now();
  end if;
  if new.content is distinct from old.content then
    new.content_text := public.entry_text(new.content);
  end if;
  return new;
end
$$;

-- As the owner: nobody else may write a version. Runs with every save, so it reads the day's versions once.
create function public.keep_version() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  day constant date := case tg_op when 'DELETE' then old.date else new.date end;
  last_kept timestamptz;
  is_restored boolean;
  change text;
begin
  if day <> old.date then
    update public.entry_versions set date = day, content = public.replace_date_header(content, day)
     where user_id = old.user_id and date = old.date and entry_id = old.id;
    -- The move changed no more than the header.
    if new.content_text = old.content_text then
      return null;
    end if;
  end if;
  if old.content_text = '' then
    return null;
  end if;

  if tg_op = 'DELETE' or new.content_text = '' then
    -- The deletion of an account deletes its logs after its user.
    if tg_op = 'DELETE' and not exists (select from auth.users where id = old.user_id) then
      return null;
    end if;
    change := 'deletion';
  else
    select max(kept_at), bool_or(content = new.content) into last_kept, is_restored
      from public.entry_versions where user_id = old.user_id and date = day;
    if is_restored then
      change := 'restore';
    elsif public.drops_most_items(old.content_text, new.content_text) then
      change := 'drop';
    elsif greatest(last_kept, old.created_at) > now() - interval '10 minutes' then
      return null;
    else
      change := 'edit';
    end if;
  end if;

  -- A text that was brought back and replaced again is one version, not two.
  delete from public.entry_versions where user_id = old.user_id and date = day and content = old.content;
  insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
    values (old.user_id, day, old.id, old.content, old.updated_at, change);
  delete from public.entry_versions
   where user_id = old.user_id and date = day and id in (
     select id from public.entry_versions where user_id = old.user_id and date = day order by kept_at desc offset 20);
  return null;
end
$$;
revoke execute on function public.keep_version() from public;

-- The coach writes neither of the two columns.
create trigger keep_version after update of date, content on public.entries
  for each row when ((new.date, new.content) is distinct from (old.date, old.content))
  execute function public.keep_version();
create trigger keep_deleted_version after delete on public.entries
  for each row execute function public.keep_version();

alter table public.entry_versions enable row level security;
alter table public.entry_versions force row level security;

-- The same days as of `entries`: a plan opens the earlier versions of a day together with the day.
create policy owner_select_entry_versions on public.entry_versions
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
-- Row-level security is forced on the owner too, whom `keep_version` runs as.
create policy trigger_keeps_entry_versions on public.entry_versions
  for all to current_user using (true) with check (true);

revoke all on public.entry_versions from anon, authenticated, service_role;
grant select on public.entry_versions to authenticated;
grant select, delete on public.entry_versions to service_role;

-- The days whose log was deleted and that have no log now. The caller's own policies on both tables apply.
create view public.deleted_days with (security_invoker = true) as
  select distinct on (user_id, date)
      user_id, date, id as version_id, kept_at as deleted_at, left(public.entry_text(content), 200) as excerpt
    from public.entry_versions as version
   where replaced_by = 'deletion'
     and not exists (
       select from public.entries
        where entries.user_id = version.user_id and entries.date = version.date and content_text <> '')
   order by user_id, date, kept_at desc;

revoke all on public.deleted_days from anon, authenticated, service_role;
grant select on public.deleted_days to authenticated;
