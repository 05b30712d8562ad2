-- phase: expand
-- replaces: 39 migrations, sha256 221a56c46863842d868887b05e156b70a069e497ca3a7c3ab0c4c258c21e64e7
-- Logs, plans, payments and the coach. Runs unchanged on a hosted Supabase project, which has a schema `auth` of its own.
--
-- Row-level security is forced on every table, so it also binds the owner of the tables, whom `security definer` functions
-- run as: policies for `current_user` are those of the owner. A policy is named by its role (`user` is authenticated,
-- `owner` or `trigger` the owner of the tables), its command and its table. `(select auth.uid())` is evaluated once for each
-- statement, a bare call once for each row.
--
-- A hosted project grants everything on new tables and views to the roles of requests, so each table revokes it first.

-- The first and the last day that it can be anywhere on Earth (UTC-12 and UTC+14). A day is a civil date in the user's own
-- zone, which the server does not know. So no day is refused that is right where the user is (src/domain/day/day.ts).
create function public.earliest_today(at timestamptz default now()) returns date
  language sql stable parallel safe
  return (at at time zone 'UTC' - interval '12 hours')::date;

create function public.latest_today(at timestamptz default now()) returns date
  language sql stable parallel safe
  return (at at time zone 'UTC' + interval '14 hours')::date;

-- True for the server's own role and the owner of the table. No role that is added later becomes one by itself.
create function public.is_server(relation oid) returns boolean
  language sql stable set search_path = ''
  return current_user = 'service_role' or pg_catalog.pg_has_role(
    current_user, (select relowner from pg_catalog.pg_class where pg_class.oid = relation), 'member');

