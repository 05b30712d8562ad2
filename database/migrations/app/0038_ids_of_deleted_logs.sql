-- phase: expand
-- An insert that got no answer and arrives late brought back a log that its user had deleted since, with the same id and
-- revision. A removal that arrived later still matched that row, also if the user had written the same words again meanwhile.
-- So the id of a deleted log is not used again on its day, as long as the deletion has a version.

create or replace function public.begin_entry() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if exists (
    select from public.entry_versions
     where user_id = new.user_id and date = new.date and entry_id = new.id and replaced_by = 'deletion'
  ) then
    -- Clients read the day after this code and insert with another id.
    raise exception 'a log with this id was deleted' using errcode = 'unique_violation';
  end if;
  if (new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (now(), null::text, null::integer, null::timestamptz)
     and not public.is_server(tg_relid) then
    new.updated_at := now();
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  new.content_text := public.entry_text(new.content);
  return new;
end
$$;
