-- phase: expand
-- Less work for a save that is alone in its transaction: the triggers evaluate fewer expressions, a comparison replaces
-- a regular expression, and two rules for the saved row are no sub-queries of each statement.

create or replace function public.entry_text(html text)
 returns text
 language plpgsql
 immutable parallel safe strict
as $function$
declare
  -- Texts are cut and trimmed as bytes, because functions for characters decode them whole.
  -- Adjacent ends of items and paragraphs make one line break.
  pieces text[] := string_to_array(replace(html, '</p></li><li><p>', E'\n'), '<');
  plain text;
  is_regular boolean;
  line_end text;
begin
  if pieces[7:] = '{/p>,/li>,/ol>}' and pieces[3:5] = '{/h2>,ol>,li>}' and starts_with(pieces[6], 'p>')
     and starts_with(html, '<h2 class="date-header">') then
    -- Most logs: a header and one list of plain items.
    plain := convert_from(substr(convert_to(pieces[6], 'UTF8'), 3), 'UTF8');
  else
    pieces := string_to_array(replace(replace(html, '</p></li><li><p>', '</p>'), '</p><p>', '</p>'), '<');
    select coalesce(pieces[1], '') || coalesce(string_agg(
             case when split_part(piece, '>', 1) in
               ('br', '/p', '/h1', '/h2', '/h3', '/li', '/pre', '/blockquote', '/ul', '/ol') then E'\n' else '' end
             || substr(piece, strpos(piece, '>') + 1), ''), ''),
           coalesce(bool_and(strpos(piece, '>') > 0), true)
      into plain, is_regular
      from unnest(pieces[case when starts_with(html, '<h2 class="date-header">') and starts_with(pieces[3], '/h2>') then 3 else 2 end:]) as piece;
    if not is_regular then
      plain := regexp_replace(html, '^<h2 class="date-header">[^<]*</h2>', '');
      foreach line_end in array
        array['<br>', '</p>', '</h1>', '</h2>', '</h3>', '</li>', '</pre>', '</blockquote>', '</ul>', '</ol>']
      loop
        plain := replace(plain, line_end, E'\n');
      end loop;
      plain := regexp_replace(plain, '<[^<>]*>', '', 'g');
    end if;
  end if;
  if strpos(replace(plain, '&amp;', ''), '&') > 0 then
    plain := replace(replace(replace(plain, '&lt;', '<'), '&gt;', '>'), '&quot;', '"');
    plain := replace(replace(plain, '&#39;', ''''), '&nbsp;', ' ');
  end if;
  plain := convert_from(
    btrim(convert_to(replace(replace(plain, '&amp;', '&'), E'\r', E'\n'), 'UTF8'), '\x20090a'), 'UTF8');
  while plain like E'%\n\n%' loop
    plain := replace(plain, E'\n\n', E'\n');
  end loop;
  return plain;
end
$function$;

create or replace function public.revise_entry()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  if (new.date, new.updated_at, new.ai_feedback, new.hustle_score, new.ai_analyzed_at)
       is distinct from (old.date, old.updated_at, old.ai_feedback, old.hustle_score, old.ai_analyzed_at) then
    if not public.is_server(tg_relid) then
      new.updated_at := old.updated_at;
      new.ai_feedback := old.ai_feedback;
      new.hustle_score := old.hustle_score;
      new.ai_analyzed_at := old.ai_analyzed_at;
    end if;
    if new.date <> old.date then
      new.content := public.replace_date_header(new.content, new.date);
    end if;
  end if;
  if new.content = old.content and new.date = old.date then
    new.revision := old.revision;
    return new;
  end if;
  new.content_text := public.entry_text(new.content);
  new.revision := old.revision + 1;
  new.updated_at := now();
  -- An emptied day loses its feedback: `follow_entry` deletes its analyses.
  if new.content_text = '' and old.content_text <> '' then
    new.ai_feedback := null;
    new.hustle_score := null;
    new.ai_analyzed_at := null;
  end if;
  return new;
end
$function$;

create or replace function public.follow_entry()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  is_edit constant boolean := tg_op = 'UPDATE' and new.date = old.date and new.content <> old.content
    and new.content_text <> '' and old.content_text <> '';
  day constant date := case when tg_op = 'DELETE' then old.date else new.date end;
  -- Null for an edit. Each expression is prepared again in each transaction.
  is_deleted boolean;
  is_moved boolean;
  is_emptied boolean;
  last_kept timestamptz;
  is_restored boolean;
  equal_bytes integer;
  change text;
  replaced text;
  report text;
  withdrawn jsonb;
  has_withdrawn boolean;
begin
  <<version>>
  begin
    if not is_edit then
      is_deleted := tg_op = 'DELETE';
      is_moved := tg_op = 'UPDATE' and new.date <> old.date;
      is_emptied := tg_op = 'UPDATE' and new.content_text = '' and old.content_text <> '';
      has_withdrawn := tg_op = 'INSERT' or (tg_op = 'UPDATE' and old.content_text = '');
      exit version when tg_op = 'INSERT' or (not is_deleted and not is_moved and new.content = old.content);
      if is_moved then
        delete from public.analyses
         where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
           and not day between period_from and period_to;
        update public.entry_versions set date = day
         where user_id = old.user_id and date = old.date and entry_id = old.id;
        -- The move changed no more than the header.
        exit version when new.content_text = old.content_text;
      end if;
      exit version when old.content_text = '';
    end if;

    if is_deleted or is_emptied then
      -- The deletion of an account deletes its logs after its user.
      exit version when is_deleted and not exists (select from auth.users where id = old.user_id);
      change := 'deletion';
      with of_day as (
        delete from public.analyses where user_id = old.user_id and date = old.date returning *
      ), of_periods as (
        delete from public.analyses
         where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to returning *
      )
      select jsonb_build_object(
          'entry', jsonb_build_object('feedback', old.ai_feedback, 'score', old.hustle_score,
            'analyzedAt', old.ai_analyzed_at, 'upToDate', old.ai_analyzed_at >= old.updated_at),
          'analyses', coalesce(jsonb_agg(to_jsonb(analysis)), '[]'))
        into withdrawn
        from (select * from of_day union all select * from of_periods) as analysis;
    else
      -- Versions that were kept before 0037 have the header. The lengths tell most versions apart without their texts.
      select max(kept_at), bool_or(feedback is not null),
             bool_or(octet_length(content) in (octet_length(new.content),
                 octet_length(new.content) - octet_length(split_part(new.content, '</h2>', 1)) - 5)
               and (content = public.without_date_header(new.content) or content = new.content))
        into last_kept, has_withdrawn, is_restored
        from public.entry_versions where user_id = old.user_id and date = day;
      -- Zero for one item, else the bytes of all but the last.
      equal_bytes := octet_length(old.content_text) - octet_length(split_part(old.content_text, E'\n', -1));
      if is_restored then
        change := 'restore';
      elsif not (equal_bytes > 0 and substr(convert_to(new.content_text, 'UTF8'), 1, equal_bytes)
                   = substr(convert_to(old.content_text, 'UTF8'), 1, equal_bytes))
            and public.drops_most_items(old.content_text, new.content_text) then
        change := 'drop';
      elsif current_setting('hustle_forge.keeps_version', true) = 'on'
            or greatest(last_kept, old.created_at) <= now() - interval '10 minutes' then
        change := 'edit';
      end if;
      exit version when change is null;
    end if;

    -- A text that was brought back and replaced again is one version, not two.
    replaced := public.without_date_header(old.content);
    delete from public.entry_versions
     where user_id = old.user_id and date = day and (content = replaced or content = old.content);
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by, feedback)
      values (old.user_id, day, old.id, replaced, old.updated_at, change, withdrawn);
    perform public.thin_versions(old.user_id, day);
  end;

  if is_moved then
    update public.analyses set date = day where user_id = old.user_id and date = old.date;
    update public.entry_words set date = day where user_id = old.user_id and date = old.date;
  end if;

  if has_withdrawn and (is_edit or (not is_deleted and new.content_text <> '')) then
    perform public.return_feedback(new.user_id, day, new.content_text);
  end if;

  -- The server reads the collected days with the last statement of the transaction.
  if is_edit and new.user_id = old.user_id and current_setting('hustle_forge.collects_changes', true) = 'on' then
    report := set_config('hustle_forge.changes',
      concat_ws(E'\n', nullif(current_setting('hustle_forge.changes', true), ''),
        concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision)), true);
    return null;
  end if;
  foreach report in array array_remove(array[
      case when tg_op = 'DELETE' or (tg_op = 'UPDATE' and (new.date <> old.date or new.user_id <> old.user_id))
        then concat_ws(' ', old.user_id, to_char(old.date, 'YYYY-MM-DD'), old.id) end,
      case when tg_op = 'INSERT' or (tg_op = 'UPDATE' and (
          new.revision <> old.revision or new.id <> old.id or new.date <> old.date or new.user_id <> old.user_id))
        then concat_ws(' ', new.user_id, to_char(day, 'YYYY-MM-DD'), new.id, new.revision) end], null)
  loop
    if current_setting('hustle_forge.collects_changes', true) = 'on' then
      report := set_config('hustle_forge.changes',
        concat_ws(E'\n', nullif(current_setting('hustle_forge.changes', true), ''), report), true);
    else
      perform public.report_entry_change(report);
    end if;
  end loop;
  return null;
end
$function$;

-- `using` has the same rule for the same statement.
alter policy reject_update_without_append on public.entries with check (true);
-- A direct call costs a statement of few rows less than a sub-query.
alter policy reject_update_to_future_day on public.entries with check (date <= public.latest_today());
