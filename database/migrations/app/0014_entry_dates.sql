-- The dates of all of the caller's own logs, those of locked days as well: the calendar, a locked day and the upgrade
-- dialog say that a log is there. Neither its words nor anything that could be counted of them.

-- With the owner's rights, because the policies of `entries` hide locked days from everybody else. Row-level security is
-- forced on an owner without `bypassrls`, who needs a policy of their own; an owner with it needs the condition of the view.
create policy owner_select_entries on public.entries
  for select to current_user using (user_id = (select auth.uid()));

-- `security_barrier`: a function in a caller's condition must not see another user's dates before they are filtered out.
create view public.entry_dates with (security_barrier = true) as
  select user_id, date from public.entries where user_id = (select auth.uid());

-- A hosted project grants everything on new views by default, and this one could be written through to `entries`.
revoke all on public.entry_dates from anon, authenticated, service_role;
grant select on public.entry_dates to authenticated;
