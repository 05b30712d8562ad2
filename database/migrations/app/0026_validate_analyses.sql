-- phase: migrate
-- Checks the rows from before 0025_dates_move_by_trigger.sql. Blocks neither reads nor writes.
alter table public.analyses validate constraint analyses_of_entry;
