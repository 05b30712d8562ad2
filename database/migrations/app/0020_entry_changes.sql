-- Reports each committed change of a log's words or day, so that a page shows what was written elsewhere
-- (docs/specification/live.md). A report names the user, the day, the row and its revision, and never any text:
-- `USER DATE ROW REVISION`, without a revision if the day no longer has that row.

-- NOTIFY holds one lock of the whole database server until its transaction is flushed to disk, so in the transaction of a
-- save it would make all saves wait for each other (docs/decisions/0029). The product's server therefore receives the report as
-- a message of level INFO, which reaches the client under every setting, and announces many commits in one NOTIFY of its
-- own. Any other client, such as psql, notifies by itself.
create function public.report_entry_change(report text) returns void
  language plpgsql set search_path = ''
as $$
begin
  if current_setting('application_name') = 'hustle-forge' then
    raise info using errcode = 'HF001', message = report;
  else
    perform pg_catalog.pg_notify('entry_changes', report);
  end if;
end
$$;

create function public.report_entry() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if tg_op <> 'INSERT' and (tg_op = 'DELETE' or (old.user_id, old.date) is distinct from (new.user_id, new.date)) then
    perform public.report_entry_change(concat_ws(' ', old.user_id, to_char(old.date, 'YYYY-MM-DD'), old.id));
  end if;
  if tg_op <> 'DELETE' then
    perform public.report_entry_change(
      concat_ws(' ', new.user_id, to_char(new.date, 'YYYY-MM-DD'), new.id, new.revision));
  end if;
  return null;
end
$$;

create trigger report_written_entry after insert or delete on public.entries
  for each row execute function public.report_entry();
-- Feedback of the coach does not raise the revision and is not reported.
create trigger report_revised_entry after update on public.entries
  for each row
  when ((old.user_id, old.date, old.id, old.revision) is distinct from (new.user_id, new.date, new.id, new.revision))
  execute function public.report_entry();
