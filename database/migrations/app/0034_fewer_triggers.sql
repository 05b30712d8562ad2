-- phase: expand
-- A save costs PostgreSQL less: for each statement it copies all triggers of the table and parses the condition of each one
-- that may fire, so one trigger before and one after a change take the place of eleven.

-- The same rule, without a regular expression for each tag: unless the text contains a bare `<`, which a sanitised log never
-- does, each piece after a `<` is one tag and the text behind it.
create or replace function public.entry_text(html text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  -- Adjacent ends of items and paragraphs make one line break.
  pieces constant text[] := string_to_array(
    replace(replace(html, '</p></li><li><p>', '</p>'), '</p><p>', '</p>'), '<');
  has_header constant boolean := starts_with(html, '<h2 class="date-header">') and starts_with(pieces[3], '/h2>');
  plain text;
  is_regular boolean;
  line_end text;
begin
  select coalesce(pieces[1], '') || coalesce(string_agg(
           case when split_part(piece, '>', 1) in
             ('br', '/p', '/h1', '/h2', '/h3', '/li', '/pre', '/blockquote', '/ul', '/ol') then E'\n' else '' end
           || substr(piece, strpos(piece, '>') + 1), ''), ''),
         coalesce(bool_and(strpos(piece, '>') > 0), true)
    into plain, is_regular
    from unnest(pieces[case when has_header then 3 else 2 end:]) as piece;
  if not is_regular then
    plain := regexp_replace(html, '^<h2 class="date-header">[^<]*</h2>', '');
    foreach line_end in array
      array['<br>', '</p>', '</h1>', '</h2>', '</h3>', '</li>', '</pre>', '</blockquote>', '</ul>', '</ol>']
    loop
      plain := replace(plain, line_end, E'\n');
    end loop;
    plain := regexp_replace(plain, '<[^<>]*>', '', 'g');
  end if;
  if strpos(replace(plain, '&amp;', ''), '&') > 0 then
    plain := replace(replace(replace(plain, '&lt;', '<'), '&gt;', '>'), '&quot;', '"');
    plain := replace(replace(plain, '&#39;', ''''), '&nbsp;', ' ');
  end if;
  -- Trims bytes: trimming characters would decode the whole text.
  plain := convert_from(
    btrim(convert_to(replace(replace(plain, '&amp;', '&'), E'\r', E'\n'), 'UTF8'), '\x20090a'), 'UTF8');
  while strpos(plain, E'\n\n') > 0 loop
    plain := replace(plain, E'\n\n', E'\n');
  end loop;
  return plain;
end
$$;

-- True for the server's own role and the owner of the table.
create function public.is_server(relation oid) returns boolean
  language sql stable set search_path = ''
  return current_user = 'service_role' or pg_catalog.pg_has_role(
    current_user, (select relowner from pg_catalog.pg_class where pg_class.oid = relation), 'member');

create or replace function public.begin_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
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

create or replace function public.revise_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (old.updated_at, old.ai_feedback, old.hustle_score, old.ai_analyzed_at)
     and not public.is_server(tg_relid) then
    new.updated_at := old.updated_at;
    new.ai_feedback := old.ai_feedback;
    new.hustle_score := old.hustle_score;
    new.ai_analyzed_at := old.ai_analyzed_at;
  end if;
  if new.date <> old.date then
    new.content := public.replace_date_header(new.content, new.date);
  end if;
  new.revision := old.revision;
  if new.content <> old.content then
    new.content_text := public.entry_text(new.content);
  end if;
  if new.content <> old.content or new.date <> old.date then
    new.revision := old.revision + 1;
    new.updated_at := now();
  end if;
  -- An emptied day loses its feedback: `follow_entry` deletes its analyses.
  if new.content_text = '' and old.content_text <> '' then
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  return new;
end
$$;

-- Without a search path of its own: setting one costs more than the rest, and this calls built-in functions only.
create or replace function public.report_entry_change(report text) returns void
  language plpgsql
as $$
begin
  if pg_catalog.current_setting('application_name') = 'hustle-forge' then
    raise info using errcode = 'HF001', message = report;
  else
    perform pg_catalog.pg_notify('entry_changes', report);
  end if;
end
$$;

-- After a change of a log: deletes stale feedback, keeps a version, moves the companions, and reports the change.
create function public.follow_entry() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  is_deleted constant boolean := tg_op = 'DELETE';
  is_moved constant boolean := tg_op = 'UPDATE' and new.date <> old.date;
  is_emptied constant boolean := tg_op = 'UPDATE' and new.content_text = '' and old.content_text <> '';
  day constant date := case when is_deleted then old.date else new.date end;
  last_kept timestamptz;
  is_restored boolean;
  change text;
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
      update public.entry_versions set date = day, content = public.replace_date_header(content, day)
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
      select max(kept_at), bool_or(content = new.content) into last_kept, is_restored
        from public.entry_versions where user_id = old.user_id and date = day;
      if is_restored then
        change := 'restore';
      elsif public.drops_most_items(old.content_text, new.content_text) then
        change := 'drop';
      elsif greatest(last_kept, old.created_at) > now() - interval '10 minutes' then
        exit version;
      else
        change := 'edit';
      end if;
    end if;

    -- A text that was brought back and replaced again is one version, not two.
    delete from public.entry_versions where user_id = old.user_id and date = day and content = old.content;
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by)
      values (old.user_id, day, old.id, old.content, old.updated_at, change);
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
revoke execute on function public.follow_entry() from public;

-- safe: `begin_entry`, `revise_entry` and `follow_entry` do their work
drop trigger keep_server_columns_of_new on public.entries;
-- safe: as above
drop trigger keep_server_columns on public.entries;
-- safe: as above
drop trigger revised_to_nothing on public.entries;
-- safe: as above
drop trigger forget_deleted_day on public.entries;
-- safe: as above
drop trigger forget_reviews_of_moved_log on public.entries;
-- safe: as above
drop trigger keep_deleted_version on public.entries;
-- safe: as above
drop trigger keep_version on public.entries;
-- safe: as above
drop trigger move_companions on public.entries;
-- safe: as above
drop trigger report_revised_entry on public.entries;
-- safe: as above
drop trigger report_written_entry on public.entries;
-- safe: only triggers called them
drop function public.keep_server_columns(), public.forget_day(), public.forget_reviews_of_moved_log(),
  public.keep_version(), public.move_companions(), public.report_entry();

-- Without a condition: PostgreSQL would parse it for every statement.
create or replace trigger revise_entry before update on public.entries
  for each row execute function public.revise_entry();
create trigger follow_entry after insert or update or delete on public.entries
  for each row execute function public.follow_entry();
