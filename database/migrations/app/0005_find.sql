-- What the words of a log are compared with when somebody searches (src/domain/find.ts makes it, docs/decisions/0013).

-- Made by the server before a search from what has changed since the last one, so that no save pays for it and nothing
-- has to be filled in here. It can be emptied at any time.
create table public.entry_words (
  user_id uuid not null,
  date date not null,
  -- The entry's when the words were read from it: another one there means that they are old.
  revision integer not null,
  -- Compared byte by byte, whatever the locale of the database is.
  words text collate "C" not null,
  primary key (user_id, date),
  -- A day that is deleted takes its words along, and one that gets another date as well: that raises its revision, so they
  -- count as old there.
  foreign key (user_id, date) references public.entries on delete cascade on update cascade
);
-- Beside the key and not in a table of its own, where each log would cost a search of its own to fetch.
alter table public.entry_words alter column words set storage main;

alter table public.entry_words enable row level security;
alter table public.entry_words force row level security;

-- The same days as of `entries`: which logs a search can find must never be more than which logs can be read.
create policy "words of own open days are read" on public.entry_words
  for select to authenticated
  using (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));

revoke all on public.entry_words from anon, authenticated, service_role;
grant select on public.entry_words to authenticated;
grant select, insert, update on public.entry_words to service_role;
