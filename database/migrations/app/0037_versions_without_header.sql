-- phase: expand
-- A version is the text of a log without its date header, so that moving a log changes no text of its versions: one request
-- of a few bytes rewrote up to twenty of them. Versions that were kept with a header end within 30 days, and readers take
-- it off.
--
-- An import replaces a whole log by a text that its owner has not written on top of it. So a statement that sets
-- `hustle_forge.keeps_version` keeps the replaced text in any case, also of a log younger than ten minutes and if most of its
-- items stay. The setting only ever keeps more, and clients of the API cannot set it.

-- PostgreSQL inlines the function, because it sets no search path of its own.
create function public.without_date_header(content text) returns text
  language sql immutable strict parallel safe
return case when starts_with(content, '<h2 class="date-header">') then substr(content, strpos(content, '</h2>') + 5)
            else content end;

create or replace function public.follow_entry() returns trigger
  language plpgsql security definer
  set search_path = ''
as $$
declare
  is_deleted constant boolean := tg_op = 'DELETE';
  is_moved constant boolean := tg_op = 'UPDATE' and new.date <> old.date;
  is_emptied constant boolean := tg_op = 'UPDATE' and new.content_text = '' and old.content_text <> '';
  day constant date := case when is_deleted then old.date else new.date end;
  last_kept timestamptz;
  is_restored boolean;
  change text;
  replaced text;
  successor text;
begin
  if is_deleted or is_emptied or is_moved then
    delete from public.analyses
     where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
       and (is_deleted or is_emptied or not day between period_from and period_to);
  end if;
  if is_emptied then
    delete from public.analyses where user_id = old.user_id and date = old.date;
  end if;

  <<version>>
  begin
    exit version when tg_op = 'INSERT' or (not is_deleted and not is_moved and new.content = old.content);
    if is_moved then
      update public.entry_versions set date = day
       where user_id = old.user_id and date = old.date and entry_id = old.id;
      -- The move changed no more than the header.
      exit version when new.content_text = old.content_text;
    end if;
    exit version when old.content_text = '';

    if is_deleted or is_emptied then
      -- The deletion of an account deletes its logs after its user.
      exit version when is_deleted and not exists (select from auth.users where id = old.user_id);
      change := 'deletion';
    else
      -- Versions that were kept before 0037 have the header.
      successor := public.without_date_header(new.content);
      select max(kept_at), bool_or(content = successor or content = new.content) into last_kept, is_restored
        from public.entry_versions where user_id = old.user_id and date = day;
      if is_restored then
        change := 'restore';
      elsif public.drops_most_items(old.content_text, new.content_text) then
        change := 'drop';
      elsif current_setting('hustle_forge.keeps_version', true) is distinct from 'on'
            and greatest(last_kept, old.created_at) > now() - interval '10 minutes' then
        exit version;
      else
        change := 'edit';
      end if;
    end if;

    -- A text that was brought back and replaced again is one version, not two.
    replaced := public.without_date_header(old.content);
    delete from public.entry_versions
     where user_id = old.user_id and date = day and (content = replaced or content = old.content);
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
      values (old.user_id, day, old.id, replaced, old.updated_at, change);
    perform public.thin_versions(old.user_id, day);
  end;

  if is_moved then
    update public.analyses set date = day where user_id = old.user_id and date = old.date;
    update public.entry_words set date = day where user_id = old.user_id and date = old.date;
  end if;

  if tg_op <> 'INSERT' and (is_deleted or is_moved or new.user_id <> old.user_id) then
    perform public.report_entry_change(concat_ws(' ', old.user_id, to_char(old.date, 'YYYY-MM-DD'), old.id));
  end if;
  if tg_op = 'INSERT' or (not is_deleted and (
       new.revision <> old.revision or new.id <> old.id or is_moved or new.user_id <> old.user_id)) then
    perform public.report_entry_change(concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision));
  end if;
  return null;
end
$$;
