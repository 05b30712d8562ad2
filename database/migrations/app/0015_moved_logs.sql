-- A log that is moved to another day: one UPDATE of its row's `date`, by anybody whom the policies let write both days.

-- The header in the content names the day, so it follows the day, and feedback that was given before the move is outdated
-- (`ai_analyzed_at < updated_at`). `dayLabel` of src/domain/day.ts writes the same header.
create or replace function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if new.date is distinct from old.date then
    new.content := regexp_replace(new.content, '^<h2 class="date-header">[^<]*</h2>',
      '<h2 class="date-header">' || to_char(new.date, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2>');
  end if;
  new.revision := old.revision;
  if (new.date, new.content) is distinct from (old.date, old.content) then
    new.revision := old.revision + 1;
    new.updated_at := now();
  end if;
  if new.content is distinct from old.content then
    new.content_text := public.entry_text(new.content);
  end if;
  return new;
end
$$;

-- A review goes with each of its days that is deleted (0008_forgotten_days.sql), which is found by its date. So a review
-- that the log has left must go when it leaves: a later deletion would not find it.
create function public.forget_reviews_of_moved_log() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.analyses
   where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
     and not new.date between period_from and period_to;
  return null;
end
$$;
revoke execute on function public.forget_reviews_of_moved_log() from public;

create trigger forget_reviews_of_moved_log after update of date on public.entries
  for each row when (old.date is distinct from new.date) execute function public.forget_reviews_of_moved_log();
