-- phase: expand
-- A save of a day outside of the free window read the plan three times. PostgreSQL evaluates equal conditions once, so the
-- condition for reading and the one for writing are the same now, and a policy of its own refuses future days: the plan is
-- read once to find the row and once to check the new one.

alter policy "own open days are begun" on public.entries
  with check (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));
alter policy "own open days are changed" on public.entries
  with check (user_id = (select auth.uid())
    and (date >= (select public.first_free_day()) or (select public.is_premium())));

create policy reject_insert_of_future_day on public.entries as restrictive for insert to authenticated
  with check (date <= (select public.latest_today()));
create policy reject_update_to_future_day on public.entries as restrictive for update to authenticated
  using (true) with check (date <= (select public.latest_today()));
