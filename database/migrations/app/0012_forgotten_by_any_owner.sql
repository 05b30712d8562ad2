-- Row-level security is forced on the owner too, whom `forget_day` runs as. Without these it would find nothing to delete,
-- and say nothing, where the owner may not pass by row-level security.
create policy "what was said of a forgotten day is found" on public.analyses
  for select to current_user using (true);
create policy "what was said of a forgotten day is deleted" on public.analyses
  for delete to current_user using (true);

-- Days that were emptied before 0008_forgotten_days.sql kept what was said of them. The owner has no policy on the logs.
alter table public.entries no force row level security;
-- A review that was made later knows nothing of the words; one that was under way took minutes.
delete from public.analyses said using public.entries
  where entries.content_text = '' and entries.user_id = said.user_id
    and (said.date = entries.date
      or entries.date between said.period_from and said.period_to
         and said.created_at < entries.updated_at + interval '1 hour');
update public.entries set ai_feedback = null, hustle_score = null, ai_analyzed_at = null
  where content_text = '' and (ai_feedback, hustle_score, ai_analyzed_at) is distinct from (null, null, null);
alter table public.entries force row level security;
