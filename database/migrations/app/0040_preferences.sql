-- phase: expand
-- What users choose for their whole account (docs/specification/habit.md 1), and when the next reminder is due.

create table public.preferences (
  user_id uuid primary key references auth.users on delete cascade,
  -- A name of the tz database, as the browser tells it; null until then.
  time_zone text constraint preferences_time_zone_name check (time_zone ~ '^[A-Za-z0-9+_/-]{1,64}$'),
  -- 0 is Sunday.
  workdays smallint[] not null default '{1,2,3,4,5}' constraint preferences_known_workdays
    check (workdays <@ '{0,1,2,3,4,5,6}'::smallint[] and cardinality(workdays) <= 7),
  -- Minutes after midnight, never at night; null turns reminders off.
  remind_at smallint constraint preferences_remind_by_day check (remind_at between 360 and 1380),
  remind_by_mail boolean not null default false,
  remind_by_push boolean not null default false,
  digest boolean not null default false,
  digest_review boolean not null default false,
  -- The hour at which a day ends.
  day_ends_at smallint not null default 0 constraint preferences_known_day_end check (day_ends_at in (0, 3)),
  prompts boolean not null default false
);

alter table public.preferences enable row level security, force row level security;
create policy user_select_preferences on public.preferences
  for select to authenticated using (user_id = (select auth.uid()));
create policy user_insert_preferences on public.preferences
  for insert to authenticated with check (user_id = (select auth.uid()));
create policy user_update_preferences on public.preferences
  for update to authenticated using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));

revoke all on public.preferences from anon, authenticated, service_role;
grant select on public.preferences to authenticated;
grant insert, update on public.preferences to authenticated;
grant select, insert, update, delete on public.preferences to service_role;

-- The next reminder and the next digest of each user, planned by the job send-evening-mails: only the program knows the rules
-- of time zones. A change of the preferences makes a row due at once without a day, and the job then plans it.
create table public.reminder_schedule (
  user_id uuid not null references auth.users on delete cascade,
  kind text not null constraint reminder_schedule_known_kind check (kind in ('reminder', 'digest')),
  -- Infinity while it is off. The row stays, because it remembers the last day.
  due_at timestamptz not null,
  -- The user's day that it is for; null until it is planned.
  day date,
  -- The last day for which one was sent: there are never two for a day.
  sent_day date,
  -- When it was last turned on. Threat: whoever has an old mail of a user turns it off again and again by the link in it.
  on_since timestamptz not null,
  -- A process works on this row until then, and only the process that knows `lease` may change it.
  leased_until timestamptz,
  lease uuid,
  primary key (user_id, kind)
);
create index reminder_schedule_due on public.reminder_schedule (due_at);

alter table public.reminder_schedule enable row level security, force row level security;
create policy trigger_select_reminder_schedule on public.reminder_schedule
  for select to current_user using (true);
create policy trigger_insert_reminder_schedule on public.reminder_schedule
  for insert to current_user with check (true);
create policy trigger_update_reminder_schedule on public.reminder_schedule
  for update to current_user using (true) with check (true);
revoke all on public.reminder_schedule from anon, authenticated, service_role;
grant select, insert, update, delete on public.reminder_schedule to service_role;

-- As the owner: users may not write the schedule.
create function public.plan_reminders_again() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  reminds constant boolean := new.remind_at is not null and (new.remind_by_mail or new.remind_by_push);
begin
  if tg_op = 'UPDATE' and (old.time_zone, old.workdays, old.remind_at, old.remind_by_mail, old.remind_by_push, old.digest, old.day_ends_at)
       is not distinct from (new.time_zone, new.workdays, new.remind_at, new.remind_by_mail, new.remind_by_push, new.digest, new.day_ends_at) then
    return null;
  end if;
  insert into public.reminder_schedule as planned (user_id, kind, due_at, on_since)
  select new.user_id, kind, case when is_on then now() else 'infinity' end, now()
    from (values ('reminder', reminds), ('digest', new.digest)) as choices (kind, is_on)
  on conflict (user_id, kind) do update
    set due_at = excluded.due_at, day = null, leased_until = null, lease = null,
        on_since = case when planned.due_at = 'infinity' then excluded.on_since else planned.on_since end;
  return null;
end
$$;
revoke execute on function public.plan_reminders_again() from public;

create trigger plan_reminders_again after insert or update on public.preferences
  for each row execute function public.plan_reminders_again();

-- Tokens in the mails of the evening. Only their hashes are stored: whoever reads the database can use none.
create table public.mail_tokens (
  user_id uuid not null references auth.users on delete cascade,
  token_hash bytea not null,
  -- `tap`: the buttons of the mail; `reply`: the address that the answer goes to.
  purpose text not null constraint mail_tokens_known_purpose check (purpose in ('tap', 'reply')),
  -- The day that the mail was for.
  day date not null,
  expires_at timestamptz not null,
  primary key (user_id, token_hash)
);
create index mail_tokens_expires_at on public.mail_tokens (expires_at);

alter table public.mail_tokens enable row level security, force row level security;
revoke all on public.mail_tokens from anon, authenticated, service_role;
grant select, insert, update, delete on public.mail_tokens to service_role;
