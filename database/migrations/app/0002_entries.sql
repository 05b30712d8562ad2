-- The logs: one row for a user and a day.

-- A log as plain text. The rule is that of src/domain/entry-text.ts, step by step; tests/policies holds both equal.
-- Fixed texts are replaced by `replace`, which costs a fraction of a regular expression: this runs with every save.
-- `[^<>]` and not `[^>]`: a text of many `<` would take quadratic time.
create function public.entry_text(html text) returns text
  language plpgsql immutable strict parallel safe set search_path = ''
as $$
declare
  line_end text;
begin
  html := regexp_replace(html, '^<h2 class="date-header">[^<]*</h2>', '');
  foreach line_end in array
    array['<br>', '</p>', '</h1>', '</h2>', '</h3>', '</li>', '</pre>', '</blockquote>', '</ul>', '</ol>']
  loop
    html := replace(html, line_end, E'\n');
  end loop;
  html := regexp_replace(html, '<[^<>]*>', '', 'g');
  if position('&' in html) > 0 then
    html := replace(replace(replace(html, '&lt;', '<'), '&gt;', '>'), '&quot;', '"');
    html := replace(replace(replace(html, '&#39;', ''''), '&nbsp;', ' '), '&amp;', '&');
  end if;
  return btrim(regexp_replace(html, E'[\r\n]+', E'\n', 'g'), E' \t\n');
end
$$;

create table public.entries (
  user_id uuid not null references auth.users on delete cascade,
  date date not null constraint entries_calendar_date check (date between '0001-01-01' and '9999-12-31'),
  id uuid not null default gen_random_uuid() unique,
  -- 256 KB as a client sends it, and room for the date header that the server puts before it.
  content text not null constraint entries_content_size check (octet_length(content) <= 262144 + 64),
  content_text text not null default '',
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ai_feedback text,
  hustle_score integer constraint entries_score_range check (hustle_score between 1 and 10),
  ai_analyzed_at timestamptz,
  primary key (user_id, date)
);

-- Keeps what no client may write: the plain text beside the HTML, the revision, and when the words last changed.
create function public.begin_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.content_text := public.entry_text(new.content);
  return new;
end
$$;

create trigger begin_entry before insert on public.entries
  for each row execute function public.begin_entry();

-- Every change raises the revision, which a save names as the one it builds on. Only a change of the words is an
-- update of the log: `ai_analyzed_at >= updated_at` means that the feedback is up to date.
create function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.revision := old.revision + 1;
  if new.content is distinct from old.content then
    new.content_text := public.entry_text(new.content);
    new.updated_at := now();
  end if;
  return new;
end
$$;

create trigger revise_entry before update on public.entries
  for each row when (old.* is distinct from new.*) execute function public.revise_entry();

alter table public.entries enable row level security;
alter table public.entries force row level security;

-- A locked day is neither read nor written, and nobody writes a day that has begun nowhere on Earth. The plan is asked
-- last and only for a day that needs one, so the days of every day cost no look at the profile.
create policy "own open days are read" on public.entries
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy "own open days are begun" on public.entries
  for insert to authenticated
  with check (user_id = (select auth.uid())
    and date <= (select public.latest_today())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy "own open days are changed" on public.entries
  for update to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())))
  with check (user_id = (select auth.uid())
    and date <= (select public.latest_today())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
create policy "own open days are deleted" on public.entries
  for delete to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));

revoke all on public.entries from anon, authenticated;
grant select on public.entries to anon, authenticated;
grant insert (user_id, date, content), update (user_id, date, content), delete on public.entries to authenticated;
grant select, insert, update, delete on public.entries to service_role;
