-- phase: migrate
drop index concurrently if exists public.plan_changes_one_end;
