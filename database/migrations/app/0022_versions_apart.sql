-- A day keeps 20 versions. Which one goes when a 21st is kept no longer depends on age alone. Threat: a thief of a session
-- who replaces a text 20 times within a second would remove every earlier version, and with it the way back.

-- The ten newest stay. Of the older ones, the version goes that follows its predecessor most closely, so a burst thins out
-- itself, and the oldest version stays until it is 30 days old.
create function public.thin_versions(of_user uuid, of_date date) returns void
  language sql set search_path = ''
begin atomic
  delete from public.entry_versions
   where user_id = of_user and date = of_date and id in (
     select id from (
       select id, row_number() over newest_first as place, kept_at - lead(kept_at) over newest_first as gap
         from public.entry_versions where user_id = of_user and date = of_date
       window newest_first as (order by kept_at desc, id)) as versions
      where place > 10
      order by gap nulls last
      limit (select greatest(count(*) - 20, 0) from public.entry_versions where user_id = of_user and date = of_date));
end;
revoke execute on function public.thin_versions(uuid, date) from public;

-- As in 0018_entry_versions.sql, except for the last statement.
create or replace function public.keep_version() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  day constant date := case tg_op when 'DELETE' then old.date else new.date end;
  last_kept timestamptz;
  is_restored boolean;
  change text;
begin
  if day <> old.date then
    update public.entry_versions set date = day, content = public.replace_date_header(content, day)
     where user_id = old.user_id and date = old.date and entry_id = old.id;
    -- The move changed no more than the header.
    if new.content_text = old.content_text then
      return null;
    end if;
  end if;
  if old.content_text = '' then
    return null;
  end if;

  if tg_op = 'DELETE' or new.content_text = '' then
    -- The deletion of an account deletes its logs after its user.
    if tg_op = 'DELETE' and not exists (select from auth.users where id = old.user_id) then
      return null;
    end if;
    change := 'deletion';
  else
    select max(kept_at), bool_or(content = new.content) into last_kept, is_restored
      from public.entry_versions where user_id = old.user_id and date = day;
    if is_restored then
      change := 'restore';
    elsif public.drops_most_items(old.content_text, new.content_text) then
      change := 'drop';
    elsif greatest(last_kept, old.created_at) > now() - interval '10 minutes' then
      return null;
    else
      change := 'edit';
    end if;
  end if;

  -- A text that was brought back and replaced again is one version, not two.
  delete from public.entry_versions where user_id = old.user_id and date = day and content = old.content;
  insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
    values (old.user_id, day, old.id, old.content, old.updated_at, change);
  perform public.thin_versions(old.user_id, day);
  return null;
end
$$;
