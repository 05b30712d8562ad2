-- phase: expand
-- The user can undo an import as a whole: one row for each day that the import has written, with the version that the
-- import left behind. A day that has another version by then was changed since and stays.
--
-- Threat: the rows decide which logs the service deletes or restores, also on days that the plan does not open. So no role of
-- clients reads or writes them, and the service takes both the user and the rows from the session and this table.
create table public.import_days (
  user_id uuid not null references auth.users (id) on delete cascade,
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
grant select, insert, update, delete on public.import_days to service_role;
