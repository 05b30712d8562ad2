-- Who has which plan, and which days it opens. Runs on a hosted Supabase project as it is.
-- The rules stand in src/domain/day.ts and plan.ts; tests/policies holds both to the same rows.

-- A day is a civil date in the user's own zone, which the server does not know: it judges with the first and the last
-- day that it can be anywhere on Earth (UTC-12 and UTC+14), so nobody is refused a day that is right where they are.
create function public.earliest_today(at timestamptz default now()) returns date
  language sql stable parallel safe
  return (at at time zone 'UTC' - interval '12 hours')::date;

create function public.latest_today(at timestamptz default now()) returns date
  language sql stable parallel safe
  return (at at time zone 'UTC' + interval '14 hours')::date;

create table public.profiles (
  id uuid primary key references auth.users on delete cascade,
  country text constraint profiles_country_code check (country ~ '^[A-Z]{2}$'),
  subscription_plan text not null default 'free'
    constraint profiles_known_plan check (subscription_plan in ('free', 'premium')),
  -- The last valid day; with a premium plan, null means without end.
  access_valid_until date,
  ai_consent boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

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

insert into public.profiles (id) select id from auth.users;

alter table public.profiles enable row level security;
alter table public.profiles force row level security;

-- `(select auth.uid())` is asked once for the whole statement, where a bare call would be asked for every row.
create policy "own profile is read" on public.profiles
  for select to authenticated using (id = (select auth.uid()));
create policy "own profile is made" on public.profiles
  for insert to authenticated with check (id = (select auth.uid()));
create policy "own profile is changed" on public.profiles
  for update to authenticated using (id = (select auth.uid())) with check (id = (select auth.uid()));
-- Row-level security is forced on the owner too, whom `make_profile` runs as.
create policy "new user gets a profile" on public.profiles
  for insert to current_user with check (true);

-- A hosted project grants everything on new tables by default.
revoke all on public.profiles from anon, authenticated;
grant select on public.profiles to anon, authenticated;
-- `id` for upserts, which name it; the policies keep it to one's own.
grant insert (id, country, ai_consent), update (id, country, ai_consent) on public.profiles to authenticated;
grant select, insert, update, delete on public.profiles to service_role;

-- Judged at request time, so a plan ends on its day whether or not a sweep has written that down.
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
