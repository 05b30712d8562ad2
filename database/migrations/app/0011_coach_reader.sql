-- Who reads what the coach is asked about, in the words that users agreed to. Another reader is another agreement
-- (src/server/coach/provider-consent.ts).
create table public.coach_reader (
  only_one boolean primary key default true constraint coach_reader_only_one check (only_one),
  name text not null,
  since timestamptz not null default now()
);
alter table public.coach_reader enable row level security;
alter table public.coach_reader force row level security;
revoke all on public.coach_reader from anon, authenticated, service_role;
grant select, insert, update on public.coach_reader to service_role;
