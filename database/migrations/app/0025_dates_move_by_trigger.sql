-- phase: expand
-- The feedback and the words of a log move with the log by a trigger instead of `on update cascade`, which shards do not
-- have.

-- Deferred, because the row that a constraint refers to and the rows that refer to it change in two statements of one
-- transaction. Not validated here, because that reads both tables under a lock (0026 and 0027 do).
alter table public.analyses drop constraint analyses_of_entry;
alter table public.analyses add constraint analyses_of_entry foreign key (user_id, date)
  references public.entries (user_id, date) on delete cascade deferrable initially deferred not valid;
alter table public.entry_words drop constraint entry_words_user_id_date_fkey;
alter table public.entry_words add constraint entry_words_user_id_date_fkey foreign key (user_id, date)
  references public.entries (user_id, date) on delete cascade deferrable initially deferred not valid;

create function public.move_companions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.analyses set date = new.date where user_id = old.user_id and date = old.date;
  update public.entry_words set date = new.date where user_id = old.user_id and date = old.date;
  return null;
end
$$;
revoke execute on function public.move_companions() from public;

create trigger move_companions after update of date on public.entries
  for each row when (old.date is distinct from new.date) execute function public.move_companions();

-- Row-level security is forced on the owner too, whom the trigger runs as.
create policy owner_move_analyses on public.analyses for update to current_user using (true) with check (true);
create policy owner_select_entry_words on public.entry_words for select to current_user using (true);
create policy owner_move_entry_words on public.entry_words for update to current_user using (true) with check (true);
