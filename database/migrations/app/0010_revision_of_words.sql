-- The revision counts what a save can overwrite: the words of a log and the day they stand at. A save names the revision
-- it builds on, so what the coach writes beside the words must not raise it: a page that was open meanwhile would find
-- its own day changed, and the words of its last save would reach no row.
create or replace function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.revision := old.revision;
  if (new.date, new.content) is distinct from (old.date, old.content) then
    new.revision := old.revision + 1;
  end if;
  if new.content is distinct from old.content then
    new.content_text := public.entry_text(new.content);
    new.updated_at := now();
  end if;
  return new;
end
$$;
