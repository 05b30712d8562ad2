-- phase: expand
-- A day may end at 03:00 (src/domain/day/current-day.ts), so the earliest day in which a user can be is three hours behind
-- the earliest date on Earth. The free window begins with it: at 02:30 in Honolulu the oldest of a user's 30 days is open as
-- in the browser. No user's setting takes part, and plans still end with the date (`earliest_today`).
create function public.earliest_current_day(at timestamptz default now()) returns date
  language sql stable parallel safe
  return public.earliest_today(at - interval '3 hours');

-- The first day that is open without a plan: today and the 29 days before it.
create or replace function public.first_free_day() returns date
  language sql stable
  return public.earliest_current_day() - 29;
