-- A day that is deleted, or of which no word is left, takes along what the coach said about it: the feedback, and every
-- analysis of a period that holds the day. The feedback of a deleted day goes by its foreign key (0007_coach.sql).

create index analyses_of_period on public.analyses (user_id, period_to) where kind = 'trend';

-- As the owner: nobody who deletes a day may delete what was said.
create function public.forget_day() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.analyses
   where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to;
  if tg_op = 'DELETE' then
    return null;
  end if;
  delete from public.analyses where user_id = old.user_id and date = old.date;
  new.ai_feedback := null;
  new.hustle_score := null;
  new.ai_analyzed_at := null;
  return new;
end
$$;
revoke execute on function public.forget_day() from public;

create trigger forget_deleted_day after delete on public.entries
  for each row execute function public.forget_day();
-- Before an update triggers run by their names: this one comes after `revise_entry`, which makes the plain text.
create trigger revised_to_nothing before update on public.entries
  for each row when (new.content_text = '' and old.content_text <> '') execute function public.forget_day();
