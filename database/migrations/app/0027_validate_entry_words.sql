-- phase: migrate
-- Checks the rows from before 0025_dates_move_by_trigger.sql. Blocks neither reads nor writes.
alter table public.entry_words validate constraint entry_words_user_id_date_fkey;
