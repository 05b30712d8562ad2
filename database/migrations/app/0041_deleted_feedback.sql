-- phase: expand
-- An emptied or deleted day gives its feedback, and the reviews of its periods, to the version that keeps its text, and gets them
-- back together with the text (docs/specification/days-and-saving.md 12). They were deleted before, so an undo of the deletion
-- lost what the coach had said.

-- What the coach had said when the log was deleted: `entry`, the columns of `entries`, and `analyses`, whole rows. Not null while
-- the text is not back, null in any other version. It is deleted with the version.
alter table public.entry_versions add column feedback jsonb;

-- No role of clients reads `feedback`: what is withdrawn is hidden, and reviews belong to a plan.
-- safe: servers name the columns that they read, and this statement and the next one are one transaction.
revoke select on public.entry_versions from authenticated;
grant select (user_id, date, id, entry_id, content, written_at, kept_at, replaced_by) on public.entry_versions to authenticated;

-- For `return_feedback`. Threat: the view `entry_dates` runs with the owner's rights, so a policy that gives the owner every row
-- would leave only the view's own condition. Within a trigger no query of a client runs.
create policy trigger_select_entries on public.entries
  for select to current_user using (pg_trigger_depth() > 0);
create policy trigger_update_entries on public.entries
  for update to current_user using (pg_trigger_depth() > 0) with check (true);
create policy trigger_return_analyses on public.analyses for insert to current_user with check (true);

-- Gives a day what was withdrawn with a deleted text, once every line of that text is there again. A text with other lines
-- besides makes the feedback outdated. A review of several deleted days waits for all of them. A review that was generated after
-- the deletion of a day did not read it.
create function public.return_feedback(of_user uuid, of_date date, words text) returns void
  language plpgsql set search_path = ''
as $$
declare
  version record;
  analysis jsonb;
begin
  for version in
    select id, feedback, public.entry_text(content) as words from public.entry_versions
     where user_id = of_user and date = of_date and feedback is not null
     order by kept_at desc
  loop
    continue when exists (
      select unnest(string_to_array(version.words, E'\n')) except select unnest(string_to_array(return_feedback.words, E'\n')));
    update public.entry_versions set feedback = null where user_id = of_user and date = of_date and id = version.id;

    for analysis in select jsonb_array_elements(version.feedback -> 'analyses') loop
      if analysis ->> 'kind' = 'trend' then
        update public.entry_versions
           set feedback = jsonb_set(feedback, '{analyses}', feedback -> 'analyses' || jsonb_build_array(analysis))
         where user_id = of_user and (date, id) = (
           select date, id from public.entry_versions
            where user_id = of_user and feedback is not null
              and date between (analysis ->> 'period_from')::date and (analysis ->> 'period_to')::date
              and kept_at > (analysis ->> 'created_at')::timestamptz
            order by kept_at limit 1);
        continue when found;
      else
        -- The version may have moved with its log.
        analysis := jsonb_set(analysis, '{date}', to_jsonb(of_date));
      end if;
      begin
        insert into public.analyses select (jsonb_populate_record(null::public.analyses, analysis)).*;
      exception when integrity_constraint_violation then
        -- A row of an earlier version of the table. The log is saved without it.
      end;
    end loop;

    -- Feedback on the text that stood there meanwhile is newer.
    update public.entries
       set ai_feedback = version.feedback #>> '{entry,feedback}',
           hustle_score = (version.feedback #>> '{entry,score}')::integer,
           ai_analyzed_at = case
             when (version.feedback #>> '{entry,upToDate}')::boolean and version.words = return_feedback.words then updated_at
             else (version.feedback #>> '{entry,analyzedAt}')::timestamptz end
     where user_id = of_user and date = of_date and ai_feedback is null and hustle_score is null;
  end loop;
end
$$;
revoke execute on function public.return_feedback(uuid, date, text) from public;

-- After a change of a log: keeps a version, withdraws or returns feedback, moves feedback and words to another day, and reports
-- the change. A deleted or emptied day takes its feedback, and each review of a period that contains the day, into its version.
-- A review that the log has left goes when it leaves: a later deletion would not find it. Feedback and words move by this
-- trigger instead of `on update cascade`, which tables that are divided by user over several servers do not have.
--
-- An import replaces a whole log by a text that its owner has not written on top of it. So a statement that sets
-- `hustle_forge.keeps_version` keeps the replaced text in any case, also of a log younger than ten minutes and if most of its
-- items stay. The setting only ever keeps more, and clients of the API cannot set it.
create or replace function public.follow_entry() returns trigger
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
  replaced text;
  successor text;
  withdrawn jsonb;
  has_withdrawn boolean := tg_op = 'INSERT' or (tg_op = 'UPDATE' and old.content_text = '');
begin
  if is_moved then
    delete from public.analyses
     where user_id = old.user_id and kind = 'trend' and old.date between period_from and period_to
       and not day between period_from and period_to;
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
      -- Versions that were kept before 0037 have the header.
      successor := public.without_date_header(new.content);
      select max(kept_at), bool_or(content = successor or content = new.content), bool_or(feedback is not null)
        into last_kept, is_restored, has_withdrawn
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
    insert into public.entry_versions (user_id, date, entry_id, content, written_at, replaced_by, feedback)
      values (old.user_id, day, old.id, replaced, old.updated_at, change, withdrawn);
    perform public.thin_versions(old.user_id, day);
  end;

  if is_moved then
    update public.analyses set date = day where user_id = old.user_id and date = old.date;
    update public.entry_words set date = day where user_id = old.user_id and date = old.date;
  end if;

  if has_withdrawn and not is_deleted and new.content_text <> '' then
    perform public.return_feedback(new.user_id, day, new.content_text);
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
-- Triggers fire in the order of their names, and those of foreign keys begin with `RI_`: this one reads the feedback of a deleted
-- log before the foreign key of `analyses` deletes it.
-- safe: no server names the trigger.
alter trigger follow_entry on public.entries rename to "Follow_entry";
