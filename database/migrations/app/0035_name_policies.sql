-- phase: expand
-- One scheme for the names of policies: the role (`user` is authenticated, `owner` or `trigger` the owner of the tables), the
-- command and the table. A policy's name has no effect on what it allows.

-- safe: no program names a policy
alter policy "own profile is read" on public.profiles rename to user_select_profiles;
-- safe: as above
alter policy "own profile is made" on public.profiles rename to user_insert_profiles;
-- safe: as above
alter policy "own profile is changed" on public.profiles rename to user_update_profiles;
-- safe: as above
alter policy "new user gets a profile" on public.profiles rename to trigger_insert_profiles;
-- safe: as above
alter policy "own open days are read" on public.entries rename to user_select_entries;
-- safe: as above
alter policy "own open days are begun" on public.entries rename to user_insert_entries;
-- safe: as above
alter policy "own open days are changed" on public.entries rename to user_update_entries;
-- safe: as above
alter policy "own open days are deleted" on public.entries rename to user_delete_entries;
-- safe: as above
alter policy owner_select_entry_versions on public.entry_versions rename to user_select_entry_versions;
-- safe: as above
alter policy "words of own open days are read" on public.entry_words rename to user_select_entry_words;
-- safe: as above
alter policy "own plan changes are read" on public.plan_changes rename to user_select_plan_changes;
-- safe: as above
alter policy "own uses of the plan are read" on public.plan_uses rename to user_select_plan_uses;
-- safe: as above
alter policy "own payments are read" on public.payments rename to user_select_payments;
-- safe: as above
alter policy "own analyses are read by a Closer" on public.analyses rename to user_select_analyses;
-- safe: as above
alter policy "what was said of a forgotten day is found" on public.analyses rename to trigger_select_analyses;
-- safe: as above
alter policy "what was said of a forgotten day is deleted" on public.analyses rename to trigger_delete_analyses;