-- Makes a table append-only also for the roles that grants do not stop: the owner and a superuser.
create function public.refuse_change_of_ledger() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- The plan of a user, the country, and the consent to the coach.
create table public.profiles (
  id uuid primary key references auth.users on delete cascade,
  -- ISO 3166-1, two capitals.
  country text constraint profiles_country_code check (country ~ '^[A-Z]{2}$'),
  subscription_plan text not null default 'free'
    constraint profiles_known_plan check (subscription_plan in ('free', 'premium')),
  -- The last valid day; with a premium plan, null means without end.
  access_valid_until date,
  ai_consent boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- The jobs expire-plans and send-reminders look for plans that end, over all users.
create index profiles_paid_until on public.profiles (access_valid_until) where subscription_plan = 'premium';

create function public.touch_profile() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end
$$;

create trigger touch_profile before update on public.profiles
  for each row when (old.* is distinct from new.*) execute function public.touch_profile();

-- As the owner: on a hosted project the auth service may not write here.
create function public.make_profile() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.profiles (id) values (new.id);
  return new;
end
$$;
revoke execute on function public.make_profile() from public;

create trigger make_profile after insert on auth.users
  for each row execute function public.make_profile();

-- The users that a hosted project has already.
insert into public.profiles (id) select id from auth.users;

alter table public.profiles enable row level security, force row level security;
create policy user_select_profiles on public.profiles
  for select to authenticated using (id = (select auth.uid()));
create policy user_insert_profiles on public.profiles
  for insert to authenticated with check (id = (select auth.uid()));
create policy user_update_profiles on public.profiles
  for update to authenticated using (id = (select auth.uid())) with check (id = (select auth.uid()));
create policy trigger_insert_profiles on public.profiles
  for insert to current_user with check (true);

revoke all on public.profiles from anon, authenticated, service_role;
grant select on public.profiles to anon, authenticated;
-- `id` for upserts, which name it; the policies limit it to the caller's own.
grant insert (id, country, ai_consent), update (id, country, ai_consent) on public.profiles to authenticated;
grant select, insert, update, delete on public.profiles to service_role;

-- Evaluated at request time, so a plan ends on its day whether or not a job has recorded that.
create function public.is_premium() returns boolean
  language sql stable
  return exists (
    select from public.profiles
     where id = (select auth.uid())
       and subscription_plan = 'premium'
       and (access_valid_until is null or access_valid_until >= public.earliest_today())
  );

-- The first day that is open without a plan: today and the 29 days before it.
create function public.first_free_day() returns date
  language sql stable
  return public.earliest_today() - 29;

-- A log as plain text. src/domain/log/entry-text.ts has the same rule, and tests/policies compares the two. It runs with every
-- save, so it uses no regular expression unless the text contains a bare `<`, which a sanitised log never does: otherwise each
-- piece after a `<` is one tag and the text behind it. In the slow case `[^<>]` instead of `[^>]`: a text of many `<` would
-- take quadratic time.
create function public.entry_text(html text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  -- Adjacent ends of items and paragraphs make one line break.
  pieces constant text[] := string_to_array(
    replace(replace(html, '</p></li><li><p>', '</p>'), '</p><p>', '</p>'), '<');
  has_header constant boolean := starts_with(html, '<h2 class="date-header">') and starts_with(pieces[3], '/h2>');
  plain text;
  is_regular boolean;
  line_end text;
begin
  select coalesce(pieces[1], '') || coalesce(string_agg(
           case when split_part(piece, '>', 1) in
             ('br', '/p', '/h1', '/h2', '/h3', '/li', '/pre', '/blockquote', '/ul', '/ol') then E'\n' else '' end
           || substr(piece, strpos(piece, '>') + 1), ''), ''),
         coalesce(bool_and(strpos(piece, '>') > 0), true)
    into plain, is_regular
    from unnest(pieces[case when has_header then 3 else 2 end:]) as piece;
  if not is_regular then
    plain := regexp_replace(html, '^<h2 class="date-header">[^<]*</h2>', '');
    foreach line_end in array
      array['<br>', '</p>', '</h1>', '</h2>', '</h3>', '</li>', '</pre>', '</blockquote>', '</ul>', '</ol>']
    loop
      plain := replace(plain, line_end, E'\n');
    end loop;
    plain := regexp_replace(plain, '<[^<>]*>', '', 'g');
  end if;
  if strpos(replace(plain, '&amp;', ''), '&') > 0 then
    plain := replace(replace(replace(plain, '&lt;', '<'), '&gt;', '>'), '&quot;', '"');
    plain := replace(replace(plain, '&#39;', ''''), '&nbsp;', ' ');
  end if;
  -- Trims bytes: trimming characters would decode the whole text.
  plain := convert_from(
    btrim(convert_to(replace(replace(plain, '&amp;', '&'), E'\r', E'\n'), 'UTF8'), '\x20090a'), 'UTF8');
  while strpos(plain, E'\n\n') > 0 loop
    plain := replace(plain, E'\n\n', E'\n');
  end loop;
  return plain;
end
$$;

-- The date header of a log names its day. `dayLabel` of src/domain/day/day.ts writes the same header.
create function public.replace_date_header(content text, to_date date) returns text
  language sql immutable strict parallel safe set search_path = ''
return regexp_replace(content, '^<h2 class="date-header">[^<]*</h2>',
  '<h2 class="date-header">' || to_char(to_date, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2>');

-- PostgreSQL inlines the function, because it sets no search path of its own.
create function public.without_date_header(content text) returns text
  language sql immutable strict parallel safe
return case when starts_with(content, '<h2 class="date-header">') then substr(content, strpos(content, '</h2>') + 5)
            else content end;

-- The logs: one row for a user and a day.
create table public.entries (
  user_id uuid not null references auth.users on delete cascade,
  date date not null constraint entries_calendar_date check (date between '0001-01-01' and '9999-12-31'),
  -- A client may choose the id of an insert, and finds the row by it after a lost response, even if another device has moved
  -- the log to another day meanwhile.
  id uuid not null default gen_random_uuid(),
  -- 256 KB as a client sends it, and room for the date header that the server puts before it.
  content text not null constraint entries_content_size check (octet_length(content) <= 262144 + 64),
  content_text text not null default '',
  -- Names the day and the words that a save builds on. Feedback does not raise it: a page that was open meanwhile would find
  -- its own day changed.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  -- When the day or the words last changed: `ai_analyzed_at >= updated_at` means that the feedback is up to date.
  updated_at timestamptz not null default now(),
  ai_feedback text,
  hustle_score integer constraint entries_score_range check (hustle_score between 1 and 10),
  ai_analyzed_at timestamptz,
  primary key (user_id, date),
  -- Unique per user. Threat: under a global constraint a client could insert the id of another user's row. The refusal would
  -- reveal that the row exists, and an id taken in advance would block the other user's insert for good.
  constraint entries_id_key unique (user_id, id)
) with (
  -- Each save updates its log, which grows during its day: room in each page keeps the update HOT, so that no index is
  -- written. With the defaults a year of 100,000 users would wait for seven million dead rows before it is vacuumed; an
  -- insert counts as well, because only vacuumed pages let the dates of a year be listed from the index alone
  -- (docs/operations/data-growth.md).
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

alter table public.entries enable row level security, force row level security;
-- A locked day is neither read nor written. The plan is evaluated last and only for a day that needs one. PostgreSQL
-- evaluates equal conditions once, so reading and writing have the same condition, and policies of their own refuse days
-- that have begun nowhere on Earth.
create policy user_select_entries on public.entries
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy user_insert_entries on public.entries
  for insert to authenticated
  with check (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy user_update_entries on public.entries
  for update to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())))
  with check (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy user_delete_entries on public.entries
  for delete to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy reject_insert_of_future_day on public.entries as restrictive for insert to authenticated
  with check (date <= (select public.latest_today()));
create policy reject_update_to_future_day on public.entries as restrictive for update to authenticated
  using (true) with check (date <= (select public.latest_today()));
-- For the view `entry_dates`. An owner with `bypassrls` needs the condition of the view instead.
create policy owner_select_entries on public.entries
  for select to current_user using (user_id = (select auth.uid()));

revoke all on public.entries from anon, authenticated, service_role;
grant select on public.entries to anon, authenticated;
-- The last four columns are the server's. The product's first clients send them along with a save; the triggers keep the
-- database's own values.
grant insert (user_id, date, id, content, updated_at, ai_feedback, hustle_score, ai_analyzed_at),
  update (user_id, date, content, updated_at, ai_feedback, hustle_score, ai_analyzed_at), delete
  on public.entries to authenticated;
grant select, insert, update, delete on public.entries to service_role;

-- The triggers of `entries`. For each statement PostgreSQL copies all triggers of the table and parses the condition of each
-- one that may fire, so there is one trigger before and one after each change, without a condition.

-- Sets what no client may write: the plain text, and the columns of the server. A client may send those along with a save,
-- which then succeeds, and the database keeps its own values.
--
-- The id of a deleted log is not used again on its day, as long as the deletion has a version: an insert that got no answer
-- and arrives late would bring back a log that its user has deleted since.
create function public.begin_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if exists (
    select from public.entry_versions
     where user_id = new.user_id and date = new.date and entry_id = new.id and replaced_by = 'deletion'
  ) then
    -- Clients read the day after this code and insert with another id.
    raise exception 'a log with this id was deleted' using errcode = 'unique_violation';
  end if;
  if (new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (now(), null::text, null::integer, null::timestamptz)
     and not public.is_server(tg_relid) then
    new.updated_at := now();
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  new.content_text := public.entry_text(new.content);
  return new;
end
$$;

create trigger begin_entry before insert on public.entries
  for each row execute function public.begin_entry();

create function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (old.updated_at, old.ai_feedback, old.hustle_score, old.ai_analyzed_at)
     and not public.is_server(tg_relid) then
    new.updated_at := old.updated_at;
    new.ai_feedback := old.ai_feedback;
    new.hustle_score := old.hustle_score;
    new.ai_analyzed_at := old.ai_analyzed_at;
  end if;
  if new.date <> old.date then
    new.content := public.replace_date_header(new.content, new.date);
  end if;
  new.revision := old.revision;
  if new.content <> old.content then
    new.content_text := public.entry_text(new.content);
  end if;
  if new.content <> old.content or new.date <> old.date then
    new.revision := old.revision + 1;
    new.updated_at := now();
  end if;
  -- An emptied day loses its feedback: `follow_entry` deletes its analyses.
  if new.content_text = '' and old.content_text <> '' then
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  return new;
end
$$;

create trigger revise_entry before update on public.entries
  for each row execute function public.revise_entry();

-- Reports a committed change of a log's words or day, so that a page shows what was written elsewhere
-- (docs/specification/live.md). A report is `USER DATE ROW REVISION`, without a revision if the day no longer has that row,
-- and never has any text.
--
-- NOTIFY holds one lock of the whole database server until its transaction is flushed to disk, so in the transaction of a
-- save it would make all saves wait for each other (docs/decisions/0029). The product's server therefore receives the report as
-- a message of level INFO, which reaches the client under every setting, and announces many commits in one NOTIFY of its
-- own. Any other client, such as psql, notifies by itself. Without a search path of its own: setting one costs more than the
-- rest, and this calls built-in functions only.
create function public.report_entry_change(report text) returns void
  language plpgsql
as $$
begin
  if pg_catalog.current_setting('application_name') = 'hustle-forge' then
    raise info using errcode = 'HF001', message = report;
  else
    perform pg_catalog.pg_notify('entry_changes', report);
  end if;
end
$$;

-- After a change of a log: deletes stale feedback, keeps a version, moves feedback and words to another day, and reports the
-- change. A deleted or emptied day takes along its feedback and each review of a period that contains the day. A review that
-- the log has left goes when it leaves: a later deletion would not find it. Feedback and words move by this trigger instead of
-- `on update cascade`, which tables that are divided by user over several servers do not have.
--
-- An import replaces a whole log by a text that its owner has not written on top of it. So a statement that sets
-- `hustle_forge.keeps_version` keeps the replaced text in any case, also of a log younger than ten minutes and if most of its
-- items stay. The setting only ever keeps more, and clients of the API cannot set it.
create function public.follow_entry() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  is_deleted constant boolean := tg_op = 'DELETE';
  is_moved constant boolean := tg_op = 'UPDATE' and new.date <> old.date;
  is_emptied constant boolean := tg_op = 'UPDATE' and new.content_text = '' and old.content_text <> '';
  day constant date := case when is_deleted then old.date else new.date end;
  last_kept timestamptz;
  is_restored boolean;
  change text;
  replaced text;
  successor text;
begin
  if is_deleted or is_emptied or is_moved then
    delete from public.analyses
     where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
       and (is_deleted or is_emptied or not day between period_from and period_to);
  end if;
  if is_emptied then
    delete from public.analyses where user_id = old.user_id and date = old.date;
  end if;

  <<version>>
  begin
    exit version when tg_op = 'INSERT' or (not is_deleted and not is_moved and new.content = old.content);
    if is_moved then
      update public.entry_versions set date = day
       where user_id = old.user_id and date = old.date and entry_id = old.id;
      -- The move changed no more than the header.
      exit version when new.content_text = old.content_text;
    end if;
    exit version when old.content_text = '';

    if is_deleted or is_emptied then
      -- The deletion of an account deletes its logs after its user.
      exit version when is_deleted and not exists (select from auth.users where id = old.user_id);
      change := 'deletion';
    else
      -- Versions that were kept before 0037 have the header.
      successor := public.without_date_header(new.content);
      select max(kept_at), bool_or(content = successor or content = new.content) into last_kept, is_restored
        from public.entry_versions where user_id = old.user_id and date = day;
      if is_restored then
        change := 'restore';
      elsif public.drops_most_items(old.content_text, new.content_text) then
        change := 'drop';
      elsif current_setting('hustle_forge.keeps_version', true) is distinct from 'on'
            and greatest(last_kept, old.created_at) > now() - interval '10 minutes' then
        exit version;
      else
        change := 'edit';
      end if;
    end if;

    -- A text that was brought back and replaced again is one version, not two.
    replaced := public.without_date_header(old.content);
    delete from public.entry_versions
     where user_id = old.user_id and date = day and (content = replaced or content = old.content);
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
      values (old.user_id, day, old.id, replaced, old.updated_at, change);
    perform public.thin_versions(old.user_id, day);
  end;

  if is_moved then
    update public.analyses set date = day where user_id = old.user_id and date = old.date;
    update public.entry_words set date = day where user_id = old.user_id and date = old.date;
  end if;

  if tg_op <> 'INSERT' and (is_deleted or is_moved or new.user_id <> old.user_id) then
    perform public.report_entry_change(concat_ws(' ', old.user_id, to_char(old.date, 'YYYY-MM-DD'), old.id));
  end if;
  if tg_op = 'INSERT' or (not is_deleted and (
       new.revision <> old.revision or new.id <> old.id or is_moved or new.user_id <> old.user_id)) then
    perform public.report_entry_change(concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision));
  end if;
  return null;
end
$$;
revoke execute on function public.follow_entry() from public;

create trigger follow_entry after insert or update or delete on public.entries
  for each row execute function public.follow_entry();

-- The dates of all of the caller's own logs, also of locked days: the calendar, a locked day and the upgrade dialog say that
-- a log exists. With the owner's rights, because the policies of `entries` hide locked days. It has neither words nor
-- anything that could be counted of them. `security_barrier`: a function in a caller's condition must not see another user's
-- dates before they are filtered out.
create view public.entry_dates with (security_barrier = true) as
  select user_id, date from public.entries where user_id = (select auth.uid());
-- Threat: the view could be written through to `entries`.
revoke all on public.entry_dates from anon, authenticated, service_role;
grant select on public.entry_dates to authenticated;

-- The words of each log for a search (docs/decisions/0013): a cache that the server fills before a search from what has
-- changed since the last one, so that no save pays for it. It can be emptied at any time.
create table public.entry_words (
  user_id uuid not null,
  date date not null,
  -- The revision of the log when its words were read: with another one there, the words are stale.
  revision integer not null,
  -- Compared byte by byte, whatever the locale of the database is. Stored beside the key: in a table of its own each log would
  -- cost a search of its own to fetch.
  words text collate "C" not null,
  primary key (user_id, date),
  -- Deferred, because `follow_entry` moves a log and its words in two statements of one transaction.
  foreign key (user_id, date) references public.entries on delete cascade deferrable initially deferred
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table public.entry_words alter column words set storage main;

alter table public.entry_words enable row level security, force row level security;
-- The same days as of `entries`: a search must never find more logs than can be read.
create policy user_select_entry_words on public.entry_words
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
-- For `follow_entry`.
create policy owner_select_entry_words on public.entry_words for select to current_user using (true);
create policy owner_move_entry_words on public.entry_words for update to current_user using (true) with check (true);

revoke all on public.entry_words from anon, authenticated, service_role;
grant select on public.entry_words to authenticated;
grant select, insert, update on public.entry_words to service_role;

-- Earlier versions of a log (docs/specification/days-and-saving.md 12): the text before a change, without its date header, so
-- that moving a log changes no text of its versions.
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
  -- restored, or the deletion of the log.
  replaced_by text not null
    constraint entry_versions_known_change check (replaced_by in ('edit', 'drop', 'restore', 'deletion')),
  primary key (user_id, date, id)
  -- A version lives for 30 days at most: as many rows are deleted as are inserted.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- For the job that deletes what is older than 30 days.
create index entry_versions_by_age on public.entry_versions (kept_at);

alter table public.entry_versions enable row level security, force row level security;
-- The same days as of `entries`: a plan opens the earlier versions of a day together with the day.
create policy user_select_entry_versions on public.entry_versions
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
-- For `follow_entry`: no other role may write a version.
create policy trigger_keeps_entry_versions on public.entry_versions
  for all to current_user using (true) with check (true);

revoke all on public.entry_versions from anon, authenticated, service_role;
grant select on public.entry_versions to authenticated;
grant select, delete on public.entry_versions to service_role;

-- True if more than half of the items (lines of the plain text) of a log are gone. An item that was edited in place still
-- begins with the first half of the old item or ends with its last half. The limits keep the time linear; where they
-- apply, the answer is true, so that a version too many is kept and never one too few. Typing at the end of a log or within
-- one line of it is what nearly every save does: both are recognised before any query runs. Without a search path of its own:
-- setting one costs more than the rest, and this calls built-in functions only.
create function public.drops_most_items(before text, after text) returns boolean
  language plpgsql immutable strict parallel safe
as $$
declare
  items text[];
  later text[];
  lost text[];
  total integer;
  half integer;
begin
  if starts_with(after, before) then
    return false;
  end if;
  items := string_to_array(before, E'\n');
  later := string_to_array(after, E'\n');
  total := cardinality(items);
  half := (total + 1) / 2;
  if later[:half] = items[:half] or later[cardinality(later) - half + 1:] = items[total - half + 1:] then
    return false;
  end if;
  if cardinality(later) * 2 < total then
    return true;
  end if;
  lost := array(select unnest(items) except all select unnest(later));
  if cardinality(lost) * 2 <= total or cardinality(lost) > 50 then
    return cardinality(lost) * 2 > total;
  end if;
  return (
    with gained as (
      select item from (select unnest(later) except all select unnest(items)) as added (item) limit 100)
    select count(*) * 2 > total
      from (select item, (char_length(item) + 1) / 2 as half_length from unnest(lost) as item) as old
     where not exists (
       select from gained as new
        where starts_with(new.item, left(old.item, old.half_length))
           or right(new.item, old.half_length) = right(old.item, old.half_length)));
end
$$;

-- A day keeps 20 versions. The ten newest stay. Of the older ones, the version goes that follows its predecessor most closely,
-- so a burst thins out itself, and the oldest version stays until it is 30 days old. Threat: if age alone decided, a thief of
-- a session who replaces a text 20 times within a second would remove every earlier version, and with it the way back.
create function public.thin_versions(of_user uuid, of_date date) returns void
  language sql set search_path = ''
begin atomic
  delete from public.entry_versions
   where user_id = of_user and date = of_date and id in (
     select id from (
       select id, row_number() over newest_first as place, kept_at - lead(kept_at) over newest_first as gap
         from public.entry_versions where user_id = of_user and date = of_date
       window newest_first as (order by kept_at desc, id)) as versions
      where place > 10
      order by gap nulls last
      limit (select greatest(count(*) - 20, 0) from public.entry_versions where user_id = of_user and date = of_date));
end;
revoke execute on function public.thin_versions(uuid, date) from public;

-- The days whose log was deleted and that have no log now. The caller's own policies on both tables apply. The excerpt follows
-- the choice of one version for each day and reads the beginning of the text: computing it for every version of a user with
-- large versions took ten seconds.
create view public.deleted_days with (security_invoker = true) as
  select user_id, date, version_id, deleted_at,
         -- A tag that the cut divides is left out.
         left(public.entry_text(regexp_replace(left(content, 8192), '<[^>]*$', '')), 200) as excerpt
    from (
      select distinct on (user_id, date) user_id, date, id as version_id, kept_at as deleted_at, content
        from public.entry_versions version
       where replaced_by = 'deletion'
         and not exists (
           select from public.entries
            where entries.user_id = version.user_id and entries.date = version.date and entries.content_text <> '')
       order by user_id, date, kept_at desc
    ) as deleted;
revoke all on public.deleted_days from anon, authenticated, service_role;
grant select on public.deleted_days to authenticated;

-- The answers of the coach, which src/server/coach writes.
create table public.analyses (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  kind text not null constraint analyses_known_kind check (kind in ('feedback', 'trend')),
  -- The day of a feedback; the first and the last day of a trend.
  date date,
  period_from date,
  period_to date,
  -- Of everything that decides the answer: the words, the prompt's version, the model. The same input is never paid for twice.
  input_hash text not null,
  provider text not null,
  model text not null,
  -- The model that answered, as the provider names it: an alias changes its target.
  model_version text,
  prompt_version integer not null,
  finish_reason text not null,
  input_tokens integer,
  output_tokens integer,
  duration_ms integer not null,
  score integer constraint analyses_score_range check (score between 1 and 10),
  text text not null,
  -- Places of the cited lines among all lines with text, from 1.
  cited smallint[] not null default '{}',
  missing_fact text,
  created_at timestamptz not null default now(),
  -- The label of each cited line in the feedback: `3.2`, as the page shows it, or its first words. Null for feedback before
  -- prompt version 4, which cites by `cited` alone.
  cited_refs text[],
  primary key (user_id, id),
  constraint analyses_whole check (
    (kind = 'feedback' and date is not null and score is not null and period_from is null and period_to is null)
    or (kind = 'trend' and date is null and score is null and period_from <= period_to)),
  -- Feedback is deleted and moved with its log. Deferred as the constraint of `entry_words` is.
  constraint analyses_of_entry foreign key (user_id, date) references public.entries
    on delete cascade deferrable initially deferred
);
comment on column public.analyses.cited is 'Places of the cited lines among all lines with text, from 1';
create index analyses_by_input on public.analyses (user_id, kind, input_hash, created_at desc);
create index analyses_of_day on public.analyses (user_id, date, created_at desc) where date is not null;
create index analyses_of_period on public.analyses (user_id, period_to) where kind = 'trend';

-- Immutable for every role; `user_id` and `date` follow the log.
create trigger never_changed before update of id, kind, period_from, period_to, input_hash, provider, model,
    model_version, prompt_version, finish_reason, input_tokens, output_tokens, duration_ms, score, text, cited,
    cited_refs, missing_fact, created_at
  on public.analyses for each statement execute function public.refuse_change_of_ledger();

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

alter table public.analyses enable row level security, force row level security;
create policy user_select_analyses on public.analyses
  for select to authenticated
  using (user_id = (select auth.uid()) and (select public.is_premium()));
-- For `follow_entry` and `thin_analyses`.
create policy trigger_select_analyses on public.analyses for select to current_user using (true);
create policy trigger_delete_analyses on public.analyses for delete to current_user using (true);
create policy owner_move_analyses on public.analyses for update to current_user using (true) with check (true);

revoke all on public.analyses from anon, authenticated, service_role;
grant select (user_id, id, kind, date, period_from, period_to, provider, model, score, text, cited, missing_fact,
  created_at, cited_refs) on public.analyses to authenticated;
grant select, insert on public.analyses to service_role;

-- The leases of running analyses: one row for each day or period that was analysed recently, and its tries.
create table public.analysis_runs (
  user_id uuid not null references auth.users on delete cascade,
  kind text not null constraint analysis_runs_known_kind check (kind in ('feedback', 'trend')),
  -- The day, or the period with its last day.
  key text not null,
  -- Names the try that holds the lease, so that one whose lease has expired stores nothing.
  run uuid not null,
  lease_until timestamptz not null,
  -- Tries of one day (UTC), for the daily budget: an analysis that its reader left was paid for as well.
  counted_on date not null,
  tries integer not null,
  primary key (user_id, kind, key)
);
-- For the job that deletes the tries of earlier days.
create index analysis_runs_by_day on public.analysis_runs (counted_on);
alter table public.analysis_runs enable row level security, force row level security;
revoke all on public.analysis_runs from anon, authenticated, service_role;
grant select, insert, update, delete on public.analysis_runs to service_role;

-- The provider that reads the logs, in the words that users consented to. Another provider needs another consent
-- (src/server/coach/provider-consent.ts).
create table public.coach_reader (
  only_one boolean primary key default true constraint coach_reader_only_one check (only_one),
  name text not null,
  since timestamptz not null default now()
);
alter table public.coach_reader enable row level security, force row level security;
revoke all on public.coach_reader from anon, authenticated, service_role;
grant select, insert, update on public.coach_reader to service_role;

-- The undo of an import: one row for each day that the import has written, with the version that the import left behind. A day
-- that has another version by then was changed since and stays.
--
-- Threat: the rows decide which logs the service deletes or restores, also on days that the plan does not open. So no role of
-- clients reads or writes them, and the service takes both the user and the rows from the session and this table.
create table public.import_days (
  user_id uuid not null references auth.users on delete cascade,
  import_id uuid not null,
  date date not null,
  entry_id uuid not null,
  revision integer not null,
  change text not null constraint import_days_known_change check (change in ('added', 'filled', 'replaced', 'feedback')),
  -- The feedback that the import's feedback replaced: feedback, score, analyzedAt. Null if the import wrote none.
  earlier_coach jsonb,
  written_at timestamptz not null default now(),
  primary key (user_id, import_id, date)
);
create index import_days_by_age on public.import_days (written_at);
alter table public.import_days enable row level security, force row level security;
revoke all on public.import_days from anon, authenticated, service_role;
grant select, insert, update, delete on public.import_days to service_role;

-- Payments and ledgers name their user without a foreign key: what was paid must outlive the account. `erase_payer` at the end
-- of this file replaces the user of a deleted account, and nothing else changes it.

-- The user whom `erase_payer` is erasing; null outside of it. Threat: any role can set the variable, but only the owner
-- of the table, whom `erase_payer` runs as, gets an answer.
create function public.erased_user(relation oid) returns uuid
  language sql stable set search_path = ''
return (
  select nullif(current_setting('hustle_forge.erased_user', true), '')::uuid
    from pg_catalog.pg_class where oid = relation and pg_catalog.pg_has_role(current_user, relowner, 'member'));

-- Refuses an update of a ledger unless `erase_payer` replaces the user alone. As a trigger of the statement it also refuses
-- an update that row-level security leaves without rows.
create function public.allow_only_erasure() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  erased uuid := public.erased_user(tg_relid);
  is_refused boolean := erased is null;
begin
  if not is_refused and tg_level = 'ROW' then
    is_refused := old.user_id is distinct from erased
      or to_jsonb(new) - 'user_id' is distinct from to_jsonb(old) - 'user_id';
  end if;
  if is_refused then
    raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
  end if;
  if tg_level = 'STATEMENT' then
    return null;
  end if;
  return new;
end
$$;

-- One row for each attempt to buy a year. src/domain/payment/payment.ts has the rules, and src/server/payments moves a row from
-- one status to the next.
create table public.payments (
  -- PayPal gets it as custom_id and invoice_id, so that every order and every capture names its row.
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  provider text not null default 'paypal' constraint payments_known_provider check (provider in ('paypal')),
  -- Set once each, as soon as PayPal has named them.
  order_id text unique,
  capture_id text unique,
  amount_minor integer not null constraint payments_amount_range check (amount_minor > 0),
  currency text not null constraint payments_currency_code check (currency ~ '^[A-Z]{3}$'),
  -- The buyer's country by the buyer's own statement when the order was made. Its law decides about refunds.
  country text constraint payments_country_code check (country ~ '^[A-Z]{2}$'),
  status text not null default 'created' constraint payments_known_status check (status in
    ('created', 'approved', 'capturing', 'pending', 'completed', 'declined', 'voided', 'expired', 'refunded',
     'reversed', 'needs_review')),
  -- Until then one worker holds this payment exclusively. Another one follows a worker that died.
  lease_until timestamptz,
  -- When the job polls PayPal next; null when nothing is left to poll.
  due_at timestamptz,
  -- How often a capture was refused for good: every try after that is a request of its own at PayPal.
  refused_captures integer not null default 0,
  refund_requested_at timestamptz,
  approval_url text,
  debug_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  receipt_mailed_at timestamptz,
  -- When the mail to the buyer about this status is due; null when there is nothing to tell.
  mail_due_at timestamptz
);
create index payments_of_user on public.payments (user_id, created_at desc);
create index payments_due on public.payments (due_at) where due_at is not null;
create index payments_mail_due on public.payments (mail_due_at) where mail_due_at is not null;

-- The facts of a payment are immutable, and so are the ids that PayPal has assigned.
create function public.keep_payment_facts() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if old.user_id = public.erased_user(tg_relid) then
    if to_jsonb(new) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at']
         is distinct from to_jsonb(old) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at'] then
      raise exception 'erasing a payer changes no facts of a payment' using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  if (new.id, new.user_id, new.provider, new.amount_minor, new.currency, new.created_at)
       is distinct from (old.id, old.user_id, old.provider, old.amount_minor, old.currency, old.created_at)
     or new.country is distinct from old.country
     or (old.order_id is not null and new.order_id is distinct from old.order_id)
     or (old.capture_id is not null and new.capture_id is distinct from old.capture_id) then
    raise exception 'the facts of a payment are never changed' using errcode = 'restrict_violation';
  end if;
  -- Set together with the status, so that no crash comes between them. A refusal is mailed only to a buyer who was asked
  -- to wait for it; any other buyer sees it on the screen.
  if new.status is distinct from old.status
     and (new.status in ('completed', 'refunded', 'reversed')
          or (new.status = 'declined' and exists (
                select from public.payment_changes where payment_id = new.id and status = 'pending'))) then
    new.mail_due_at := now();
  end if;
  new.updated_at := now();
  return new;
end
$$;

create trigger keep_payment_facts before update on public.payments
  for each row execute function public.keep_payment_facts();
create trigger never_deleted before delete or truncate on public.payments
  for each statement execute function public.refuse_change_of_ledger();

alter table public.payments enable row level security, force row level security;
create policy user_select_payments on public.payments
  for select to authenticated using (user_id = (select auth.uid()));
-- For `erase_payer`. An update whose `where` reads the row checks the policy for reading on the changed row as well, which
-- names another user. The same holds for the ledgers below.
create policy owner_select_payments on public.payments for select to current_user
  using ((select public.erased_user('public.payments'::regclass)) is not null);
create policy owner_erase_user_of_payments on public.payments for update to current_user
  using (user_id = (select public.erased_user('public.payments'::regclass))) with check (true);

revoke all on public.payments from anon, authenticated, service_role;
grant select (id, user_id, order_id, amount_minor, currency, country, status, created_at, completed_at)
  on public.payments to authenticated;
grant select, insert, update on public.payments to service_role;

-- Append-only: each status that a payment has had, and when.
create table public.payment_changes (
  payment_id uuid not null references public.payments,
  id bigint generated always as identity,
  status text not null,
  changed_at timestamptz not null default now(),
  primary key (payment_id, id)
);

create function public.note_payment_status() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  insert into public.payment_changes (payment_id, status) values (new.id, new.status);
  return null;
end
$$;

create trigger note_first_status after insert on public.payments
  for each row execute function public.note_payment_status();
create trigger note_status after update on public.payments
  for each row when (old.status is distinct from new.status) execute function public.note_payment_status();
create trigger only_added_to before update or delete or truncate on public.payment_changes
  for each statement execute function public.refuse_change_of_ledger();

alter table public.payment_changes enable row level security, force row level security;
revoke all on public.payment_changes from anon, authenticated, service_role;
grant select, insert on public.payment_changes to service_role;

-- Webhooks of PayPal. The key is PayPal's own, so that an event that is sent twice is one event. A job empties the payload,
-- which names the payer, after its retention period; the row stays, so that the event is still known if it is sent again.
create table public.payment_events (
  id text primary key,
  type text not null,
  raw text not null,
  received_at timestamptz not null default now(),
  processed_at timestamptz
);
create index payment_events_waiting on public.payment_events (received_at) where processed_at is null;
create index payment_events_bodies on public.payment_events (received_at) where raw <> '';
alter table public.payment_events enable row level security, force row level security;
revoke all on public.payment_events from anon, authenticated, service_role;
grant select, insert, update (raw, processed_at) on public.payment_events to service_role;

-- Append-only: captures, fees, refunds and reversals.
create table public.payment_ledger (
  payment_id uuid not null references public.payments,
  id bigint generated always as identity,
  kind text not null constraint payment_ledger_known_kind check (kind in ('capture', 'fee', 'refund', 'reversal')),
  amount_minor integer not null constraint payment_ledger_amount_range check (amount_minor >= 0),
  currency text not null,
  -- PayPal's id of the transaction. Together with the kind it is booked once, whoever reports it.
  provider_ref text not null,
  booked_at timestamptz not null default now(),
  primary key (payment_id, id),
  constraint payment_ledger_booked_once unique (kind, provider_ref)
);

create trigger only_added_to before update or delete or truncate on public.payment_ledger
  for each statement execute function public.refuse_change_of_ledger();

alter table public.payment_ledger enable row level security, force row level security;
revoke all on public.payment_ledger from anon, authenticated, service_role;
grant select, insert on public.payment_ledger to service_role;

-- Append-only: one row for each change of a plan.
create table public.plan_changes (
  user_id uuid not null,
  id bigint generated always as identity,
  plan text not null constraint plan_changes_known_plan check (plan in ('free', 'premium')),
  access_valid_until date,
  -- The cause: 'operator grant', 'payment', 'expiry', ...
  reason text not null constraint plan_changes_reason check (reason <> ''),
  changed_at timestamptz not null default now(),
  -- The payment that caused the change, and the first day that it added.
  payment_id uuid references public.payments,
  valid_from date,
  primary key (user_id, id)
);
-- A payment adds one year and ends it once, whatever the program does. Unique keys begin with the user, because tables may be
-- partitioned by user.
create unique index plan_changes_granted_once on public.plan_changes (user_id, payment_id) where reason = 'payment';
create unique index plan_changes_ended_once on public.plan_changes (user_id, payment_id)
  where reason in ('refund', 'reversal');

create trigger only_added_to before delete or truncate on public.plan_changes
  for each statement execute function public.refuse_change_of_ledger();
create trigger updated_by_erasure_alone before update on public.plan_changes
  for each statement execute function public.allow_only_erasure();
create trigger only_user_is_erased before update on public.plan_changes
  for each row execute function public.allow_only_erasure();

alter table public.plan_changes enable row level security, force row level security;
create policy user_select_plan_changes on public.plan_changes
  for select to authenticated using (user_id = (select auth.uid()));
create policy owner_select_plan_changes on public.plan_changes for select to current_user
  using ((select public.erased_user('public.plan_changes'::regclass)) is not null);
create policy owner_erase_user_of_plan_changes on public.plan_changes for update to current_user
  using (user_id = (select public.erased_user('public.plan_changes'::regclass))) with check (true);

revoke all on public.plan_changes from anon, authenticated, service_role;
grant select on public.plan_changes to authenticated;
grant select, insert on public.plan_changes to service_role;

-- Append-only: what a paid plan was used for. The refund rule reads it.
create table public.plan_uses (
  user_id uuid not null,
  id bigint generated always as identity,
  kind text not null constraint plan_uses_known_kind check (kind in ('export', 'analysis')),
  used_at timestamptz not null default now(),
  primary key (user_id, id)
);

create trigger only_added_to before delete or truncate on public.plan_uses
  for each statement execute function public.refuse_change_of_ledger();
create trigger updated_by_erasure_alone before update on public.plan_uses
  for each statement execute function public.allow_only_erasure();
create trigger only_user_is_erased before update on public.plan_uses
  for each row execute function public.allow_only_erasure();

alter table public.plan_uses enable row level security, force row level security;
create policy user_select_plan_uses on public.plan_uses
  for select to authenticated using (user_id = (select auth.uid()));
create policy owner_select_plan_uses on public.plan_uses for select to current_user
  using ((select public.erased_user('public.plan_uses'::regclass)) is not null);
create policy owner_erase_user_of_plan_uses on public.plan_uses for update to current_user
  using (user_id = (select public.erased_user('public.plan_uses'::regclass))) with check (true);

revoke all on public.plan_uses from anon, authenticated, service_role;
grant select on public.plan_uses to authenticated;
grant select, insert on public.plan_uses to service_role;

-- The reminders of a plan's end that were sent.
create table public.plan_reminders (
  user_id uuid not null references auth.users on delete cascade,
  access_valid_until date not null,
  days_before integer not null,
  mailed_at timestamptz not null default now(),
  primary key (user_id, access_valid_until, days_before)
);
alter table public.plan_reminders enable row level security, force row level security;
revoke all on public.plan_reminders from anon, authenticated, service_role;
grant select, insert, delete on public.plan_reminders to service_role;

-- Replaces the user in every ledger by one random id, which it returns: the rows still belong together, and to no one. Works
-- only for a user whose account no longer exists.
create function public.erase_payer(payer uuid) returns uuid
  language plpgsql security definer set search_path = ''
as $$
declare
  nobody uuid := gen_random_uuid();
begin
  if exists (select from auth.users where id = payer) then
    raise exception 'the account of this user still exists' using errcode = 'restrict_violation';
  end if;
  perform set_config('hustle_forge.erased_user', payer::text, true);
  update public.payments
     set user_id = nobody, country = null, approval_url = null, debug_id = null, mail_due_at = null
   where user_id = payer;
  update public.plan_changes set user_id = nobody where user_id = payer;
  update public.plan_uses set user_id = nobody where user_id = payer;
  perform set_config('hustle_forge.erased_user', '', true);
  return nobody;
end
$$;
revoke execute on function public.erase_payer(uuid) from public, anon, authenticated;
grant execute on function public.erase_payer(uuid) to service_role;
